/* errand sample: a prompt for the model of a job's client. Inside a job. */
#include "common/json.h"
#include "deploy/cli/command.h"
#include "deploy/cli/conf.h"
#include "deploy/cli/job.h"
#include "deploy/cli/say.h"

#include <stdio.h>

enum { PARAMS_MAX = 1 << 20, TEXT_MAX = 64 << 20 };

/* The text of a block, or of each block of a list. */
static void add_texts(struct buf *out, struct span content)
{
    size_t cursor = 0;
    struct span none;
    struct span block;

    say_string(out, json_get(content, "text"), true);
    while (json_type(content) == JSON_ARRAY && json_next(content, &cursor, &none, &block))
        say_string(out, json_get(block, "text"), true);
}

static int show(const struct conf *c, const struct job_answer *a)
{
    struct buf text;

    if (a->result.p == NULL)
        return job_failed(a);
    buf_init(&text, TEXT_MAX);
    if (c->json)
        buf_add_span(&text, a->result);
    else
        add_texts(&text, json_get(a->result, "content"));
    say_out(&text);
    buf_fini(&text);
    return EXIT_OK;
}

int cmd_sample(const struct conf *c, char **args, size_t count)
{
    struct job_answer a;
    struct buf params;
    int status;

    (void)count;
    buf_init(&params, PARAMS_MAX);
    buf_adds(&params, "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":");
    buf_add_json(&params, span_of(args[0]));
    buf_addf(&params, "}}],\"maxTokens\":%llu}", (unsigned long long)c->max_tokens);
    if (!buf_ok(&params)) {
        buf_fini(&params);
        return complain(EXIT_USAGE, "sample: the prompt is larger than 1 MiB");
    }
    status = job_ask("sampling/createMessage", buf_span(&params), &a);
    if (status == EXIT_OK)
        status = show(c, &a);
    buf_fini(&a.text);
    buf_fini(&params);
    return status;
}
