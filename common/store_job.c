#include "common/store_job.h"

#include "common/id.h"
#include "common/mem.h"
#include "common/store_args.h"
#include "common/store_inside.h"
#include "common/store_reply.h"

#include <assert.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>

enum { JOB_FIELDS = 16, REVERSED_EVERY = 8 };

struct op {
    struct store *s;
    const char *name;
    union {
        store_claim_fn *claim;
        store_unclaim_fn *unclaim;
        store_finish_fn *finish;
        store_verdict_fn *verdict;
        store_ask_fn *ask;
    } fn;
    void *arg;
};

static const char *const verdicts[] = {
    [STORE_V_OK] = "OK",       [STORE_V_DONE] = "DONE", [STORE_V_STALE] = "STALE",
    [STORE_V_ENDED] = "ENDED", [STORE_V_GONE] = "GONE", [STORE_V_DEAD] = "DEAD",
};

static const char *const class_tails[TASK_PRIORITY_COUNT] = {":0", ":1", ":2", ":3"};

static struct op *op_new(struct store *s, const char *name, void *arg)
{
    struct op *o = mem_zalloc(sizeof(*o));

    o->s = s;
    o->name = name;
    o->arg = arg;
    return o;
}

bool store_read_verdict(const struct redisReply *r, enum store_verdict *out)
{
    for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
        if (reply_is(r, verdicts[i])) {
            *out = (enum store_verdict)i;
            return true;
        }
    }
    return false;
}

static bool read_job(const struct redisReply *r, struct store_job *j)
{
    struct redisReply **f;
    uint64_t attempt;
    uint64_t attempts;

    if (!reply_array(r, JOB_FIELDS))
        return false;
    f = r->element;
    if (!reply_u64(f[1], &j->fence) || !reply_u64(f[2], &attempt) || !reply_u64(f[3], &attempts) ||
        !reply_u64(f[4], &j->ttl_ms) || !reply_u64(f[14], &j->ask_ms) ||
        !reply_u64(f[15], &j->age_ms))
        return false;
    j->id = reply_span(f[0]);
    j->attempt = (unsigned)attempt;
    j->attempts = (unsigned)attempts;
    j->tool = reply_span(f[5]);
    j->params = reply_span(f[6]);
    j->caller = reply_span(f[7]);
    j->trace = reply_span(f[8]);
    j->token = reply_span(f[9]);
    j->handle = reply_span(f[10]);
    j->caps = reply_span(f[11]);
    j->hidden = reply_is(f[12], "c");
    j->dialect = reply_is(f[13], "M") ? 'M' : 'L';
    return j->id.n > 0;
}

/* NULL for an answer that is none; free() the rest. */
static struct store_job *read_jobs(const struct redisReply *r)
{
    struct store_job *jobs;

    if (!reply_array(r, 0))
        return NULL;
    jobs = mem_zalloc((r->elements + 1) * sizeof(*jobs));
    for (size_t i = 0; i < r->elements; i++) {
        if (!read_job(r->element[i], &jobs[i])) {
            free(jobs);
            return NULL;
        }
    }
    return jobs;
}

static void tool_keys(struct store_args *a, const struct store_worker *w)
{
    for (unsigned c = 0; c < TASK_PRIORITY_COUNT; c++)
        for (size_t i = 0; i < w->tool_count; i++)
            args_key(a, "rq:", w->tools[i], class_tails[c]);
}

/* Gives a claim its number, and every eighth the other order. */
static void claim_args(struct store_args *a, struct store *s, unsigned n)
{
    s->claims += n > 0;
    args_flag(a, n > 0 && s->claims % REVERSED_EVERY == 0);
    args_u64(a, s->claims);
}

static void on_claim(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    struct store_job *jobs = NULL;

    if (e == ERR_OK && (jobs = read_jobs(r)) == NULL)
        e = store_bad_answer(o->s, o->name);
    o->fn.claim(o->arg, e, jobs, e == ERR_OK ? r->elements : 0);
    free(jobs);
    free(o);
}

uint64_t store_claim(struct store *s, unsigned partition, const struct store_worker *w, unsigned n,
                     store_claim_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "claim", partition);
    struct op *o = op_new(s, "claim", arg);

    o->fn.claim = fn;
    args_key(a, "ls", (struct span){NULL, 0}, "");
    args_key(a, "il:", w->pool, "");
    args_key(a, "lc:", w->wid, "");
    tool_keys(a, w);
    args_add(a, w->wid);
    args_add(a, w->pool);
    args_u64(a, n);
    args_u64(a, w->lease_ms);
    claim_args(a, s, n);
    args_u64(a, w->tool_count);
    for (size_t i = 0; i < w->tool_count; i++)
        args_add(a, w->tools[i]);
    store_args_send(a, on_claim, o);
    return s->claims;
}

static void on_unclaim(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;

    if (e == ERR_OK && r->type != REDIS_REPLY_INTEGER)
        e = store_bad_answer(o->s, o->name);
    o->fn.unclaim(o->arg, e, e == ERR_OK ? (uint64_t)r->integer : 0);
    free(o);
}

void store_unclaim(struct store *s, unsigned partition, const struct store_worker *w,
                   uint64_t number, store_unclaim_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "unclaim", partition);
    struct op *o = op_new(s, "unclaim", arg);

    o->fn.unclaim = fn;
    args_key(a, "ls", (struct span){NULL, 0}, "");
    args_key(a, "lc:", w->wid, "");
    args_add(a, w->wid);
    args_u64(a, number);
    store_args_send(a, on_unclaim, o);
}

static void on_finish(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    enum store_verdict v[STORE_BATCH_MAX];
    struct store_job *jobs = NULL;
    size_t count = 0;

    if (e == ERR_OK && reply_array(r, 2) && reply_array(r->element[0], 0) &&
        r->element[0]->elements <= STORE_BATCH_MAX) {
        while (count < r->element[0]->elements &&
               store_read_verdict(r->element[0]->element[count], &v[count]))
            count++;
        if (count == r->element[0]->elements)
            jobs = read_jobs(r->element[1]);
    }
    if (e == ERR_OK && jobs == NULL)
        e = store_bad_answer(o->s, o->name);
    if (e == ERR_OK)
        o->fn.finish(o->arg, e, v, count, jobs, r->element[1]->elements);
    else
        o->fn.finish(o->arg, e, NULL, 0, NULL, 0);
    free(jobs);
    free(o);
}

static void finish_args(struct store_args *a, const struct store_outcome *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char letter[2] = {task_letter(out[i].state), '\0'};

        assert(out[i].state == TASK_RESULT || out[i].state == TASK_ERROR);
        args_add(a, out[i].id);
        args_u64(a, out[i].fence);
        args_text(a, letter[0] == 'r' ? "r" : "e");
        args_flag(a, out[i].is_error);
        args_add(a, out[i].message);
        args_add(a, out[i].outcome);
        args_flag(a, out[i].dead);
    }
}

uint64_t store_finish(struct store *s, unsigned partition, const struct store_worker *w,
                      const struct store_outcome *outcomes, size_t count, unsigned n,
                      store_finish_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "finish", partition);
    struct op *o = op_new(s, "finish", arg);
    const struct span none = {NULL, 0};

    assert(count <= STORE_BATCH_MAX);
    o->fn.finish = fn;
    args_key(a, "ls", none, "");
    args_key(a, "il:", w->pool, "");
    args_key(a, "st", none, "");
    args_key(a, "dq", none, "");
    args_key(a, "lc:", w->wid, "");
    for (size_t i = 0; i < count; i++)
        args_key(a, "t:", outcomes[i].id, "");
    tool_keys(a, w);
    args_add(a, w->wid);
    args_add(a, w->pool);
    args_u64(a, n);
    args_u64(a, w->lease_ms);
    claim_args(a, s, n);
    args_u64(a, w->tool_count);
    args_u64(a, count);
    for (size_t i = 0; i < w->tool_count; i++)
        args_add(a, w->tools[i]);
    finish_args(a, outcomes, count);
    store_args_send(a, on_finish, o);
    return s->claims;
}

static void on_verdict(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    enum store_verdict v = STORE_V_GONE;

    if (e == ERR_OK && !store_read_verdict(r, &v))
        e = store_bad_answer(o->s, o->name);
    o->fn.verdict(o->arg, e, v);
    free(o);
}

/* A call about one held task, begun with its id and fence. An id that is none of ours goes to
 * partition 0, where it is GONE. */
static struct store_args *held_call(struct store *s, const char *name, const struct store_held *h,
                                    const char *const *more_keys)
{
    unsigned partition = 0;
    struct store_args *a;

    if (s->partitions > 1 && !id_parse(h->id, s->partitions, &partition))
        partition = 0;
    a = store_args(s, name, partition);
    args_key(a, "t:", h->id, "");
    for (; more_keys != NULL && *more_keys != NULL; more_keys++)
        args_key(a, *more_keys, (struct span){NULL, 0}, "");
    args_add(a, h->id);
    args_u64(a, h->fence);
    return a;
}

static void send_verdict(struct store_args *a, struct store *s, const char *name,
                         store_verdict_fn *fn, void *arg)
{
    struct op *o = op_new(s, name, arg);

    o->fn.verdict = fn;
    store_args_send(a, on_verdict, o);
}

void store_report(struct store *s, const struct store_held *h, struct span message,
                  struct span progress, struct span value, store_verdict_fn *fn, void *arg)
{
    struct store_args *a = held_call(s, "report", h, NULL);

    args_flag(a, message.p != NULL);
    args_add(a, message);
    args_flag(a, progress.p != NULL);
    args_add(a, progress);
    args_add(a, value);
    send_verdict(a, s, "report", fn, arg);
}

void store_log(struct store *s, const struct store_held *h, struct span level, struct span logger,
               struct span data, store_verdict_fn *fn, void *arg)
{
    struct store_args *a = held_call(s, "log", h, NULL);

    args_add(a, level);
    args_add(a, logger);
    args_add(a, data);
    send_verdict(a, s, "log", fn, arg);
}

void store_handle(struct store *s, const struct store_held *h, struct span handle,
                  store_verdict_fn *fn, void *arg)
{
    struct store_args *a = held_call(s, "handle", h, NULL);

    args_add(a, handle);
    send_verdict(a, s, "handle", fn, arg);
}

void store_retry(struct store *s, const struct store_held *h, uint64_t delay_ms,
                 struct span message, struct span error, store_verdict_fn *fn, void *arg)
{
    static const char *const more[] = {"ls", "dl", "dq", "st", NULL};
    struct store_args *a = held_call(s, "retry", h, more);

    args_u64(a, delay_ms);
    args_add(a, message);
    args_add(a, error);
    send_verdict(a, s, "retry", fn, arg);
}

static enum err read_asked(struct op *o, const struct redisReply *r, enum store_verdict *v,
                           struct span *answer)
{
    if (!reply_array(r, 1))
        return store_bad_answer(o->s, o->name);
    if (reply_is(r->element[0], "CONFLICT"))
        return ERR_CONFLICT;
    if (reply_is(r->element[0], "LIMIT"))
        return ERR_LIMIT;
    if (reply_is(r->element[0], "ANSWERED") && r->elements > 1)
        *answer = reply_span(r->element[1]);
    else if (!store_read_verdict(r->element[0], v))
        return store_bad_answer(o->s, o->name);
    return ERR_OK;
}

static void on_asked(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    enum store_verdict v = STORE_V_OK;
    struct span answer = {NULL, 0};

    if (e == ERR_OK)
        e = read_asked(o, r, &v, &answer);
    o->fn.ask(o->arg, e, v, answer);
    free(o);
}

void store_ask(struct store *s, const struct store_held *h, struct span key, struct span method,
               struct span params, bool hosted, store_ask_fn *fn, void *arg)
{
    static const char *const more[] = {"ls", NULL};
    struct store_args *a = held_call(s, "ask", h, more);
    struct op *o = op_new(s, "ask", arg);

    o->fn.ask = fn;
    args_add(a, key);
    args_add(a, method);
    args_add(a, params);
    args_flag(a, hosted);
    store_args_send(a, on_asked, o);
}

void store_unask(struct store *s, const struct store_held *h, struct span key, struct span answer,
                 store_verdict_fn *fn, void *arg)
{
    static const char *const more[] = {"ls", NULL};
    struct store_args *a = held_call(s, "unask", h, more);

    args_add(a, key);
    args_add(a, answer);
    send_verdict(a, s, "unask", fn, arg);
}
