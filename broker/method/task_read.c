#include "broker/method/task_read.h"

#include "broker/l/render.h"
#include "common/metric.h"

bool task_iserror_fails(const struct req *q)
{
    return span_is(span_of(q->b->conf->iserror_status), "failed");
}

bool task_read_ok(struct req *q, enum err e, const struct store_result *r)
{
    if (e == ERR_OK)
        return true;
    if (e == ERR_NOT_FOUND)
        metric_add(METRIC_LOOKUPS_FAILED, NULL, 1); /* T-104 */
    if (e == ERR_RATE) {
        metric_add(METRIC_LIMITED, err_name(e), 1);
        req_fail_retry(q, e, r->retry_ms);
    } else {
        req_fail(q, e);
    }
    return false;
}

void task_answer(struct req *q, const struct task *t)
{
    struct buf out;

    buf_init(&out, 64 << 10);
    l_task(&out, t, task_iserror_fails(q));
    req_result(q, buf_span(&out));
    buf_fini(&out);
}
