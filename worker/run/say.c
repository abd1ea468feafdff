#include "worker/run/say.h"

#include "common/json.h"
#include "worker/result.h"

#include <stdlib.h>

enum { LEVEL_ROOM = 64, DATA_MAX = 64 << 10, PROGRESS_MAX = 16 << 10, LOGGER_MAX = 1024 };

void say_progress(const struct run_sink *sink, struct run_job *job, struct span params)
{
    struct span value = json_get(params, "progress");
    struct span total = json_get(params, "total");
    struct span message = json_get(params, "message");
    struct span none = {NULL, 0};
    struct buf progress;
    char *text = NULL;

    if (json_type(value) != JSON_NUMBER)
        return;
    buf_init(&progress, PROGRESS_MAX);
    buf_adds(&progress, "{\"progress\":");
    buf_add_span(&progress, value);
    if (json_type(total) == JSON_NUMBER) {
        buf_adds(&progress, ",\"total\":");
        buf_add_span(&progress, total);
    }
    if (json_type(message) == JSON_STRING)
        text = tool_text(message);
    if (text != NULL) {
        buf_adds(&progress, ",\"message\":");
        buf_add_json(&progress, result_cut(span_of(text), RESULT_MESSAGE_MAX));
    }
    buf_addc(&progress, '}');
    if (buf_ok(&progress))
        sink->said(job, text != NULL ? result_cut(span_of(text), RESULT_MESSAGE_MAX) : none,
                   buf_span(&progress));
    buf_fini(&progress);
    free(text);
}

void say_log(const struct run_sink *sink, struct run_job *job, struct span params)
{
    struct span level = json_get(params, "level");
    struct span logger = json_get(params, "logger");
    struct span data = json_get(params, "data");
    char word[LEVEL_ROOM];

    if (json_string(level, word, sizeof(word)) <= 0 || data.p == NULL || data.n > DATA_MAX)
        return;
    if (json_type(logger) != JSON_STRING || logger.n > LOGGER_MAX)
        logger = (struct span){NULL, 0};
    sink->logged(job, span_of(word), logger, data);
}
