#include "common/store_hook.h"

#include "common/id.h"
#include "common/mem.h"
#include "common/store_args.h"
#include "common/store_inside.h"
#include "common/store_reply.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>

enum { LENGTH_DIGITS = 9 };

struct hook_op {
    struct store *s;
    store_hook_fn *hook; /* one of the three */
    store_heard_fn *heard;
    store_left_fn *left;
    void *arg;
};

static struct hook_op *op_new(struct store *s, void *arg)
{
    struct hook_op *o = mem_zalloc(sizeof(*o));

    o->s = s;
    o->arg = arg;
    return o;
}

static void on_hook(void *arg, enum err e, const struct redisReply *r)
{
    struct hook_op *o = arg;

    if (e == ERR_OK && r->type == REDIS_REPLY_NIL)
        e = ERR_NOT_FOUND;
    else if (e == ERR_OK && reply_is(r, "ENDED"))
        e = ERR_TERMINAL;
    else if (e == ERR_OK && reply_is(r, "FULL"))
        e = ERR_LIMIT;
    else if (e == ERR_OK && !reply_is(r, "OK") && !reply_is(r, "KNOWN"))
        e = store_bad_answer(o->s, "hook");
    o->hook(o->arg, e);
    free(o);
}

void store_hook(struct store *s, struct span id, unsigned partition, struct span body,
                store_hook_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "hook", partition);
    struct hook_op *o = op_new(s, arg);

    o->hook = fn;
    args_key(a, "t:", id, "");
    args_add(a, id);
    args_add(a, body);
    store_args_send(a, on_hook, o);
}

static void on_heard(void *arg, enum err e, const struct redisReply *r)
{
    struct hook_op *o = arg;
    enum store_verdict v = STORE_V_OK;
    struct span calls = {NULL, 0};
    uint64_t at = 0;

    if (e == ERR_OK && (!reply_array(r, 1) || !store_read_verdict(r->element[0], &v) ||
                        (v == STORE_V_OK && (r->elements < 3 || !reply_u64(r->element[2], &at)))))
        e = store_bad_answer(o->s, "heard");
    if (e == ERR_OK && v == STORE_V_OK)
        calls = reply_span(r->element[1]);
    o->heard(o->arg, e, v, calls, at);
    free(o);
}

void store_heard(struct store *s, const struct store_held *h, uint64_t forget, store_heard_fn *fn,
                 void *arg)
{
    unsigned partition = 0;
    struct store_args *a;
    struct hook_op *o = op_new(s, arg);

    if (s->partitions > 1 && !id_parse(h->id, s->partitions, &partition))
        partition = 0;
    a = store_args(s, "heard", partition);
    o->heard = fn;
    args_key(a, "t:", h->id, "");
    args_add(a, h->id);
    args_u64(a, h->fence);
    args_u64(a, forget);
    store_args_send(a, on_heard, o);
}

bool store_hook_next(struct span *calls, struct span *body)
{
    size_t n = 0;
    size_t i = 0;

    while (i < calls->n && i < LENGTH_DIGITS && calls->p[i] >= '0' && calls->p[i] <= '9')
        n = n * 10 + (size_t)(calls->p[i++] - '0');
    if (i == 0 || i >= calls->n || calls->p[i] != ' ' || n > calls->n - i - 1)
        return false;
    *body = (struct span){calls->p + i + 1, n};
    *calls = (struct span){body->p + n, calls->n - i - 1 - n};
    return true;
}

static void on_left(void *arg, enum err e, const struct redisReply *r)
{
    struct hook_op *o = arg;
    struct store_left *left = NULL;
    size_t count = 0;

    if (e == ERR_OK && !reply_array(r, 0))
        e = store_bad_answer(o->s, "abandoned");
    if (e == ERR_OK) {
        left = mem_alloc((r->elements / 2 + 1) * sizeof(*left));
        for (; count < r->elements / 2; count++)
            left[count] = (struct store_left){reply_span(r->element[2 * count]),
                                              reply_span(r->element[2 * count + 1])};
    }
    o->left(o->arg, e, left, count);
    free(left);
    free(o);
}

void store_abandoned(struct store *s, unsigned partition, const struct span *tools,
                     size_t tool_count, const struct store_left *done, size_t done_count,
                     store_left_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "abandoned", partition);
    struct hook_op *o = op_new(s, arg);

    o->left = fn;
    for (size_t i = 0; i < tool_count; i++)
        args_key(a, "ab:", tools[i], "");
    args_u64(a, tool_count);
    for (size_t i = 0; i < tool_count; i++)
        args_add(a, tools[i]);
    for (size_t i = 0; i < done_count; i++) {
        args_add(a, done[i].tool);
        args_add(a, done[i].line);
    }
    store_args_send(a, on_left, o);
}
