#include "common/store_session.h"

#include "common/id.h"
#include "common/mem.h"
#include "common/store_args.h"
#include "common/store_inside.h"
#include "common/store_reply.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>

enum { SESSION_FIELDS = 6 };

struct op {
    struct store *s;
    const char *name;
    session_fn *read;
    session_made_fn *made;
    session_done_fn *done;
    session_watches_fn *watches;
    void *arg;
    char id[ID_LEN + 1];
};

static struct op *op_new(struct store *s, const char *name, void *arg)
{
    struct op *o = mem_zalloc(sizeof(*o));

    o->s = s;
    o->name = name;
    o->arg = arg;
    return o;
}

/* 1; 0: there is none. */
static void on_done(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;

    if (e == ERR_OK && !reply_flag(r))
        e = ERR_NOT_FOUND;
    o->done(o->arg, e);
    free(o);
}

static void send_done(struct store_args *a, struct store *s, const char *name, session_done_fn *fn,
                      void *arg)
{
    struct op *o = op_new(s, name, arg);

    o->done = fn;
    store_args_send(a, on_done, o);
}

static unsigned partition_of(const struct store *s, struct span id)
{
    unsigned partition = 0;

    if (s->partitions > 1 && !id_parse(id, s->partitions, &partition))
        partition = 0;
    return partition;
}

static void on_made(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    uint64_t retry_ms = 0;

    if (e == ERR_OK && reply_array(r, 2) && reply_is(r->element[0], "RATE") &&
        reply_u64(r->element[1], &retry_ms))
        e = ERR_RATE;
    else if (e == ERR_OK && (!reply_array(r, 1) || !reply_is(r->element[0], "OK")))
        e = store_bad_answer(o->s, o->name);
    o->made(o->arg, e, retry_ms);
    free(o);
}

void session_create(struct store *s, const struct session *x, uint64_t ttl_ms, uint64_t limit,
                    session_made_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "session_create", store_partition_of_owner(s, x->owner));
    struct op *o = op_new(s, "session_create", arg);

    o->made = fn;
    args_key(a, "se:", x->id, "");
    args_key(a, "so:", x->owner, "");
    args_key(a, "rl:", x->owner, "");
    args_add(a, x->id);
    args_add(a, x->owner);
    args_add(a, x->version);
    args_add(a, x->capabilities);
    args_add(a, x->client);
    args_u64(a, ttl_ms);
    args_u64(a, limit);
    args_u64(a, SESSION_MAX);
    store_args_send(a, on_made, o);
}

static void on_read(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    struct session x = {.id = {o->id, strlen(o->id)}};

    if (e == ERR_OK && r->type == REDIS_REPLY_NIL)
        e = ERR_NOT_FOUND;
    else if (e == ERR_OK && !reply_array(r, SESSION_FIELDS))
        e = store_bad_answer(o->s, o->name);
    if (e == ERR_OK) {
        x.owner = reply_span(r->element[0]);
        x.version = reply_span(r->element[1]);
        x.capabilities = reply_span(r->element[2]);
        x.client = reply_span(r->element[3]);
        x.level = reply_span(r->element[4]);
        x.initialized = reply_flag(r->element[5]);
    }
    o->read(o->arg, e, e == ERR_OK ? &x : NULL);
    free(o);
}

void session_read(struct store *s, struct span id, struct span owner, uint64_t ttl_ms,
                  session_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "session_read", store_partition_of_owner(s, owner));
    struct op *o = op_new(s, "session_read", arg);

    memcpy(o->id, id.p, id.n < ID_LEN ? id.n : ID_LEN);
    o->read = fn;
    args_key(a, "se:", id, "");
    args_key(a, "so:", owner, "");
    args_add(a, id);
    args_add(a, owner);
    args_u64(a, ttl_ms);
    store_args_send(a, on_read, o);
}

static void session_set(struct store *s, struct span id, const char *field, struct span value,
                        session_done_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "session_set", partition_of(s, id));

    args_key(a, "se:", id, "");
    args_add(a, id);
    args_text(a, field);
    args_add(a, value);
    send_done(a, s, "session_set", fn, arg);
}

void session_initialized(struct store *s, struct span id, session_done_fn *fn, void *arg)
{
    session_set(s, id, "in", SPAN("1"), fn, arg);
}

void session_set_level(struct store *s, struct span id, struct span level, session_done_fn *fn,
                       void *arg)
{
    session_set(s, id, "lv", level, fn, arg);
}

void session_end(struct store *s, struct span id, struct span owner, session_done_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "session_end", store_partition_of_owner(s, owner));

    args_key(a, "se:", id, "");
    args_key(a, "wt:", id, "");
    args_key(a, "so:", owner, "");
    args_add(a, id);
    args_add(a, owner);
    send_done(a, s, "session_end", fn, arg);
}

/* --- what a session watches --- */

static void on_watched(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;

    if (e == ERR_OK && reply_is(r, "LIMIT"))
        e = ERR_LIMIT;
    else if (e == ERR_OK && !reply_is(r, "OK"))
        e = ERR_NOT_FOUND;
    o->done(o->arg, e);
    free(o);
}

void session_watch(struct store *s, struct span id, struct span owner, struct span server,
                   struct span uri, uint64_t ttl_ms, session_done_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "watch_add", store_partition_of_owner(s, owner));
    struct op *o = op_new(s, "watch_add", arg);

    o->done = fn;
    args_key(a, "wt:", id, "");
    args_key(a, "wu:", uri, "");
    args_key(a, "se:", id, "");
    args_add(a, id);
    args_add(a, owner);
    args_add(a, uri);
    args_add(a, server);
    args_u64(a, SESSION_WATCH_MAX);
    args_u64(a, ttl_ms);
    store_args_send(a, on_watched, o);
}

void session_unwatch(struct store *s, struct span id, struct span uri, session_done_fn *fn,
                     void *arg)
{
    struct store_args *a = store_args(s, "watch_drop", partition_of(s, id));

    args_key(a, "wt:", id, "");
    args_key(a, "wu:", uri, "");
    args_add(a, id);
    args_add(a, uri);
    send_done(a, s, "watch_drop", fn, arg);
}

static void on_watches(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    struct span *watches = NULL;
    size_t n = 0;

    if (e == ERR_OK && (!reply_array(r, 0) || r->elements % 3 != 0))
        e = store_bad_answer(o->s, o->name);
    if (e == ERR_OK) {
        watches = mem_zalloc((r->elements + 1) * sizeof(*watches));
        while (n < r->elements) {
            watches[n] = reply_span(r->element[n]);
            n++;
        }
    }
    o->watches(o->arg, e, watches, n / 3);
    free(watches);
    free(o);
}

void session_watches(struct store *s, unsigned partition, const struct span *ids, size_t count,
                     uint64_t ttl_ms, session_watches_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "watch_list", partition);
    struct op *o = op_new(s, "watch_list", arg);

    o->watches = fn;
    for (size_t i = 0; i < count; i++)
        args_key(a, "wt:", ids[i], "");
    for (size_t i = 0; i < count; i++)
        args_key(a, "se:", ids[i], "");
    args_u64(a, ttl_ms);
    for (size_t i = 0; i < count; i++)
        args_add(a, ids[i]);
    store_args_send(a, on_watches, o);
}
