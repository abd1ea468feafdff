/* store_beat and store_release: one call of ours, as many functions as it takes. A worker may hold
 * any number of tasks; one function touches at most CHUNK of them. */
#include "common/id.h"
#include "common/mem.h"
#include "common/store_args.h"
#include "common/store_inside.h"
#include "common/store_job.h"
#include "common/store_reply.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>

enum { CHUNK = 128 };

struct held_op {
    struct store *s;
    store_beat_fn *beat; /* one of the two */
    store_verdict_fn *release;
    void *arg;
    size_t pending;
    enum err e; /* the first failure */
    size_t lost_count;
    struct span *lost; /* into lost_text */
    char *lost_text; /* ID_LEN each */
};

static void part_done(struct held_op *o, enum err e)
{
    if (e != ERR_OK && o->e == ERR_OK)
        o->e = e;
    if (--o->pending > 0)
        return;
    if (o->beat != NULL)
        o->beat(o->arg, o->e, o->lost, o->e == ERR_OK ? o->lost_count : 0);
    else
        o->release(o->arg, o->e, STORE_V_OK);
    free(o->lost);
    free(o->lost_text);
    free(o);
}

static void on_beat(void *arg, enum err e, const struct redisReply *r)
{
    struct held_op *o = arg;

    if (e == ERR_OK && !reply_array(r, 0))
        e = store_bad_answer(o->s, "beat");
    for (size_t i = 0; e == ERR_OK && i < r->elements; i++) {
        struct span id = reply_span(r->element[i]);
        char *at = o->lost_text + o->lost_count * ID_LEN;

        if (id.n != ID_LEN)
            continue;
        memcpy(at, id.p, ID_LEN);
        o->lost[o->lost_count++] = (struct span){at, ID_LEN};
    }
    part_done(o, e);
}

static void on_released(void *arg, enum err e, const struct redisReply *r)
{
    struct held_op *o = arg;

    if (e == ERR_OK && !reply_array(r, 0))
        e = store_bad_answer(o->s, "release");
    part_done(o, e);
}

static void held_part(struct store_args *a, const struct store_held *held, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        args_add(a, held[i].id);
        args_u64(a, held[i].fence);
    }
}

static struct store_args *held_start(struct store *s, const char *name, unsigned partition,
                                     const struct store_held *held, size_t count)
{
    struct store_args *a = store_args(s, name, partition);

    args_key(a, "ls", (struct span){NULL, 0}, "");
    for (size_t i = 0; i < count; i++)
        args_key(a, "t:", held[i].id, "");
    return a;
}

static struct held_op *held_new(struct store *s, size_t count, void *arg)
{
    struct held_op *o = mem_zalloc(sizeof(*o));

    o->s = s;
    o->arg = arg;
    o->pending = count == 0 ? 1 : (count + CHUNK - 1) / CHUNK;
    return o;
}

void store_beat(struct store *s, unsigned partition, const struct store_worker *w,
                const struct store_held *held, size_t count, store_beat_fn *fn, void *arg)
{
    struct held_op *o = held_new(s, count, arg);

    o->beat = fn;
    o->lost = mem_alloc((count + 1) * sizeof(*o->lost));
    o->lost_text = mem_alloc((count + 1) * ID_LEN);
    for (size_t at = 0; at == 0 || at < count; at += CHUNK) {
        size_t n = count - at < CHUNK ? count - at : CHUNK;
        struct store_args *a = held_start(s, "beat", partition, held + at, n);

        args_add(a, w->wid);
        args_u64(a, w->lease_ms);
        held_part(a, held + at, n);
        store_args_send(a, on_beat, o);
    }
}

void store_release(struct store *s, unsigned partition, const struct store_held *held, size_t count,
                   store_verdict_fn *fn, void *arg)
{
    struct held_op *o = held_new(s, count, arg);

    o->release = fn;
    for (size_t at = 0; at == 0 || at < count; at += CHUNK) {
        size_t n = count - at < CHUNK ? count - at : CHUNK;
        struct store_args *a = held_start(s, "release", partition, held + at, n);

        held_part(a, held + at, n);
        store_args_send(a, on_released, o);
    }
}
