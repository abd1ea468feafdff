#include "worker/run/c_job.h"

#include "common/json.h"
#include "common/mem.h"
#include "worker/result.h"

#include <stdio.h>
#include <stdlib.h>

enum { LOG_MAX = 64 << 10, LOGS_MAX = 1000 };

/* --- log lines, and questions of each kind --- */

void errand_log(struct errand_job *job, const char *level, const char *text)
{
    struct c_log *line = mem_zalloc(sizeof(*line));
    struct buf data;

    buf_init(&data, LOG_MAX);
    buf_add_json(&data, result_cut(span_of(text), LOG_MAX / 8));
    (void)snprintf(line->level, sizeof(line->level), "%s", level);
    list_init(&line->node);
    line->data = buf_take(&data);
    c_lock(job->all);
    if (job->log_count < LOGS_MAX) {
        job->log_count++;
        list_add_tail(&job->logs, &line->node);
        c_tell(job);
        line = NULL;
    }
    c_unlock(job->all);
    if (line != NULL)
        c_log_free(line);
}

enum errand_said errand_ask(struct errand_job *job, const char *message, const char *schema,
                            const char **answer)
{
    struct buf params;

    if (json_check(span_of(schema), NULL, NULL) != ERR_OK)
        return c_refuse(job, "the schema of the form is no JSON", answer);
    buf_init(&params, C_PARAMS_MAX);
    buf_adds(&params, "{\"message\":");
    buf_add_json(&params, span_of(message));
    buf_adds(&params, ",\"requestedSchema\":");
    result_compact(&params, span_of(schema));
    buf_addc(&params, '}');
    return c_ask(job, "elicitation/create", &params, answer);
}

enum errand_said errand_ask_url(struct errand_job *job, const char *message, const char *url,
                                const char **answer)
{
    struct buf params;

    buf_init(&params, C_PARAMS_MAX);
    buf_adds(&params, "{\"mode\":\"url\",\"message\":");
    buf_add_json(&params, span_of(message));
    buf_adds(&params, ",\"url\":");
    buf_add_json(&params, span_of(url));
    buf_addf(&params, ",\"elicitationId\":\"%s-%u\"}", errand_task_id(job), ++job->urls);
    return c_ask(job, "elicitation/create", &params, answer);
}

enum errand_said errand_sample(struct errand_job *job, const char *prompt, unsigned max_tokens,
                               const char **answer)
{
    struct buf params;

    buf_init(&params, C_PARAMS_MAX);
    buf_adds(&params, "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":");
    buf_add_json(&params, span_of(prompt));
    buf_addf(&params, "}}],\"maxTokens\":%u}", max_tokens);
    return c_ask(job, "sampling/createMessage", &params, answer);
}

enum errand_said errand_sample_raw(struct errand_job *job, const char *params, const char **answer)
{
    struct buf copy;

    if (json_check(span_of(params), NULL, NULL) != ERR_OK)
        return c_refuse(job, "the params are no JSON", answer);
    buf_init(&copy, C_PARAMS_MAX);
    result_compact(&copy, span_of(params));
    return c_ask(job, "sampling/createMessage", &copy, answer);
}

enum errand_said errand_roots(struct errand_job *job, const char **answer)
{
    struct buf params;

    buf_init(&params, C_PARAMS_MAX);
    buf_adds(&params, "{}");
    return c_ask(job, "roots/list", &params, answer);
}
