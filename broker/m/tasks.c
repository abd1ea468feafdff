/* tasks/get, tasks/update, tasks/cancel: a task by its id, for its principal, whoever made it and
 * in whichever dialect (Q2). */
#include "broker/m/answers.h"
#include "broker/m/arrive.h"
#include "broker/m/method.h"
#include "broker/m/render.h"
#include "broker/method/outcome.h"
#include "broker/method/params.h"
#include "broker/method/task_read.h"
#include "common/event.h"
#include "common/json.h"
#include "common/mem.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 256 << 10 };

/* A request without the extension may only see tasks that a handshake session made (Q3); to it
 * all others are not there to be asked for. */
static bool may_see(struct req *q, enum err e, const struct store_result *r)
{
    if (!q->m.tasks && (e == ERR_NOT_FOUND || r->task.dialect != 'L')) {
        m_fail_extension(q);
        return false;
    }
    return true;
}

/* The id in params. To a request without the extension a wrong one is not told from any other. */
static bool take_id(struct req *q, struct span *id)
{
    struct span value = json_get(q->rpc.params, "taskId");
    unsigned partition;

    if (!q->m.tasks && (value.n < 2 ||
                        !id_parse((struct span){value.p + 1, value.n - 2},
                                  store_partitions(q->b->store), &partition) ||
                        partition != q->who.partition)) {
        m_fail_extension(q);
        return false;
    }
    return params_task_id(q, id);
}

static void answer_detailed(struct req *q, const struct task *t,
                            const struct store_question *questions, size_t count)
{
    struct buf members;
    struct buf out;

    if (!outcome_fits(q, t))
        return;
    buf_init(&members, t->outcome.n + m_questions_size(questions, count) + TEXT_MAX);
    buf_init(&out, members.max + 1024);
    m_detailed(&members, t, questions, count);
    m_result(&out, buf_span(&members));
    req_result(q, buf_span(&out));
    buf_fini(&out);
    buf_fini(&members);
}

/* A task that asks, while its questions are read. */
struct asking {
    struct req *q;
    struct task task;
    char id[ID_LEN + 1];
    char *message;
};

static void on_questions(void *arg, enum err e, const struct store_question *questions,
                         size_t count)
{
    struct asking *a = arg;
    struct req *q = a->q;

    if (req_back(q)) {
        if (e != ERR_OK && e != ERR_NOT_FOUND) {
            req_fail(q, e);
        } else {
            if (count == 0)
                a->task.state = TASK_WORKING; /* answered between the two reads */
            answer_detailed(q, &a->task, questions, count);
        }
    }
    free(a->message);
    free(a);
}

static void read_questions(struct req *q, const struct task *t)
{
    struct asking *a = mem_zalloc(sizeof(*a));

    a->q = q;
    a->task = *t;
    memcpy(a->id, t->id.p, t->id.n < ID_LEN ? t->id.n : ID_LEN);
    a->message = mem_dup(t->message.p, t->message.n);
    a->task.id = span_of(a->id);
    a->task.message = span_of(a->message);
    req_step(q);
    store_questions(q->b->store, a->task.id, span_of(q->who.owner), on_questions, a);
}

static void on_read(void *arg, enum err e, const struct store_result *r)
{
    struct req *q = arg;

    if (!req_back(q) || !may_see(q, e, r) || !task_read_ok(q, e, r))
        return;
    if (task_is_terminal(r->task.state))
        req_log(q, EVENT_TASK_RETRIEVED, &r->task);
    if (r->task.state == TASK_INPUT)
        read_questions(q, &r->task);
    else
        answer_detailed(q, &r->task, NULL, 0);
}

void m_tasks_get(struct req *q)
{
    struct store_get get = {
        .owner = span_of(q->who.owner), .limit = q->b->conf->rate, .outcome = true};

    if (!take_id(q, &get.id))
        return;
    req_step(q);
    store_get(q->b->store, &get, on_read, q);
}

static void acknowledge(struct req *q)
{
    struct buf out;

    buf_init(&out, 1024);
    m_result(&out, (struct span){NULL, 0});
    req_result(q, buf_span(&out));
    buf_fini(&out);
}

/* --- cancel --- */

static void on_cancelled(void *arg, enum err e, const struct store_result *r)
{
    struct req *q = arg;

    if (!req_back(q))
        return;
    if (e == ERR_TERMINAL) {
        acknowledge(q); /* ended is ended, and that is no error */
    } else if (task_read_ok(q, e, r)) {
        req_log(q, EVENT_TASK_CANCELLED, &r->task);
        acknowledge(q);
    }
}

static void on_seen(void *arg, enum err e, const struct store_result *r)
{
    struct req *q = arg;
    char id[ID_LEN + 1];

    if (!req_back(q) || !may_see(q, e, r) || !task_read_ok(q, e, r))
        return;
    (void)snprintf(id, sizeof(id), "%.*s", (int)r->task.id.n, r->task.id.p);
    req_step(q);
    store_cancel(q->b->store, span_of(id), span_of(q->who.owner), 0, false, on_cancelled, q);
}

void m_tasks_cancel(struct req *q)
{
    struct store_get get = {.owner = span_of(q->who.owner), .limit = q->b->conf->rate};

    if (!take_id(q, &get.id))
        return;
    req_step(q);
    if (q->m.tasks)
        store_cancel(q->b->store, get.id, get.owner, get.limit, false, on_cancelled, q);
    else
        store_get(q->b->store, &get, on_seen, q);
}

/* --- update --- */

static void on_one_back(struct req *q)
{
    if (--q->answers != 0 || !req_back(q))
        return;
    if (q->unanswered != ERR_OK)
        req_fail(q, q->unanswered);
    else
        acknowledge(q);
}

/* keys that are not outstanding are ignored. What was not stored is not acknowledged: its
 * client may hold a question that it has answered for settled. */
static void on_answered(void *arg, enum err e, const struct store_result *r)
{
    struct req *q = arg;

    (void)r;
    if (e != ERR_OK && err_may_retry(e))
        q->unanswered = e;
    on_one_back(q);
}

static void on_found(void *arg, enum err e, const struct store_result *r)
{
    struct req *q = arg;
    char id[ID_LEN + 1];

    if (!req_back(q) || !task_read_ok(q, e, r))
        return;
    (void)snprintf(id, sizeof(id), "%.*s", (int)r->task.id.n, r->task.id.p);
    req_step(q);
    q->answers = 1; /* held until all are sent */
    m_answers_store(q, span_of(id), on_answered);
    on_one_back(q);
}

void m_tasks_update(struct req *q)
{
    struct store_get get = {.owner = span_of(q->who.owner), .limit = q->b->conf->rate};

    if (!take_id(q, &get.id))
        return;
    if (json_type(json_get(q->rpc.params, "inputResponses")) != JSON_OBJECT) {
        req_fail_why(q, ERR_INVALID_PARAMS, "params.inputResponses must be an object");
        return;
    }
    if (!m_answers_fit(q))
        return;
    req_step(q);
    store_get(q->b->store, &get, on_found, q);
}
