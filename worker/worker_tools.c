#include "common/event.h"
#include "common/registry.h"
#include "worker/worker_inside.h"

enum { WHY_MAX = 8192 };

struct tools worker_tools(const struct worker *w)
{
    struct tools all = {0};

    tools_join(&all, &w->declared);
    if (w->runners.servers != NULL)
        servers_offer(w->runners.servers, &all);
    return all;
}

/* In this order: the pool that is left has one idle worker less before it is forgotten who we
 * were, and nothing points at a tool that nobody holds. */
static void retool(struct worker *w)
{
    struct tools tools = worker_tools(w);
    struct tools old;

    lanes_leave_pool(w->lanes);
    old = roster_take(&w->roster, &tools);
    announce_tools(w->announce, &w->roster.tools);
    runners_open(&w->runners, w->base, w->slots, &w->roster, w->conf->slots);
    tools_fini(&old);
    lanes_look(w->lanes);
}

void worker_declare(struct worker *w, struct tools *tools)
{
    tools_fini(&w->declared);
    w->declared = *tools;
    *tools = (struct tools){0};
    runners_serve(&w->runners, w->base, &w->declared);
}

static void on_servers_changed(void *arg)
{
    struct worker *w = arg;

    if (w->sm.state != DRAINING)
        retool(w);
}

static void on_resource_updated(void *arg, const char *server, struct span uri)
{
    const struct worker *w = arg;

    registry_updated(w->store, span_of(server), uri);
}

const struct servers_sink worker_on_servers = {.changed = on_servers_changed,
                                               .updated = on_resource_updated};

void worker_on_hangup(evutil_socket_t sig, short what, void *arg)
{
    struct worker *w = arg;
    struct tools tools = {0};
    struct buf why;

    (void)sig;
    (void)what;
    if (w->sm.state == DRAINING)
        return;
    buf_init(&why, WHY_MAX);
    if (w->conf->reread(w->conf->arg, &tools, &why)) {
        worker_declare(w, &tools);
        retool(w);
        LOG(TOOLS_READ, N("tools", w->roster.tools.n));
    } else {
        LOG(TOOLS_KEPT, SP("why", buf_span(&why)));
    }
    tools_fini(&tools);
    buf_fini(&why);
}

void worker_on_wanted(void *arg, const struct registry_wanted *wanted, size_t count)
{
    const struct worker *w = arg;

    if (w->runners.servers != NULL)
        servers_watch(w->runners.servers, wanted, count);
}
