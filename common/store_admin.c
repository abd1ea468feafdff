#include "common/store_admin.h"

#include "common/buf.h"
#include "common/id.h"
#include "common/mem.h"
#include "common/store_args.h"
#include "common/store_inside.h"
#include "common/store_reply.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>

enum {
    TOTALS = 16,
    OLDEST = 12,
    QUEUE_FIELDS = 5,
    TOOL_FIELDS = 5,
    DEAD_FIELDS = 7,
    TOOLS_MAX = 1000,
    SEEN_MS = 3600000, /* tools that had a worker in the last hour */
    ENTRIES_TEXT_MAX = 16 << 20,
};

struct op {
    struct store *s;
    unsigned partition;
    union {
        store_queue_fn *queue;
        store_dead_fn *dead;
        store_requeue_fn *requeue;
    } fn;
    void *arg;
};

static struct op *op_new(struct store *s, unsigned partition, void *arg)
{
    struct op *o = mem_zalloc(sizeof(*o));

    o->s = s;
    o->partition = partition;
    o->arg = arg;
    return o;
}

/* Which tools there are, then how many tasks wait for each:
 *
 *     store_queue -> on_tools -> on_queue */

static void keep_oldest(uint64_t *oldest_ms, uint64_t ms)
{
    if (ms > *oldest_ms)
        *oldest_ms = ms;
}

void store_totals_add(struct store_totals *sum, const struct store_totals *t)
{
    sum->running += t->running;
    sum->delayed += t->delayed;
    sum->parked += t->parked;
    sum->active += t->active;
    sum->tasks += t->tasks;
    sum->dead += t->dead;
    sum->dead_ever += t->dead_ever;
    sum->lapsed_ever += t->lapsed_ever;
    for (size_t i = 0; i < TASK_STATE_COUNT; i++)
        sum->ended[i] += t->ended[i];
    for (size_t c = 0; c < TASK_PRIORITY_COUNT; c++)
        keep_oldest(&sum->oldest_ms[c], t->oldest_ms[c]);
    keep_oldest(&sum->oldest_ready_ms, t->oldest_ready_ms);
}

static bool read_totals(struct redisReply *const *f, struct store_totals *t)
{
    for (size_t c = 0; c < TASK_PRIORITY_COUNT; c++)
        if (!reply_u64(f[OLDEST + c], &t->oldest_ms[c]))
            return false;
    return reply_u64(f[0], &t->running) && reply_u64(f[1], &t->delayed) &&
           reply_u64(f[2], &t->parked) && reply_u64(f[3], &t->active) &&
           reply_u64(f[4], &t->tasks) && reply_u64(f[5], &t->dead) &&
           reply_u64(f[6], &t->ended[TASK_RESULT]) && reply_u64(f[7], &t->ended[TASK_ERROR]) &&
           reply_u64(f[8], &t->ended[TASK_CANCELLED]) && reply_u64(f[9], &t->oldest_ready_ms) &&
           reply_u64(f[10], &t->dead_ever) && reply_u64(f[11], &t->lapsed_ever);
}

static bool read_queue(struct redisReply *const *f, struct store_queue *q)
{
    q->tool = reply_span(f[0]);
    for (size_t c = 0; c < TASK_PRIORITY_COUNT; c++)
        if (!reply_u64(f[1 + c], &q->ready[c]))
            return false;
    return q->tool.n > 0;
}

static enum err read_queues(struct op *o, const struct redisReply *r, struct store_totals *totals,
                            struct store_queue *queues)
{
    if (!read_totals(r->element, totals))
        return store_bad_answer(o->s, "queue");
    for (size_t i = TOTALS; i < r->elements; i += QUEUE_FIELDS)
        if (!read_queue(r->element + i, queues++))
            return store_bad_answer(o->s, "queue");
    return ERR_OK;
}

static void on_queue(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    struct store_totals totals = {.running = 0};
    struct store_queue *queues = NULL;
    size_t n = 0;

    if (e == ERR_OK && (!reply_array(r, TOTALS) || (r->elements - TOTALS) % QUEUE_FIELDS != 0))
        e = store_bad_answer(o->s, "queue");
    if (e == ERR_OK) {
        n = (r->elements - TOTALS) / QUEUE_FIELDS;
        queues = mem_zalloc((n + 1) * sizeof(*queues));
        e = read_queues(o, r, &totals, queues);
    }
    o->fn.queue(o->arg, e, &totals, queues, e == ERR_OK ? n : 0);
    free(queues);
    free(o);
}

static void on_tools(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    struct store_totals none = {.running = 0};
    struct store_args *a;

    if (e == ERR_OK && (!reply_array(r, 1) || (r->elements - 1) % TOOL_FIELDS != 0))
        e = store_bad_answer(o->s, "tools");
    if (e != ERR_OK) {
        o->fn.queue(o->arg, e, &none, NULL, 0);
        free(o);
        return;
    }
    a = store_args(o->s, "queue", o->partition);
    args_key(a, "ls", (struct span){NULL, 0}, "");
    args_key(a, "dl", (struct span){NULL, 0}, "");
    args_key(a, "ix", (struct span){NULL, 0}, "");
    args_key(a, "dq", (struct span){NULL, 0}, "");
    args_key(a, "st", (struct span){NULL, 0}, "");
    for (size_t i = 1, n = 0; i < r->elements && n < TOOLS_MAX; i += TOOL_FIELDS, n++)
        args_add(a, reply_span(r->element[i]));
    store_args_send(a, on_queue, o);
}

void store_queue(struct store *s, unsigned partition, store_queue_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "tools", STORE_GLOBAL);
    struct op *o = op_new(s, partition, arg);

    o->fn.queue = fn;
    args_key(a, "tools", (struct span){NULL, 0}, "");
    args_key(a, "seen", (struct span){NULL, 0}, "");
    args_key(a, "tv", (struct span){NULL, 0}, "");
    args_u64(a, SEEN_MS);
    store_args_send(a, on_tools, o);
}

static bool read_dead(struct redisReply *const *f, struct store_dead *d)
{
    d->id = reply_span(f[1]);
    d->tool = reply_span(f[2]);
    d->why = reply_span(f[5]);
    d->expired = reply_flag(f[6]);
    return reply_span(f[0]).n > 0 && reply_u64(f[3], &d->attempts) && reply_u64(f[4], &d->at_ms);
}

/* Entries are named across partitions: "<partition>-<stream id>". */
static void name_entries(struct op *o, const struct redisReply *r, struct store_dead *dead,
                         struct buf *text)
{
    size_t at = 0;

    for (size_t i = 0; i < r->elements; i += DEAD_FIELDS) {
        buf_addf(text, "%u-", o->partition);
        buf_add_span(text, reply_span(r->element[i]));
        buf_addc(text, '\0');
    }
    for (size_t i = 0; i < r->elements / DEAD_FIELDS; i++) {
        dead[i].entry = span_of(text->p + at);
        at += dead[i].entry.n + 1;
    }
}

static enum err read_letters(struct op *o, const struct redisReply *r, struct store_dead *dead,
                             struct buf *text)
{
    for (size_t i = 0; i < r->elements; i += DEAD_FIELDS)
        if (!read_dead(r->element + i, &dead[i / DEAD_FIELDS]))
            return store_bad_answer(o->s, "dead_list");
    name_entries(o, r, dead, text);
    return buf_ok(text) ? ERR_OK : ERR_TOO_BIG;
}

static void on_dead(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    struct store_dead *dead = NULL;
    struct buf text;
    size_t n = 0;

    buf_init(&text, ENTRIES_TEXT_MAX);
    if (e == ERR_OK && (!reply_array(r, 0) || r->elements % DEAD_FIELDS != 0))
        e = store_bad_answer(o->s, "dead_list");
    if (e == ERR_OK) {
        n = r->elements / DEAD_FIELDS;
        dead = mem_zalloc((n + 1) * sizeof(*dead));
        e = read_letters(o, r, dead, &text);
    }
    o->fn.dead(o->arg, e, dead, e == ERR_OK ? n : 0);
    free(dead);
    buf_fini(&text);
    free(o);
}

void store_dead_list(struct store *s, unsigned partition, unsigned count, store_dead_fn *fn,
                     void *arg)
{
    struct store_args *a = store_args(s, "dead_list", partition);
    struct op *o = op_new(s, partition, arg);

    o->fn.dead = fn;
    args_key(a, "dq", (struct span){NULL, 0}, "");
    args_u64(a, count);
    store_args_send(a, on_dead, o);
}

/* Digits, then a dash: how many bytes that is; 0 when it is not so. */
static size_t number_and_dash(struct span text)
{
    size_t n = 0;

    while (n < text.n && text.p[n] >= '0' && text.p[n] <= '9')
        n++;
    return n > 0 && n < text.n && text.p[n] == '-' ? n + 1 : 0;
}

/* "3-1700000000000-0" -> 3 and "1700000000000-0". */
static bool split_entry(const struct store *s, struct span entry, unsigned *partition,
                        struct span *stream_id)
{
    size_t n = number_and_dash(entry);
    struct span rest = {entry.p + n, entry.n - n};
    size_t k = number_and_dash(rest);
    unsigned p = 0;

    if (n == 0 || n > 4 || k == 0 || k == rest.n || k > 21 || rest.n - k > 20)
        return false;
    for (size_t i = k; i < rest.n; i++)
        if (rest.p[i] < '0' || rest.p[i] > '9')
            return false;
    for (size_t i = 0; i < n - 1; i++)
        p = p * 10 + (unsigned)(entry.p[i] - '0');
    *partition = p;
    *stream_id = rest;
    return p < store_partitions(s);
}

static void on_requeued(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    struct span id = {NULL, 0};

    if (e == ERR_OK && r->type == REDIS_REPLY_NIL)
        e = ERR_NOT_FOUND;
    else if (e == ERR_OK && reply_array(r, 1) && reply_is(r->element[0], "EXPIRED"))
        e = ERR_TERMINAL;
    else if (e == ERR_OK && (!reply_array(r, 2) || !reply_is(r->element[0], "OK")))
        e = store_bad_answer(o->s, "dead_requeue");
    if (e == ERR_OK)
        id = reply_span(r->element[1]);
    o->fn.requeue(o->arg, e, id);
    free(o);
}

static void on_dropped(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;

    if (e == ERR_OK && !reply_flag(r))
        e = ERR_NOT_FOUND;
    o->fn.requeue(o->arg, e, (struct span){NULL, 0});
    free(o);
}

void store_dead_requeue(struct store *s, struct span entry, store_requeue_fn *fn, void *arg)
{
    struct op *o = op_new(s, 0, arg);
    struct span stream_id;
    struct store_args *a;
    char id[ID_LEN + 1];

    o->fn.requeue = fn;
    if (!split_entry(s, entry, &o->partition, &stream_id)) {
        store_fail(s, store_is_ready(s) ? ERR_NOT_FOUND : ERR_UNAVAILABLE, on_requeued, o);
        return;
    }
    id_new(id, o->partition);
    a = store_args(s, "dead_requeue", o->partition);
    args_key(a, "dq", (struct span){NULL, 0}, "");
    args_key(a, "sq", (struct span){NULL, 0}, "");
    args_key(a, "ix", (struct span){NULL, 0}, "");
    args_key(a, "t:", span_of(id), "");
    args_add(a, stream_id);
    args_text(a, id);
    store_args_send(a, on_requeued, o);
}

void store_dead_drop(struct store *s, struct span entry, store_requeue_fn *fn, void *arg)
{
    struct op *o = op_new(s, 0, arg);
    struct span stream_id;
    struct store_args *a;

    o->fn.requeue = fn;
    if (!split_entry(s, entry, &o->partition, &stream_id)) {
        store_fail(s, store_is_ready(s) ? ERR_NOT_FOUND : ERR_UNAVAILABLE, on_dropped, o);
        return;
    }
    a = store_args(s, "dead_drop", o->partition);
    args_key(a, "dq", (struct span){NULL, 0}, "");
    args_add(a, stream_id);
    store_args_send(a, on_dropped, o);
}
