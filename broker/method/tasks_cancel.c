/* tasks/cancel: the task is cancelled in Redis before the answer leaves (T-68); its worker is told
 * by the same step. One that has ended already is -32602 (T-65). */
#include "broker/method.h"
#include "broker/method/params.h"
#include "broker/method/task_read.h"
#include "common/event.h"

#include <stdio.h>

static void refuse_ended(struct req *q, const struct task *t)
{
    char why[96];

    (void)snprintf(why, sizeof(why), "Cannot cancel a task that has already ended: it is %s",
                   task_l_status(t, task_iserror_fails(q)));
    req_fail_why(q, ERR_TERMINAL, why);
}

static void on_cancelled(void *arg, enum err e, const struct store_result *r)
{
    struct req *q = arg;

    if (!req_back(q))
        return;
    if (e == ERR_TERMINAL) {
        refuse_ended(q, &r->task);
    } else if (task_read_ok(q, e, r)) {
        req_log(q, EVENT_TASK_CANCELLED, &r->task);
        task_answer(q, &r->task);
    }
}

void method_tasks_cancel(struct req *q)
{
    struct span id;

    if (!params_task_id(q, &id))
        return;
    req_step(q);
    store_cancel(q->b->store, id, span_of(q->who.owner), q->b->conf->rate, false, on_cancelled, q);
}
