#include "common/store_args.h"

#include "common/mem.h"
#include "common/store_inside.h"

#include <assert.h>
#include <stdio.h>

enum { TEXT_MAX = 256 * 1024 };

struct store_args {
    struct store *s;
    struct store_call call;
    bool overflow;
    size_t used;
    struct span v[STORE_ARGS_MAX];
    char text[TEXT_MAX]; /* composed keys and numbers */
};

struct store_args *store_args_new(struct store *s)
{
    struct store_args *a = mem_zalloc(sizeof(*a));

    a->s = s;
    a->call.args = a->v;
    return a;
}

struct store_args *store_args(struct store *s, const char *fn, unsigned partition)
{
    struct store_args *a = s->args;

    a->call.fn = fn;
    a->call.partition = partition;
    a->call.keys = 0;
    a->call.count = 0;
    a->used = 0;
    a->overflow = false;
    return a;
}

static bool fits(struct store_args *a, size_t bytes)
{
    if (a->call.count == STORE_ARGS_MAX || bytes > sizeof(a->text) - a->used)
        a->overflow = true;
    return !a->overflow;
}

void args_key(struct store_args *a, const char *head, struct span name, const char *tail)
{
    size_t h = strlen(head);
    size_t t = strlen(tail);
    char *at = a->text + a->used;

    assert(a->call.keys == a->call.count);
    if (!fits(a, h + name.n + t))
        return;
    memcpy(at, head, h);
    if (name.n > 0)
        memcpy(at + h, name.p, name.n);
    memcpy(at + h + name.n, tail, t);
    a->used += h + name.n + t;
    a->v[a->call.count++] = (struct span){at, h + name.n + t};
    a->call.keys++;
}

void args_add(struct store_args *a, struct span s)
{
    if (fits(a, 0))
        a->v[a->call.count++] = s;
}

void args_text(struct store_args *a, const char *text)
{
    args_add(a, span_of(text));
}

void args_u64(struct store_args *a, uint64_t n)
{
    char digits[20];
    char *at = a->text + a->used;
    size_t k = 0;

    if (!fits(a, sizeof(digits)))
        return;
    do
        digits[sizeof(digits) - ++k] = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    memcpy(at, digits + sizeof(digits) - k, k);
    a->used += k;
    args_add(a, (struct span){at, k});
}

void args_flag(struct store_args *a, bool on)
{
    args_add(a, on ? SPAN("1") : SPAN("0"));
}

void store_args_send(struct store_args *a, store_reply_fn *fn, void *arg)
{
    if (a->overflow)
        store_fail(a->s, ERR_TOO_BIG, fn, arg);
    else
        store_send(a->s, &a->call, fn, arg);
}
