/* tasks/result: what the call would have answered, however long it takes.
 *
 *     begin -> read -> the outcome
 *                   -> wait -> the outcome
 *
 * The waiter is in this broker's table before the read leaves, and the read registers our interest
 * in the same step in Redis, so the end cannot slip between them. Four things end the wait: the
 * outcome, cancellation, expiry, and this broker's drain. */
#include "broker/method.h"
#include "broker/method/outcome.h"
#include "broker/method/params.h"

void method_tasks_result(struct req *q)
{
    struct span id;

    if (params_task_id(q, &id))
        outcome_read(q, id, q->b->conf->rate);
}
