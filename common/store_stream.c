#include "common/store_stream.h"

#include "common/id.h"
#include "common/mem.h"
#include "common/store_args.h"
#include "common/store_inside.h"
#include "common/store_reply.h"

#include <assert.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>

enum { KEEP_MAX = 64, EVENT_FIELDS = 3, OPEN_HEAD = 1, RESUME_HEAD = 5 };

struct op {
    struct store *s;
    const char *name;
    store_stream_fn *stream;
    store_stream_lost_fn *lost;
    void *arg;
    /* What is resumed. */
    char id[STREAM_ID_LEN + 1];
    char session[ID_LEN + 1];
    char owner[ID_OWNER_LEN + 1];
};

static struct op *op_new(struct store *s, const char *name, void *arg)
{
    struct op *o = mem_zalloc(sizeof(*o));

    o->s = s;
    o->name = name;
    o->arg = arg;
    return o;
}

static bool read_event(struct redisReply **f, struct store_stream_event *out)
{
    out->entry = reply_span(f[0]);
    out->data = reply_span(f[2]);
    if (out->entry.n == 0 || out->data.p == NULL)
        return false;
    out->is_task = reply_is(f[1], "t");
    if (!out->is_task)
        return reply_is(f[1], "d");
    if (!store_task_text(out->data, &out->task))
        return false;
    out->data = (struct span){NULL, 0};
    return true;
}

/* Those that stand in a flat answer behind `head` elements. NULL for an answer that is none;
 * free() the rest. */
static struct store_stream_event *read_events(const struct redisReply *r, size_t head)
{
    size_t n = (r->elements - head) / EVENT_FIELDS;
    struct store_stream_event *events;

    if ((r->elements - head) % EVENT_FIELDS != 0)
        return NULL;
    events = mem_zalloc((n + 1) * sizeof(*events));
    for (size_t i = 0; i < n; i++) {
        if (!read_event(r->element + head + i * EVENT_FIELDS, &events[i])) {
            free(events);
            return NULL;
        }
    }
    return events;
}

static void end_stream(struct op *o, enum err e, const struct redisReply *r, size_t head,
                       const struct store_stream *stream, bool gap)
{
    struct store_stream_event *events = NULL;

    if (e == ERR_OK && (events = read_events(r, head)) == NULL)
        e = store_bad_answer(o->s, o->name);
    if (e == ERR_OK)
        o->stream(o->arg, e, stream, gap, events, (r->elements - head) / EVENT_FIELDS);
    else
        o->stream(o->arg, e, NULL, false, NULL, 0);
    free(events);
    free(o);
}

/* Nil is the answer to one whose stream, session or task that is not; else {'OK', ...}. */
static enum err check_answer(struct op *o, enum err e, const struct redisReply *r, size_t head)
{
    if (e != ERR_OK)
        return e;
    if (r->type == REDIS_REPLY_NIL)
        return ERR_NOT_FOUND;
    if (!reply_array(r, head) || !reply_is(r->element[0], "OK"))
        return store_bad_answer(o->s, o->name);
    return ERR_OK;
}

static void on_opened(void *arg, enum err e, const struct redisReply *r)
{
    e = check_answer(arg, e, r, OPEN_HEAD);
    end_stream(arg, e, r, OPEN_HEAD, NULL, false);
}

static void stream_keys(struct store_args *a, struct span id)
{
    args_key(a, "sm:", id, "");
    args_key(a, "sx:", id, "");
}

void store_stream_open(struct store *s, const struct store_stream *x, store_stream_fn *fn,
                       void *arg)
{
    struct store_args *a = store_args(s, "stream_open", store_partition_of_owner(s, x->owner));
    struct op *o = op_new(s, "stream_open", arg);
    const char kind[2] = {(char)x->kind, '\0'};

    o->stream = fn;
    stream_keys(a, x->id);
    args_key(a, "se:", x->session, "");
    args_key(a, "t:", x->task, "");
    args_add(a, x->id);
    args_text(a, kind);
    args_add(a, x->session);
    args_add(a, x->owner);
    args_add(a, x->task);
    args_add(a, x->request);
    args_text(a, store_self(s));
    args_u64(a, STREAM_LIVE_MS);
    store_args_send(a, on_opened, o);
}

static bool read_record(const struct op *o, const struct redisReply *r, struct store_stream *out)
{
    struct span kind = reply_span(r->element[1]);

    *out = (struct store_stream){.id = span_of(o->id),
                                 .session = span_of(o->session),
                                 .owner = span_of(o->owner),
                                 .task = reply_span(r->element[2]),
                                 .request = reply_span(r->element[3])};
    if (kind.n != 1 || strchr("grc", kind.p[0]) == NULL)
        return false;
    out->kind = (enum store_stream_kind)kind.p[0];
    return true;
}

static void on_resumed(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    struct store_stream stream;
    bool gap = false;

    e = check_answer(o, e, r, RESUME_HEAD);
    if (e == ERR_OK && !read_record(o, r, &stream))
        e = store_bad_answer(o->s, o->name);
    if (e == ERR_OK)
        gap = reply_flag(r->element[4]);
    end_stream(o, e, r, RESUME_HEAD, &stream, gap);
}

static void copy(char *out, size_t max, struct span s)
{
    memcpy(out, s.p, s.n < max ? s.n : max);
}

void store_stream_resume(struct store *s, struct span id, struct span last, struct span session,
                         struct span owner, store_stream_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "stream_resume", store_partition_of_owner(s, owner));
    struct op *o = op_new(s, "stream_resume", arg);

    o->stream = fn;
    copy(o->id, STREAM_ID_LEN, id);
    copy(o->session, ID_LEN, session);
    copy(o->owner, ID_OWNER_LEN, owner);
    stream_keys(a, id);
    args_key(a, "se:", session, "");
    args_add(a, id);
    args_add(a, last);
    args_add(a, session);
    args_add(a, owner);
    args_text(a, store_self(s));
    args_u64(a, STREAM_LIVE_MS);
    store_args_send(a, on_resumed, o);
}

static void on_read(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;

    if (e == ERR_OK && !reply_array(r, 0))
        e = store_bad_answer(o->s, o->name);
    end_stream(o, e, r, 0, NULL, false);
}

void store_stream_read(struct store *s, unsigned partition, struct span id, struct span last,
                       store_stream_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "stream_read", partition);
    struct op *o = op_new(s, "stream_read", arg);

    o->stream = fn;
    args_key(a, "sx:", id, "");
    args_add(a, id);
    args_add(a, last);
    store_args_send(a, on_read, o);
}

static void on_kept(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    struct span lost[KEEP_MAX];
    size_t n = 0;

    if (e == ERR_OK && (!reply_array(r, 0) || r->elements > KEEP_MAX))
        e = store_bad_answer(o->s, o->name);
    for (size_t i = 0; e == ERR_OK && i < r->elements; i++)
        lost[n++] = reply_span(r->element[i]);
    o->lost(o->arg, e, n > 0 ? lost : NULL, n);
    free(o);
}

void store_stream_keep(struct store *s, unsigned partition, const struct span *ids, size_t count,
                       store_stream_lost_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "stream_keep", partition);
    struct op *o = op_new(s, "stream_keep", arg);

    assert(count <= KEEP_MAX);
    o->lost = fn;
    for (size_t i = 0; i < count; i++)
        args_key(a, "sm:", ids[i], "");
    for (size_t i = 0; i < count; i++)
        args_key(a, "sx:", ids[i], "");
    args_text(a, store_self(s));
    args_u64(a, STREAM_LIVE_MS);
    for (size_t i = 0; i < count; i++)
        args_add(a, ids[i]);
    store_args_send(a, on_kept, o);
}

static void on_dropped(void *arg, enum err e, const struct redisReply *r)
{
    (void)arg;
    (void)e;
    (void)r;
}

void store_stream_drop(struct store *s, unsigned partition, struct span id, uint64_t ttl_ms)
{
    struct store_args *a = store_args(s, "stream_drop", partition);

    stream_keys(a, id);
    args_add(a, id);
    args_text(a, store_self(s));
    args_u64(a, ttl_ms);
    store_args_send(a, on_dropped, NULL);
}
