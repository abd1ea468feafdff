/* tasks/get: a task's state, always as one JSON answer (T-34). */
#include "broker/l/render.h"
#include "broker/method.h"
#include "broker/method/params.h"
#include "broker/method/task_read.h"

static void on_read(void *arg, enum err e, const struct store_result *r)
{
    struct req *q = arg;

    if (req_back(q) && task_read_ok(q, e, r))
        task_answer(q, &r->task);
}

void method_tasks_get(struct req *q)
{
    struct store_get get = {.owner = span_of(q->who.owner), .limit = q->b->conf->rate};

    if (!params_task_id(q, &get.id))
        return;
    req_step(q);
    store_get(q->b->store, &get, on_read, q);
}
