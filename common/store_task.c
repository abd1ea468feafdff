#include "common/store_task.h"

#include "common/clock.h"
#include "common/id.h"
#include "common/mem.h"
#include "common/store_args.h"
#include "common/store_inside.h"
#include "common/store_reply.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>

enum { TICK_LIMIT = 128 };

struct op {
    struct store *s;
    const char *name;
    union {
        store_task_fn *task;
        store_list_fn *list;
        store_questions_fn *questions;
        store_done_fn *done;
        store_tick_fn *tick;
    } fn;
    void *arg;
    /* Of a list. */
    char owner[ID_OWNER_LEN + 1];
    uint64_t after_seq;
    unsigned count;
};

static const struct {
    const char *word;
    enum err e;
} answers[] = {
    {"OK", ERR_OK},       {"DUP", ERR_OK},    {"ENDED", ERR_TERMINAL},
    {"LIMIT", ERR_LIMIT}, {"RATE", ERR_RATE}, {"CONFLICT", ERR_CONFLICT},
};

static struct op *op_new(struct store *s, const char *name, void *arg)
{
    struct op *o = mem_zalloc(sizeof(*o));

    o->s = s;
    o->name = name;
    o->arg = arg;
    return o;
}

static bool answer_word(const struct redisReply *first, enum err *e)
{
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        if (reply_is(first, answers[i].word)) {
            *e = answers[i].e;
            return true;
        }
    }
    return false;
}

/* Any answer about one task: a row, {word, row or ms}, {word}, or nothing. */
static enum err read_answer(struct op *o, const struct redisReply *r, struct store_result *out)
{
    enum err e;

    if (r->type == REDIS_REPLY_NIL)
        return ERR_NOT_FOUND;
    if (store_task_row(r, &out->task))
        return ERR_OK;
    if (!reply_array(r, 1) || !answer_word(r->element[0], &e))
        return store_bad_answer(o->s, o->name);
    out->repeated = reply_is(r->element[0], "DUP");
    if (e == ERR_RATE && r->elements > 1 && reply_u64(r->element[1], &out->retry_ms))
        return e;
    if (e == ERR_LIMIT || e == ERR_CONFLICT)
        return e;
    if (r->elements < 2 || !store_task_row(r->element[1], &out->task))
        return store_bad_answer(o->s, o->name);
    return e;
}

static void on_task(void *arg, enum err e, const struct redisReply *reply)
{
    struct op *o = arg;
    struct store_result r = {.retry_ms = 0};

    if (e == ERR_OK)
        e = read_answer(o, reply, &r);
    o->fn.task(o->arg, e, &r);
    free(o);
}

static void send_task(struct store_args *a, struct store *s, const char *name, store_task_fn *fn,
                      void *arg)
{
    struct op *o = op_new(s, name, arg);

    o->fn.task = fn;
    store_args_send(a, on_task, o);
}

static const char *const class_tails[TASK_PRIORITY_COUNT] = {":0", ":1", ":2", ":3"};

static void create_keys(struct store_args *a, const struct store_create *c)
{
    const struct span none = {NULL, 0};

    args_key(a, "t:", c->id, "");
    args_key(a, "o:", c->owner, "");
    args_key(a, "oa:", c->owner, "");
    args_key(a, "ix", none, "");
    args_key(a, "sq", none, "");
    args_key(a, "st", none, "");
    args_key(a, "rl:", c->owner, "");
    args_key(a, "rq:", c->tool, class_tails[c->priority]);
    args_key(a, "pl:", c->tool, "");
    if (c->idem.n > 0) {
        char head[64] = "im:";

        memcpy(head + 3, c->owner.p, c->owner.n < 48 ? c->owner.n : 48);
        head[3 + (c->owner.n < 48 ? c->owner.n : 48)] = ':';
        args_key(a, head, c->idem, "");
    }
}

void store_create(struct store *s, const struct store_create *c, store_task_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "create", store_partition_of_owner(s, c->owner));

    create_keys(a, c);
    args_add(a, c->id);
    args_add(a, c->owner);
    args_add(a, c->tool);
    args_u64(a, c->priority);
    args_u64(a, c->ttl_ms);
    args_u64(a, c->poll_ms);
    args_u64(a, c->max_active);
    args_u64(a, c->max_running);
    args_u64(a, c->attempts);
    args_u64(a, c->limit);
    args_text(a, c->hidden ? "c" : "t");
    args_text(a, c->dialect == 'M' ? "M" : "L");
    args_text(a, c->wait ? store_self(s) : "");
    args_add(a, c->session);
    args_add(a, c->idem);
    args_add(a, c->idem_args);
    args_add(a, c->token);
    args_add(a, c->caller);
    args_add(a, c->trace);
    args_add(a, c->caps);
    args_add(a, c->request);
    args_add(a, c->params);
    args_add(a, c->outcome);
    args_flag(a, c->outcome_is_error);
    args_add(a, c->message);
    args_add(a, c->stream);
    args_add(a, c->level);
    args_u64(a, c->ask_ms);
    send_task(a, s, "create", fn, arg);
}

/* An id is looked for in its owner's partition, whatever it says itself: a foreign one is then
 * simply not there, and the rate is counted where the owner's rate is. */
void store_get(struct store *s, const struct store_get *g, store_task_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "get", store_partition_of_owner(s, g->owner));

    args_key(a, "t:", g->id, "");
    args_key(a, "rl:", g->owner, "");
    args_add(a, g->id);
    args_add(a, g->owner);
    args_u64(a, g->limit);
    args_text(a, g->wait ? store_self(s) : "");
    args_u64(a, g->outcome ? 1U + g->brief : 0U);
    args_flag(a, g->hidden_too);
    send_task(a, s, "get", fn, arg);
}

void store_cancel(struct store *s, struct span id, struct span owner, uint64_t limit,
                  bool hidden_too, store_task_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "cancel", store_partition_of_owner(s, owner));
    const struct span none = {NULL, 0};

    args_key(a, "t:", id, "");
    args_key(a, "ls", none, "");
    args_key(a, "dl", none, "");
    args_key(a, "st", none, "");
    args_key(a, "oa:", owner, "");
    args_key(a, "rl:", owner, "");
    args_add(a, id);
    args_add(a, owner);
    args_u64(a, limit);
    args_flag(a, hidden_too);
    send_task(a, s, "cancel", fn, arg);
}

void store_answer(struct store *s, struct span id, struct span owner, struct span session,
                  struct span key, struct span answer, store_task_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "answer", store_partition_of_owner(s, owner));

    args_key(a, "t:", id, "");
    args_key(a, "se:", session, "");
    args_add(a, id);
    args_add(a, owner);
    args_add(a, session);
    args_add(a, key);
    args_add(a, answer);
    send_task(a, s, "answer", fn, arg);
}

void store_promote(struct store *s, struct span id, struct span owner, store_task_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "promote", store_partition_of_owner(s, owner));

    args_key(a, "t:", id, "");
    args_key(a, "o:", owner, "");
    args_add(a, id);
    args_add(a, owner);
    send_task(a, s, "promote", fn, arg);
}

static void on_questions(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    struct store_question *q = NULL;
    size_t n = 0;

    if (e == ERR_OK && r->type == REDIS_REPLY_NIL)
        e = ERR_NOT_FOUND;
    else if (e == ERR_OK && (!reply_array(r, 0) || r->elements % 3 != 0))
        e = store_bad_answer(o->s, o->name);
    if (e == ERR_OK) {
        q = mem_zalloc((r->elements / 3 + 1) * sizeof(*q));
        for (; n < r->elements / 3; n++)
            q[n] = (struct store_question){reply_span(r->element[3 * n]),
                                           reply_span(r->element[3 * n + 1]),
                                           reply_span(r->element[3 * n + 2])};
    }
    o->fn.questions(o->arg, e, q, n);
    free(q);
    free(o);
}

void store_questions(struct store *s, struct span id, struct span owner, store_questions_fn *fn,
                     void *arg)
{
    struct store_args *a = store_args(s, "questions", store_partition_of_owner(s, owner));
    struct op *o = op_new(s, "questions", arg);

    o->fn.questions = fn;
    args_key(a, "t:", id, "");
    args_add(a, id);
    args_add(a, owner);
    store_args_send(a, on_questions, o);
}

static enum err read_list(struct op *o, const struct redisReply *r, struct task *tasks)
{
    if (!reply_array(r, 2) || !reply_is(r->element[0], "OK"))
        return store_bad_answer(o->s, o->name);
    for (size_t i = 2; i < r->elements; i++)
        if (!store_task_row(r->element[i], &tasks[i - 2]))
            return store_bad_answer(o->s, o->name);
    return ERR_OK;
}

static void send_list(struct op *o, uint64_t limit);

static void on_list(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    struct task *tasks = NULL;
    uint64_t retry_ms = 0;

    if (e == ERR_OK && reply_array(r, 2) && reply_is(r->element[0], "RATE")) {
        e = reply_u64(r->element[1], &retry_ms) ? ERR_RATE : store_bad_answer(o->s, o->name);
    } else if (e == ERR_OK) {
        tasks = mem_alloc((r->elements + 1) * sizeof(*tasks));
        e = read_list(o, r, tasks);
    }
    if (e == ERR_OK && r->elements == 2 && reply_flag(r->element[1])) {
        free(tasks);
        send_list(o, 0); /* so many had expired; they are gone now */
        return;
    }
    if (e == ERR_OK)
        o->fn.list(o->arg, e, tasks, r->elements - 2, reply_flag(r->element[1]), 0);
    else
        o->fn.list(o->arg, e, NULL, 0, false, retry_ms);
    free(tasks);
    free(o);
}

static void send_list(struct op *o, uint64_t limit)
{
    struct span owner = span_of(o->owner);
    struct store_args *a = store_args(o->s, "list", store_partition_of_owner(o->s, owner));

    args_key(a, "o:", owner, "");
    args_key(a, "rl:", owner, "");
    args_add(a, owner);
    args_u64(a, o->after_seq);
    args_u64(a, o->count);
    args_u64(a, limit);
    store_args_send(a, on_list, o);
}

void store_list(struct store *s, struct span owner, uint64_t after_seq, unsigned count,
                uint64_t limit, store_list_fn *fn, void *arg)
{
    struct op *o = op_new(s, "list", arg);

    o->fn.list = fn;
    memcpy(o->owner, owner.p, owner.n < ID_OWNER_LEN ? owner.n : ID_OWNER_LEN);
    o->after_seq = after_seq;
    o->count = count;
    send_list(o, limit);
}

static void on_throttled(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    uint64_t retry_ms = 0;

    if (e == ERR_OK && (!reply_array(r, 1) || !answer_word(r->element[0], &e)))
        e = store_bad_answer(o->s, o->name);
    if (e == ERR_RATE && (!reply_array(r, 2) || !reply_u64(r->element[1], &retry_ms)))
        e = store_bad_answer(o->s, o->name);
    o->fn.done(o->arg, e, retry_ms);
    free(o);
}

void store_throttle(struct store *s, struct span owner, uint64_t limit, unsigned count,
                    store_done_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "throttle", store_partition_of_owner(s, owner));
    struct op *o = op_new(s, "throttle", arg);

    o->fn.done = fn;
    args_key(a, "rl:", owner, "");
    args_add(a, owner);
    args_u64(a, limit);
    args_u64(a, count);
    store_args_send(a, on_throttled, o);
}

static void on_ticked(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    uint64_t next_ms = 0;
    uint64_t done = 0;

    if (e == ERR_OK && (!reply_array(r, 2) || !reply_u64(r->element[0], &next_ms) ||
                        !reply_u64(r->element[1], &done)))
        e = store_bad_answer(o->s, o->name);
    o->fn.tick(o->arg, e, next_ms, (unsigned)done);
    free(o);
}

void store_tick(struct store *s, unsigned partition, store_tick_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "tick", partition);
    struct op *o = op_new(s, "tick", arg);
    const struct span none = {NULL, 0};

    o->fn.tick = fn;
    args_key(a, "ls", none, "");
    args_key(a, "dl", none, "");
    args_key(a, "ix", none, "");
    args_key(a, "dq", none, "");
    args_key(a, "st", none, "");
    args_u64(a, TICK_LIMIT);
    args_u64(a, clock_mono_us()); /* seeds the jitter */
    store_args_send(a, on_ticked, o);
}
