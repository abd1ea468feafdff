#include "worker/upstream/servers.h"

#include "common/event.h"
#include "common/mem.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct list node;
    struct servers *all;
    struct server *server;
    bool is_wanted;
    bool is_old; /* serves on until another of its name offers something */
    bool is_closing;
};

struct servers {
    struct peer_world world;
    const struct servers_sink *sink;
    void *arg;
    struct list list;
    void (*on_closed)(void *arg);
    void *closed_arg;
    struct event *closed;
};

static void close_if_empty(struct servers *all)
{
    struct timeval now = {0};

    if (all->on_closed != NULL && list_empty(&all->list))
        (void)event_add(all->closed, &now);
}

static void on_all_closed(evutil_socket_t fd, short what, void *arg)
{
    const struct servers *all = arg;

    (void)fd;
    (void)what;
    all->on_closed(all->closed_arg);
}

/* --- what the servers tell --- */

static void close_one(struct entry *e)
{
    e->is_closing = true;
    server_close(e->server);
}

static void close_old(struct servers *all, const char *name)
{
    LIST_EACH(&all->list, it)
    {
        struct entry *e = LIST_OF(it, struct entry, node);

        if (e->is_old && !e->is_closing && strcmp(server_conf(e->server)->name, name) == 0)
            close_one(e);
    }
}

static void on_changed(void *arg, struct server *s)
{
    const struct entry *e = arg;

    if (e->is_closing)
        return;
    if (!e->is_old && server_offers(s)->n > 0)
        close_old(e->all, server_conf(s)->name);
    e->all->sink->changed(e->all->arg);
}

static void on_updated(void *arg, struct server *s, struct span uri)
{
    const struct entry *e = arg;

    if (!e->is_closing)
        e->all->sink->updated(e->all->arg, server_conf(s)->name, uri);
}

static void on_closed(void *arg, struct server *s)
{
    struct entry *e = arg;
    struct servers *all = e->all;

    list_del(&e->node);
    server_free(s);
    free(e);
    close_if_empty(all);
}

static const struct server_sink sink = {
    .changed = on_changed, .updated = on_updated, .closed = on_closed};

/* --- which there are --- */

static bool is_same(const struct tool_server *a, const struct tool_server *b)
{
    return strcmp(a->where, b->where) == 0 && strcmp(a->cwd, b->cwd) == 0 &&
           strcmp(a->text, b->text) == 0;
}

static struct entry *find_same(const struct servers *all, const struct tool_server *conf)
{
    LIST_EACH(&all->list, it)
    {
        struct entry *e = LIST_OF(it, struct entry, node);

        if (!e->is_closing && !e->is_old && is_same(server_conf(e->server), conf))
            return e;
    }
    return NULL;
}

static void open_one(struct servers *all, struct tool_server *conf)
{
    struct entry *e = mem_zalloc(sizeof(*e));

    e->all = all;
    e->is_wanted = true;
    list_add_tail(&all->list, &e->node);
    e->server = server_open(&all->world, conf, &sink, e);
}

static bool is_declared(const char *name, struct tool_server *const *confs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(confs[i]->name, name) == 0)
            return true;
    return false;
}

void servers_set(struct servers *all, struct tool_server *const *confs, size_t count)
{
    LIST_EACH(&all->list, it)
    LIST_OF(it, struct entry, node)->is_wanted = false;
    for (size_t i = 0; i < count; i++) {
        struct entry *e = find_same(all, confs[i]);

        if (e != NULL)
            e->is_wanted = true;
        else
            open_one(all, confs[i]);
    }
    LIST_EACH(&all->list, it)
    {
        struct entry *e = LIST_OF(it, struct entry, node);

        if (e->is_wanted || e->is_closing)
            continue;
        e->is_old = is_declared(server_conf(e->server)->name, confs, count);
        if (!e->is_old)
            close_one(e);
    }
}

struct server *servers_find(const struct servers *all, const struct tool_server *conf)
{
    LIST_EACH(&all->list, it)
    {
        struct entry *e = LIST_OF(it, struct entry, node);

        if (server_conf(e->server) == conf && !e->is_closing)
            return e->server;
    }
    return NULL;
}

static void skipped(const struct server *s, const struct tool *t, const char *why)
{
    LOG(TOOL_SKIPPED, S("server", server_conf(s)->name), S("tool", t->name), S("why", why));
}

static void add_offer(struct tools *out, const struct server *s)
{
    const struct tools *offers = server_offers(s);

    for (size_t i = 0; i < offers->n; i++) {
        struct tool *t = offers->v[i];

        if (tools_find(out, span_of(t->name)) != NULL)
            skipped(s, t, "there is another tool of that name; give the server a \"prefix\"");
        else if (out->n >= TOOLS_MAX)
            skipped(s, t, "this worker serves 500 tools already");
        else
            tools_add(out, t);
    }
}

void servers_offer(const struct servers *all, struct tools *out)
{
    LIST_EACH(&all->list, it)
    {
        const struct entry *e = LIST_OF(it, struct entry, node);

        if (!e->is_closing)
            add_offer(out, e->server);
    }
}

/* --- what is watched --- */

void servers_watch(struct servers *all, const struct registry_wanted *wanted, size_t count)
{
    struct span *uris = mem_alloc((count + 1) * sizeof(*uris));

    LIST_EACH(&all->list, it)
    {
        const struct entry *e = LIST_OF(it, struct entry, node);
        size_t n = 0;

        for (size_t i = 0; i < count; i++)
            if (span_is(wanted[i].server, server_conf(e->server)->name))
                uris[n++] = wanted[i].uri;
        server_watch(e->server, uris, n);
    }
    free(uris);
}

/* --- its life --- */

struct event_base *servers_base(const struct servers *all)
{
    return all->world.base;
}

void servers_close(struct servers *all, void (*fn)(void *arg), void *arg)
{
    all->on_closed = fn;
    all->closed_arg = arg;
    LIST_EACH(&all->list, it)
    {
        struct entry *e = LIST_OF(it, struct entry, node);

        if (!e->is_closing)
            close_one(e);
    }
    close_if_empty(all);
}

struct servers *servers_new(const struct peer_world *world, const struct servers_sink *its,
                            void *arg)
{
    struct servers *all = mem_zalloc(sizeof(*all));

    all->world = *world;
    all->sink = its;
    all->arg = arg;
    list_init(&all->list);
    all->closed = evtimer_new(world->base, on_all_closed, all);
    if (all->closed == NULL)
        abort();
    return all;
}

void servers_free(struct servers *all)
{
    LIST_EACH(&all->list, it)
    {
        struct entry *e = LIST_OF(it, struct entry, node);

        server_free(e->server);
        free(e);
    }
    event_free(all->closed);
    free(all);
}
