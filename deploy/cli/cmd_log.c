/* errand log: a line for the log of a job's client. Inside a job. */
#include "deploy/cli/command.h"
#include "deploy/cli/conf.h"
#include "deploy/cli/job.h"

#include <string.h>

enum { TEXT_MAX = 64 << 10 };

static bool is_level(const char *text)
{
    static const char *const levels[] = {"debug", "info",     "notice", "warning",
                                         "error", "critical", "alert",  "emergency"};

    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (strcmp(text, levels[i]) == 0)
            return true;
    return false;
}

int cmd_log(const struct conf *c, char **args, size_t count)
{
    struct buf params;
    int status;

    (void)c;
    (void)count;
    if (!is_level(args[0]))
        return complain(EXIT_USAGE,
                        "log: \"%.64s\" is no level; write debug, info, notice, warning, error, "
                        "critical, alert or emergency",
                        args[0]);
    buf_init(&params, TEXT_MAX);
    buf_addf(&params, "{\"level\":\"%s\",\"data\":", args[0]);
    buf_add_json(&params, span_of(args[1]));
    buf_addc(&params, '}');
    if (buf_ok(&params))
        status = job_tell("notifications/message", buf_span(&params));
    else
        status = complain(EXIT_USAGE, "log: the text is too long");
    buf_fini(&params);
    return status;
}
