/* errand ask: a question to the person behind a job's client. Inside a job. */
#include "common/json.h"
#include "deploy/cli/command.h"
#include "deploy/cli/conf.h"
#include "deploy/cli/field.h"
#include "deploy/cli/job.h"

#include <stdio.h>
#include <stdlib.h>

enum { PARAMS_MAX = 1 << 20, WHY_MAX = 4096, EXIT_DECLINED = 3, EXIT_DISMISSED = 4 };

/* One question by one address has one name, whichever attempt asks. */
static void add_url(struct buf *params, const struct conf *c)
{
    const char *task = getenv("ERRAND_TASK_ID");
    uint32_t sum = 2166136261U;

    for (const char *p = c->url; *p != '\0'; p++)
        sum = (sum ^ (unsigned char)*p) * 16777619U;
    buf_adds(params, ",\"mode\":\"url\",\"url\":");
    buf_add_json(params, span_of(c->url));
    buf_adds(params, ",\"elicitationId\":");
    buf_addf(params, "\"%.64s-%08x\"", task != NULL ? task : "", sum);
}

static bool add_form(struct buf *params, const struct conf *c, struct buf *why)
{
    buf_adds(params, ",\"requestedSchema\":");
    if (c->schema == NULL)
        return field_schema(params, &c->field, why);
    if (json_check(span_of(c->schema), NULL, NULL) != ERR_OK) {
        buf_adds(why, "--schema is no JSON");
        return false;
    }
    for (const char *p = c->schema; *p != '\0'; p++) /* between tokens only */
        buf_addc(params, *p == '\n' || *p == '\r' ? ' ' : *p);
    return true;
}

static int show(const struct job_answer *a)
{
    struct span action = json_get(a->result, "action");
    struct span content = json_get(a->result, "content");

    if (a->result.p == NULL)
        return job_failed(a);
    if (json_is(action, "decline"))
        return EXIT_DECLINED;
    if (json_is(action, "cancel"))
        return EXIT_DISMISSED;
    if (content.p == NULL)
        content = SPAN("{}");
    (void)printf("%.*s\n", (int)content.n, content.p);
    return EXIT_OK;
}

static int ask(struct span params)
{
    struct job_answer a;
    int status = job_ask("elicitation/create", params, &a);

    if (status == EXIT_OK)
        status = show(&a);
    buf_fini(&a.text);
    return status;
}

int cmd_ask(const struct conf *c, char **args, size_t count)
{
    bool is_form = c->schema != NULL || c->field.n > 0;
    struct buf params;
    struct buf why;
    int status;

    (void)args;
    (void)count;
    if (c->message == NULL || is_form == c->has_url || (c->schema != NULL && c->field.n > 0))
        return complain(EXIT_USAGE, "ask: write --message, and one of --field, --schema and --url");
    buf_init(&params, PARAMS_MAX);
    buf_init(&why, WHY_MAX);
    buf_adds(&params, "{\"message\":");
    buf_add_json(&params, span_of(c->message));
    if (c->has_url)
        add_url(&params, c);
    else
        (void)add_form(&params, c, &why);
    buf_addc(&params, '}');
    if (why.n > 0)
        status = complain(EXIT_USAGE, "ask: %s", why.p);
    else if (!buf_ok(&params))
        status = complain(EXIT_USAGE, "ask: the question is larger than 1 MiB");
    else
        status = ask(buf_span(&params));
    buf_fini(&params);
    buf_fini(&why);
    return status;
}
