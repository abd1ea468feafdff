/* errand progress: how far a job is, for its client. Inside a job. */
#include "common/json.h"
#include "deploy/cli/command.h"
#include "deploy/cli/conf.h"
#include "deploy/cli/job.h"

enum { TEXT_MAX = 64 << 10 };

static bool is_number(const char *text)
{
    return json_check(span_of(text), NULL, NULL) == ERR_OK &&
           json_type(span_of(text)) == JSON_NUMBER;
}

int cmd_progress(const struct conf *c, char **args, size_t count)
{
    bool has_total = count > 1 && is_number(args[1]);
    const char *message = has_total ? args[2] : args[1];
    struct buf params;
    int status;

    (void)c;
    if (!is_number(args[0]))
        return complain(EXIT_USAGE, "progress: \"%.64s\" is no number", args[0]);
    if (count == 3 && !has_total)
        return complain(EXIT_USAGE, "progress: \"%.64s\" is no number", args[1]);
    if (count == (has_total ? 2 : 1))
        message = NULL;
    buf_init(&params, TEXT_MAX);
    buf_addf(&params, "{\"progress\":%s", args[0]);
    if (has_total)
        buf_addf(&params, ",\"total\":%s", args[1]);
    if (message != NULL) {
        buf_adds(&params, ",\"message\":");
        buf_add_json(&params, span_of(message));
    }
    buf_addc(&params, '}');
    if (buf_ok(&params))
        status = job_tell("notifications/progress", buf_span(&params));
    else
        status = complain(EXIT_USAGE, "progress: the message is too long");
    buf_fini(&params);
    return status;
}
