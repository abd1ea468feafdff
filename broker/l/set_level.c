/* logging/setLevel: from which level on a session is told what its jobs log, at every broker. */
#include "broker/method.h"
#include "broker/req.h"
#include "common/json.h"
#include "common/store_session.h"

static const char *const levels[] = {"debug", "info",     "notice", "warning",
                                     "error", "critical", "alert",  "emergency"};

static void on_set(void *arg, enum err e)
{
    struct req *q = arg;

    if (!req_back(q))
        return;
    if (e == ERR_OK)
        req_result(q, SPAN("{}"));
    else
        req_fail(q, e);
}

void method_set_level(struct req *q)
{
    struct span level = json_get(q->rpc.params, "level");

    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        if (!json_is(level, levels[i]))
            continue;
        req_step(q);
        session_set_level(q->b->store, span_of(q->session), span_of(levels[i]), on_set, q);
        return;
    }
    req_fail_why(q, ERR_INVALID_PARAMS,
                 "params.level must be one of debug, info, notice, warning, error, critical, "
                 "alert, emergency");
}
