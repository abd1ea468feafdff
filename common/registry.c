#include "common/registry.h"

#include "common/id.h"
#include "common/mem.h"
#include "common/store_args.h"
#include "common/store_inside.h"
#include "common/store_reply.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

enum { TOOL_FIELDS = 5, WORKER_FIELDS = 5 };

/* An announcement: each partition is told which pool serves what, then the installation which
 * tools there are. One link keeps that order, so a tool is listed only when it can be woken for. */
struct announcement {
    struct store *s;
    registry_announce_fn *fn;
    void *arg;
    unsigned pending;
    enum err e;
    struct span *conflicts;
    size_t conflict_count;
    struct registry_wanted *wanted;
    size_t wanted_count;
};

static void part_done(struct announcement *n, enum err e)
{
    struct registry_announced r = {.conflicts = n->conflicts, .wanted = n->wanted};

    if (e != ERR_OK && n->e == ERR_OK)
        n->e = e;
    if (--n->pending > 0)
        return;
    if (n->e == ERR_OK) {
        r.conflict_count = n->conflict_count;
        r.wanted_count = n->wanted_count;
    }
    n->fn(n->arg, n->e, &r);
    for (size_t i = 0; i < n->conflict_count; i++)
        free((char *)(uintptr_t)n->conflicts[i].p);
    for (size_t i = 0; i < n->wanted_count; i++) {
        free((char *)(uintptr_t)n->wanted[i].server.p);
        free((char *)(uintptr_t)n->wanted[i].uri.p);
    }
    free(n->conflicts);
    free(n->wanted);
    free(n);
}

static void on_served(void *arg, enum err e, const struct redisReply *r)
{
    struct announcement *n = arg;

    if (e == ERR_OK && !reply_is(r, "OK"))
        e = store_bad_answer(n->s, "serve");
    part_done(n, e);
}

static struct span copy_of(const struct redisReply *r)
{
    struct span s = reply_span(r);

    return s.p != NULL ? (struct span){mem_dup(s.p, s.n), s.n} : s;
}

static void take_announced(struct announcement *n, const struct redisReply *r)
{
    const struct redisReply *conflicts = r->element[0];
    const struct redisReply *wanted = r->element[1];

    n->conflicts = mem_zalloc((conflicts->elements + 1) * sizeof(*n->conflicts));
    for (size_t i = 0; i < conflicts->elements; i++)
        n->conflicts[n->conflict_count++] = copy_of(conflicts->element[i]);
    n->wanted = mem_zalloc((wanted->elements / 2 + 1) * sizeof(*n->wanted));
    for (size_t i = 0; i + 1 < wanted->elements; i += 2)
        n->wanted[n->wanted_count++] = (struct registry_wanted){
            .server = copy_of(wanted->element[i]), .uri = copy_of(wanted->element[i + 1])};
}

static void on_announced(void *arg, enum err e, const struct redisReply *r)
{
    struct announcement *n = arg;

    if (e == ERR_OK &&
        (!reply_array(r, 2) || !reply_array(r->element[0], 0) || !reply_array(r->element[1], 0)))
        e = store_bad_answer(n->s, "announce");
    if (e == ERR_OK)
        take_announced(n, r);
    part_done(n, e);
}

static void serve(struct announcement *n, unsigned partition, struct span pool,
                  const struct registry_tool *tools, size_t count)
{
    struct store_args *a = store_args(n->s, "serve", partition);

    for (size_t i = 0; i < count; i++)
        args_key(a, "pl:", tools[i].name, "");
    args_add(a, pool);
    for (size_t i = 0; i < count; i++)
        args_add(a, tools[i].name);
    store_args_send(a, on_served, n);
}

static void announce(struct announcement *n, const struct registry_worker *w,
                     const struct registry_tool *tools, size_t count)
{
    char(*digests)[23] = mem_alloc((count + 1) * sizeof(*digests));
    struct store_args *a = store_args(n->s, "announce", STORE_GLOBAL);

    args_key(a, "tools", (struct span){NULL, 0}, "");
    args_key(a, "seen", (struct span){NULL, 0}, "");
    args_key(a, "tv", (struct span){NULL, 0}, "");
    args_key(a, "ws", (struct span){NULL, 0}, "");
    args_key(a, "w:", w->wid, "");
    for (size_t i = 0; i < count; i++)
        if (tools[i].name.n > 1 && tools[i].name.p[0] == '@')
            args_key(a, "wn:", (struct span){tools[i].name.p + 1, tools[i].name.n - 1}, "");
    args_add(a, w->wid);
    args_add(a, w->pool);
    args_add(a, w->info);
    args_u64(a, w->started_ms);
    for (size_t i = 0; i < count; i++) {
        struct span parts[] = {tools[i].policy, tools[i].definition};

        id_digest(digests[i], parts, 2);
        args_add(a, tools[i].name);
        args_text(a, digests[i]);
        args_add(a, tools[i].policy);
        args_add(a, tools[i].definition);
    }
    store_args_send(a, on_announced, n);
    free(digests);
}

void registry_announce(struct store *s, const struct registry_worker *w,
                       const struct registry_tool *tools, size_t count, registry_announce_fn *fn,
                       void *arg)
{
    struct announcement *n = mem_zalloc(sizeof(*n));
    unsigned partitions = count > 0 ? store_partitions(s) : 0;

    n->s = s;
    n->fn = fn;
    n->arg = arg;
    n->pending = partitions + 1;
    for (unsigned p = 0; p < partitions; p++)
        serve(n, p, w->pool, tools, count);
    announce(n, w, tools, count);
    registry_tell_changes(s);
}

static void on_left(void *arg, enum err e, const struct redisReply *r)
{
    (void)arg;
    (void)e;
    (void)r;
}

void registry_leave(struct store *s, struct span wid)
{
    struct store_args *a = store_args(s, "leave", STORE_GLOBAL);

    args_key(a, "w:", wid, "");
    args_key(a, "ws", (struct span){NULL, 0}, "");
    args_key(a, "tools", (struct span){NULL, 0}, "");
    args_key(a, "seen", (struct span){NULL, 0}, "");
    args_key(a, "tv", (struct span){NULL, 0}, "");
    args_add(a, wid);
    store_args_send(a, on_left, NULL);
}

struct reading {
    struct store *s;
    registry_read_fn *tools;
    registry_workers_fn *workers;
    void *arg;
    char known[REGISTRY_MARK_LEN + 1];
};

static int by_name(const void *a, const void *b)
{
    const struct span x = ((const struct registry_tool *)a)->name;
    const struct span y = ((const struct registry_tool *)b)->name;
    int order = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);

    return order != 0 ? order : (x.n > y.n) - (x.n < y.n);
}

static bool read_tool(struct redisReply *const *f, struct registry_tool *t)
{
    t->name = reply_span(f[0]);
    t->conflict = reply_flag(f[2]);
    t->policy = reply_span(f[3]);
    t->definition = reply_span(f[4]);
    return t->name.n > 0 && reply_u64(f[1], &t->seen_ms_ago);
}

static enum err read_tools(const struct reading *g, const struct redisReply *r,
                           struct registry_tool *tools, size_t *n)
{
    for (size_t i = 1; i < r->elements; i += TOOL_FIELDS)
        if (!read_tool(r->element + i, &tools[(*n)++]))
            return store_bad_answer(g->s, "tools");
    if (*n > 1)
        qsort(tools, *n, sizeof(*tools), by_name);
    return ERR_OK;
}

static void on_tools(void *arg, enum err e, const struct redisReply *r)
{
    struct reading *g = arg;
    struct registry_tool *tools = NULL;
    struct span mark = {NULL, 0};
    size_t n = 0;

    if (e == ERR_OK && (!reply_array(r, 1) || (r->elements - 1) % TOOL_FIELDS != 0 ||
                        reply_span(r->element[0]).n != REGISTRY_MARK_LEN))
        e = store_bad_answer(g->s, "tools");
    if (e == ERR_OK) {
        mark = reply_span(r->element[0]);
        if (r->elements == 1 && span_is(mark, g->known))
            e = ERR_EXISTS;
    }
    if (e == ERR_OK) {
        tools = mem_zalloc((r->elements / TOOL_FIELDS + 1) * sizeof(*tools));
        e = read_tools(g, r, tools, &n);
    }
    g->tools(g->arg, e, tools, e == ERR_OK ? n : 0, mark);
    free(tools);
    free(g);
}

void registry_read(struct store *s, uint64_t grace_ms, struct span known, registry_read_fn *fn,
                   void *arg)
{
    struct store_args *a = store_args(s, "tools", STORE_GLOBAL);
    struct reading *g = mem_zalloc(sizeof(*g));

    g->s = s;
    g->tools = fn;
    g->arg = arg;
    if (known.n == REGISTRY_MARK_LEN)
        memcpy(g->known, known.p, known.n);
    args_key(a, "tools", (struct span){NULL, 0}, "");
    args_key(a, "seen", (struct span){NULL, 0}, "");
    args_u64(a, grace_ms);
    args_text(a, g->known);
    store_args_send(a, on_tools, g);
}

static bool read_worker(struct redisReply *const *f, struct registry_worker *w)
{
    w->wid = reply_span(f[0]);
    w->pool = reply_span(f[1]);
    w->info = reply_span(f[2]);
    return w->wid.n > 0 && reply_u64(f[3], &w->started_ms) && reply_u64(f[4], &w->seen_ms_ago);
}

static void on_workers(void *arg, enum err e, const struct redisReply *r)
{
    struct reading *g = arg;
    struct registry_worker *workers = NULL;
    size_t n = 0;

    if (e == ERR_OK && (!reply_array(r, 0) || r->elements % WORKER_FIELDS != 0))
        e = store_bad_answer(g->s, "workers");
    if (e == ERR_OK)
        workers = mem_zalloc((r->elements / WORKER_FIELDS + 1) * sizeof(*workers));
    for (size_t i = 0; e == ERR_OK && i < r->elements; i += WORKER_FIELDS)
        if (!read_worker(r->element + i, &workers[n++]))
            e = store_bad_answer(g->s, "workers");
    g->workers(g->arg, e, workers, e == ERR_OK ? n : 0);
    free(workers);
    free(g);
}

void registry_workers(struct store *s, registry_workers_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "workers", STORE_GLOBAL);
    struct reading *g = mem_zalloc(sizeof(*g));

    g->s = s;
    g->workers = fn;
    g->arg = arg;
    args_key(a, "ws", (struct span){NULL, 0}, "");
    store_args_send(a, on_workers, g);
}
