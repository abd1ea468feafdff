#include "tests/interop/conformance/kit.h"

#include "common/json.h"
#include "common/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void say(struct errand_job *job, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        abort();
    va_end(args);
    errand_result_text(job, text);
    free(text);
}

void on_always(struct errand_job *job, void *arg)
{
    const char *result = arg;

    errand_result_raw(job, result, strlen(result));
}

static const char *const words[] = {[ERRAND_ACCEPTED] = "accepted",
                                    [ERRAND_DECLINED] = "declined",
                                    [ERRAND_DISMISSED] = "dismissed",
                                    [ERRAND_FAILED] = "failed",
                                    [ERRAND_STOPPED] = "stopped"};

const char *ask_named(struct errand_job *job, const char *name, const char *method,
                      const char *params)
{
    struct errand_question q = {.name = name, .method = method, .params = params};

    errand_ask_all(job, &q, 1);
    if (q.said == ERRAND_ACCEPTED)
        return q.answer;
    if (q.said == ERRAND_FAILED)
        errand_error(job, q.answer);
    else
        say(job, "The question was %s", words[q.said]);
    return NULL;
}

static char *decoded(struct span value)
{
    char *text = mem_zalloc(value.n + 1);

    if (json_type(value) != JSON_STRING || json_string(value, text, value.n + 1) < 0)
        text[0] = '\0';
    return text;
}

char *member(const char *object, const char *name)
{
    return decoded(json_get(span_of(object), name));
}

char *sampled(const char *result)
{
    struct span content = json_get(span_of(result), "content");
    struct span name;
    size_t cursor = 0;

    if (json_type(content) == JSON_ARRAY && !json_next(content, &cursor, &name, &content))
        return mem_strdup("");
    return decoded(json_get(content, "text"));
}
