#include "broker/m/job.h"

#include "broker/inflight.h"
#include "broker/m/answers.h"
#include "broker/m/render.h"
#include "broker/method/outcome.h"
#include "broker/method/task_read.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/seal.h"

#include <stdio.h>

enum {
    DIGEST_LEN = 22,
    STATE_MAX = 512,
    TEXT_MAX = 64 << 10,
    PROMOTE_AGAIN_MS = 1000, /* at least, after Redis has refused it */
};

static void wait_on(struct req *q, uint64_t expires_ms);
static void look(struct req *q);

/* --- answers --- */

static void on_abandoned(void *arg, enum err e, const struct store_result *r)
{
    (void)arg;
    (void)e;
    (void)r;
}

static void abandon(struct req *q)
{
    if (q->hidden && !q->is_guest && q->wait.id[0] != '\0')
        store_cancel(q->b->store, span_of(q->wait.id), span_of(q->wait.owner), 0, true,
                     on_abandoned, NULL);
}

static void answer_task(struct req *q, const struct store_result *r)
{
    const struct task *t = &r->task;
    struct buf out;

    buf_init(&out, TEXT_MAX);
    req_log(q, EVENT_TASK_CREATED, t);
    buf_adds(&out, "{\"resultType\":\"task\",");
    m_task(&out, t);
    buf_addc(&out, '}');
    req_result(q, buf_span(&out));
    buf_fini(&out);
}

static void answer_error(struct req *q, const struct task *t)
{
    struct buf out;

    if (q->about == NULL) {
        req_error_raw(q, t->outcome);
        return;
    }
    buf_init(&out, t->outcome.n + strlen(q->about) + 256);
    m_resource_error(&out, t->outcome, span_of(q->about));
    req_error_raw(q, buf_span(&out));
    buf_fini(&out);
}

static void answer_outcome(struct req *q, const struct task *t)
{
    struct buf out;

    if (t->state == TASK_ERROR) {
        answer_error(q, t);
        return;
    }
    if (t->state != TASK_RESULT) {
        req_fail_why(q, ERR_INTERNAL, "the call was cancelled");
        return;
    }
    if (!outcome_fits(q, t))
        return;
    buf_init(&out, t->outcome.n + 1024);
    if (q->about != NULL)
        m_read_result(&out, t->outcome);
    else
        m_tool_result(&out, t->outcome);
    req_result(q, buf_span(&out));
    buf_fini(&out);
}

/* --- questions before there is a task: the job waits, the client comes back --- */

static void answer_questions(struct req *q, const struct store_question *questions, size_t count)
{
    char state[STATE_MAX];
    struct buf out;
    int n = snprintf(state, sizeof(state), "%s %s", q->wait.id, q->digest);

    buf_init(&out, m_questions_size(questions, count) + 4 * STATE_MAX);
    buf_adds(&out, "{\"resultType\":\"input_required\",");
    m_input_requests(&out, questions, count);
    buf_adds(&out, ",\"requestState\":\"");
    seal_close(&out, store_secret(q->b->store), "mrtr", span_of(q->who.owner),
               clock_wall_ms() + q->b->conf->ask_timeout, (struct span){state, (size_t)n});
    buf_adds(&out, "\"}");
    req_result(q, buf_span(&out));
    buf_fini(&out);
}

static void on_questions(void *arg, enum err e, const struct store_question *questions,
                         size_t count)
{
    struct req *q = arg;

    if (!req_back(q))
        return;
    if (e != ERR_OK && e != ERR_NOT_FOUND)
        req_fail(q, e);
    else if (e == ERR_OK && count != 0)
        answer_questions(q, questions, count);
    else
        look(q); /* answered or ended meanwhile, or another client hosts what is asked */
}

static void ask_what(struct req *q, uint64_t version)
{
    q->asked_at = version;
    inflight_pause(q);
    req_step(q);
    store_questions(q->b->store, span_of(q->wait.id), span_of(q->who.owner), on_questions, q);
}

static void on_input(void *arg)
{
    ask_what(arg, 0);
}

/* --- waiting --- */

static void on_ended(void *arg, enum err e, const struct task *t)
{
    struct req *q = arg;

    if (e == ERR_NOT_FOUND)
        req_fail_why(q, ERR_INTERNAL, "the call ran longer than its time to live and was stopped");
    else if (e != ERR_OK)
        req_fail(q, e);
    else
        answer_outcome(q, t);
}

static void on_looked(void *arg, enum err e, const struct store_result *r)
{
    struct req *q = arg;

    if (!req_back(q))
        return;
    if (e == ERR_NOT_FOUND)
        req_fail_why(q, ERR_INVALID_PARAMS, "the call that this continues is no more");
    else if (!task_read_ok(q, e, r))
        return;
    else if (task_is_terminal(r->task.state))
        answer_outcome(q, &r->task);
    else if (r->task.state == TASK_INPUT && r->task.version != q->asked_at)
        ask_what(q, r->task.version);
    else /* nothing is asked of us since */
        wait_on(q, r->task.expires_ms);
}

/* Reads the job and goes on from what it is now. */
static void look(struct req *q)
{
    struct store_get get = {
        .owner = span_of(q->who.owner), .wait = true, .outcome = true, .hidden_too = true};
    char id[ID_LEN + 1];

    (void)snprintf(id, sizeof(id), "%s", q->wait.id);
    get.id = span_of(id);
    wait_del(q->b->waits, &q->wait);
    wait_add(q->b->waits, &q->wait, get.id, get.owner);
    req_step(q);
    store_get(q->b->store, &get, on_looked, q);
}

static void on_promoted(void *arg, enum err e, const struct store_result *r)
{
    struct req *q = arg;

    if (e == ERR_OK)
        q->hidden = false; /* a task now: its client's leaving does not touch it */
    if (!req_back(q))
        return;
    if (e == ERR_OK) {
        call_durable(q, r, answer_task);
        return;
    }
    if (q->timeout_ms < PROMOTE_AGAIN_MS)
        q->timeout_ms = PROMOTE_AGAIN_MS;
    look(q);
}

static void promote(void *arg)
{
    struct req *q = arg;

    inflight_pause(q);
    req_step(q);
    store_promote(q->b->store, span_of(q->wait.id), span_of(q->who.owner), on_promoted, q);
}

static void wait_on(struct req *q, uint64_t expires_ms)
{
    if (q->may_promote)
        req_timer(q, q->timeout_ms, promote);
    q->wait.on_input = on_input;
    inflight_wait(q, expires_ms, on_ended);
}

/* --- the beginning --- */

static void on_created(void *arg, enum err e, const struct store_result *r)
{
    struct req *q = arg;

    if (!call_created(q, e, r))
        return;
    if (!q->hidden) {
        call_durable(q, r, answer_task);
        return;
    }
    if (!span_is(r->task.id, q->wait.id)) {
        q->is_guest = true;
        wait_rekey(q->b->waits, &q->wait, r->task.id);
    }
    wait_on(q, r->task.expires_ms);
}

/* --- coming back with answers --- */

/* Of several calls under way the last one back lets the request go on. */
static void on_one_back(struct req *q)
{
    if (--q->answers == 0 && req_back(q))
        look(q);
}

static void on_answered(void *arg, enum err e, const struct store_result *r)
{
    (void)e; /* late, unknown and repeated keys are ignored (M-05) */
    (void)r;
    on_one_back(arg);
}

static void on_counted(void *arg, enum err e, uint64_t retry_ms)
{
    struct req *q = arg;
    const struct store_result r = {.retry_ms = retry_ms};

    if (!req_back(q) || !task_read_ok(q, e, &r))
        return;
    req_step(q);
    q->answers = 1; /* held until all are sent */
    m_answers_store(q, span_of(q->wait.id), on_answered);
    on_one_back(q);
}

static bool open_state(struct req *q, struct span sealed)
{
    char text[STATE_MAX * 2];
    struct buf plain;
    unsigned partition;
    long n = json_string(sealed, text, sizeof(text));
    bool good;

    buf_init(&plain, STATE_MAX);
    good = n > 0 &&
           seal_open(&plain, store_secret(q->b->store), "mrtr", span_of(q->who.owner),
                     clock_wall_ms(), (struct span){text, (size_t)n}) == ERR_OK &&
           plain.n == ID_LEN + 1 + DIGEST_LEN &&
           id_parse((struct span){plain.p, ID_LEN}, store_partitions(q->b->store), &partition) &&
           memcmp(plain.p + ID_LEN + 1, q->digest, DIGEST_LEN) == 0;
    if (good)
        wait_add(q->b->waits, &q->wait, (struct span){plain.p, ID_LEN}, span_of(q->who.owner));
    else
        req_fail_why(q, ERR_INVALID_PARAMS,
                     "params.requestState is not the one that this call was given, or has expired");
    buf_fini(&plain);
    return good;
}

void m_job(struct req *q, const struct call *c, const struct tool *t)
{
    struct span state = json_get(q->rpc.params, "requestState");

    q->abandon = abandon;
    if (state.p == NULL) {
        q->hidden = !(t->support == SUPPORT_REQUIRED && t->promote_ms == 0);
        call_create(q, c, t, on_created);
        return;
    }
    if (!open_state(q, state) || !m_answers_fit(q))
        return;
    q->hidden = true;
    if (t->support == SUPPORT_REQUIRED)
        q->timeout_ms = 1; /* its questions are answered: it is a task now */
    req_step(q);
    store_throttle(q->b->store, span_of(q->who.owner), q->b->conf->rate, 1, on_counted, q);
}
