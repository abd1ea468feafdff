#include "broker/method/outcome.h"

#include "broker/inflight.h"
#include "broker/l/render.h"
#include "broker/method/task_read.h"
#include "common/cfg_unit.h"
#include "common/event.h"

bool outcome_fits(struct req *q, const struct task *t)
{
    struct buf why;

    if (t->state != TASK_RESULT || t->outcome.n <= q->b->conf->max_result)
        return true;
    buf_init(&why, 256);
    buf_addf(&why, "the result has %zu bytes, which is larger than the ", t->outcome.n);
    cfg_add_number(&why, CFG_UNIT_SIZE, q->b->conf->max_result);
    buf_adds(&why, " that this server gives out");
    req_fail_why(q, ERR_INTERNAL, buf_span(&why).p);
    buf_fini(&why);
    return false;
}

static void answer_result(struct req *q, const struct task *t)
{
    struct buf out;

    buf_init(&out, t->outcome.n + 256);
    l_related(&out, t->outcome, t->id);
    req_result(q, buf_span(&out));
    buf_fini(&out);
}

static void answer_cancelled(struct req *q, const struct task *t)
{
    struct buf data;

    if (q->hidden) {
        req_fail_why(q, ERR_INTERNAL, "the call was cancelled");
        return;
    }
    buf_init(&data, 128);
    buf_adds(&data, "{\"taskId\":\"");
    buf_add_span(&data, t->id);
    buf_adds(&data, "\",\"status\":\"cancelled\"}");
    req_fail_data(q, ERR_INTERNAL, SPAN("The task was cancelled: it has no result"),
                  buf_span(&data));
    buf_fini(&data);
}

void outcome_answer(struct req *q, const struct task *t)
{
    if (!outcome_fits(q, t))
        return;
    if (!q->hidden)
        req_log(q, EVENT_TASK_RETRIEVED, t);
    if (t->state == TASK_ERROR)
        req_error_raw(q, t->outcome); /* T-52: the same error, untouched */
    else if (t->state != TASK_RESULT)
        answer_cancelled(q, t);
    else if (q->hidden)
        req_result(q, t->outcome);
    else
        answer_result(q, t);
}

static void on_ended(void *arg, enum err e, const struct task *t)
{
    struct req *q = arg;

    if (e == ERR_NOT_FOUND && q->hidden)
        req_fail_why(q, ERR_INTERNAL, "the call ran longer than its time to live and was stopped");
    else if (e == ERR_NOT_FOUND)
        req_fail_why(q, e, "Task has expired");
    else if (e != ERR_OK)
        req_fail(q, e);
    else
        outcome_answer(q, t);
}

void outcome_wait(struct req *q, uint64_t expires_ms)
{
    inflight_wait(q, expires_ms, on_ended);
}

void outcome_created(struct req *q, const struct task *t)
{
    if (!span_is(t->id, q->wait.id)) {
        q->is_guest = true;
        wait_rekey(q->b->waits, &q->wait, t->id);
    }
    outcome_wait(q, t->expires_ms);
}

static void on_read(void *arg, enum err e, const struct store_result *r)
{
    struct req *q = arg;

    if (!req_back(q) || !task_read_ok(q, e, r))
        return;
    if (task_is_terminal(r->task.state)) {
        outcome_answer(q, &r->task);
        return;
    }
    /* Something is to be asked: the stream that carries it opens at once. */
    q->stream_now = r->task.state == TASK_INPUT;
    outcome_wait(q, r->task.expires_ms);
}

void outcome_read(struct req *q, struct span task, uint64_t rate)
{
    struct store_get get = {.id = task,
                            .owner = span_of(q->who.owner),
                            .limit = rate,
                            .wait = true,
                            .outcome = true,
                            .brief = true,
                            .hidden_too = q->hidden};

    wait_add(q->b->waits, &q->wait, get.id, get.owner);
    req_step(q);
    store_get(q->b->store, &get, on_read, q);
}
