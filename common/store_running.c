#include "common/store_running.h"

#include "common/mem.h"
#include "common/store_args.h"
#include "common/store_inside.h"
#include "common/store_reply.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 7 };

struct op {
    struct store *s;
    union {
        store_running_fn *running;
        store_brokers_fn *brokers;
        store_may_evict_fn *may_evict;
    } fn;
    void *arg;
};

static struct op *op_new(struct store *s, void *arg)
{
    struct op *o = mem_zalloc(sizeof(*o));

    o->s = s;
    o->arg = arg;
    return o;
}

static bool read_running(struct redisReply *const *f, struct store_running *t)
{
    t->id = reply_span(f[0]);
    t->tool = reply_span(f[1]);
    t->worker = reply_span(f[2]);
    t->asks = reply_flag(f[5]);
    t->message = reply_span(f[6]);
    return t->id.n > 0 && reply_u64(f[3], &t->age_ms) && reply_u64(f[4], &t->attempt);
}

static void on_running(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    struct store_running *tasks = NULL;
    size_t n = 0;

    if (e == ERR_OK && (!reply_array(r, 0) || r->elements % FIELDS != 0))
        e = store_bad_answer(o->s, "running");
    if (e == ERR_OK) {
        tasks = mem_zalloc((r->elements / FIELDS + 1) * sizeof(*tasks));
        while (e == ERR_OK && n < r->elements / FIELDS) {
            if (!read_running(r->element + n * FIELDS, &tasks[n]))
                e = store_bad_answer(o->s, "running");
            n++;
        }
    }
    o->fn.running(o->arg, e, tasks, e == ERR_OK ? n : 0);
    free(tasks);
    free(o);
}

void store_running(struct store *s, unsigned partition, unsigned n, store_running_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "running", partition);
    struct op *o = op_new(s, arg);

    o->fn.running = fn;
    args_key(a, "ls", (struct span){NULL, 0}, "");
    args_u64(a, n);
    store_args_send(a, on_running, o);
}

/* --- brokers --- */

/* " name=value" within a line; {NULL, 0} when it is not there. */
static struct span field(struct span line, const char *name)
{
    size_t n = strlen(name);
    const char *at = memmem(line.p, line.n, name, n);
    struct span rest;
    const char *end;

    if (at == NULL)
        return (struct span){NULL, 0};
    rest = (struct span){at + n, (size_t)(line.p + line.n - at) - n};
    end = memchr(rest.p, ' ', rest.n);
    return end != NULL ? (struct span){rest.p, (size_t)(end - rest.p)} : rest;
}

static uint64_t number(struct span s)
{
    uint64_t v = 0;

    for (size_t i = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
        v = v * 10 + (uint64_t)(s.p[i] - '0');
    return v;
}

/* CLIENT LIST gives a socket's path a port: 0, which no other address has. */
static struct span without_port_0(struct span address)
{
    if (address.n > 2 && memcmp(address.p + address.n - 2, ":0", 2) == 0)
        address.n -= 2;
    return address;
}

/* The link for commands alone is named errand-broker-<id>, with nothing behind. */
static bool read_broker(struct span line, struct store_broker *b)
{
    static const char prefix[] = "errand-broker-";
    struct span name = field(line, " name=");

    if (name.n != sizeof(prefix) - 1 + 8 || memcmp(name.p, prefix, sizeof(prefix) - 1) != 0)
        return false;
    *b = (struct store_broker){.id = {name.p + sizeof(prefix) - 1, 8},
                               .address = without_port_0(field(line, " addr=")),
                               .age_s = number(field(line, " age=")),
                               .idle_s = number(field(line, " idle="))};
    return true;
}

static size_t read_brokers(struct span text, struct store_broker **out)
{
    size_t n = 0;

    while (text.p != NULL && text.n > 0) {
        const char *end = memchr(text.p, '\n', text.n);
        size_t length = end != NULL ? (size_t)(end - text.p) : text.n;
        struct store_broker one;

        if (read_broker((struct span){text.p, length}, &one)) {
            *out = mem_grow(*out, (n + 1) * sizeof(**out));
            (*out)[n++] = one;
        }
        length += end != NULL;
        text = (struct span){text.p + length, text.n - length};
    }
    return n;
}

static void on_clients(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    struct store_broker *brokers = NULL;
    size_t n = 0;

    if (e == ERR_OK && r->str == NULL)
        e = store_bad_answer(o->s, "client list");
    if (e == ERR_INTERNAL && strncmp(o->s->error, "NOPERM", 6) == 0)
        e = ERR_FORBIDDEN;
    if (e == ERR_OK)
        n = read_brokers((struct span){r->str, r->len}, &brokers);
    o->fn.brokers(o->arg, e, brokers, n);
    free(brokers);
    free(o);
}

void store_brokers(struct store *s, store_brokers_fn *fn, void *arg)
{
    static const struct span list[] = {{"CLIENT", 6}, {"LIST", 4}, {"TYPE", 4}, {"normal", 6}};
    struct op *o = op_new(s, arg);

    o->fn.brokers = fn;
    store_command(s, 4, list, on_clients, o);
}

/* --- Redis --- */

static void on_memory(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    char policy[STORE_POLICY_MAX];
    bool may = false;

    if (e == ERR_OK && r->str == NULL)
        e = store_bad_answer(o->s, "info");
    if (e == ERR_OK)
        may = store_info_may_evict((struct span){r->str, r->len}, policy);
    o->fn.may_evict(o->arg, e, may);
    free(o);
}

void store_may_evict(struct store *s, store_may_evict_fn *fn, void *arg)
{
    static const struct span info[] = {{"INFO", 4}, {"memory", 6}};
    struct op *o = op_new(s, arg);

    o->fn.may_evict = fn;
    store_command(s, 2, info, on_memory, o);
}
