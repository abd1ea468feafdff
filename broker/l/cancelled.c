/* notifications/cancelled: gives up one of the client's own waiting requests. The request may wait
 * at any broker, so all are told. What is malformed or unknown is ignored (U-06); a task is never
 * touched (T-71). */
#include "broker/inflight.h"
#include "broker/method.h"
#include "broker/req.h"
#include "common/json.h"

void method_cancelled(struct req *q)
{
    struct span id = json_get(q->rpc.params, "requestId");

    if (id.p != NULL && json_is_id(id))
        inflight_tell_cancel(q->b->inflight, span_of(q->session), id);
    req_quiet(q);
}
