#include "worker/runners.h"

#include "worker/run/c.h"
#include "worker/run/command.h"
#include "worker/run/mcp.h"

/* A process that runs handlers leaves its children to them: they are not ours to reap. */
static void open_children(struct runners *all, struct event_base *base)
{
    if (all->children == NULL)
        all->children = children_new(base);
}

static void open_commands(struct runners *all, struct event_base *base)
{
    open_children(all, base);
    all->v[TOOL_COMMAND] = command_new(all->children, &slots_sink);
}

void runners_serve(struct runners *all, struct event_base *base, const struct tools *tools)
{
    struct peer_world world = {.base = base};

    if (all->servers == NULL && tools->server_n == 0)
        return;
    if (all->servers == NULL) {
        open_children(all, base);
        all->fetcher = fetcher_new(base);
        world.children = all->children;
        world.fetcher = all->fetcher;
        all->servers = servers_new(&world, all->on_servers, all->arg);
        all->v[TOOL_MCP] = mcp_runner_new(all->servers, &slots_sink);
    }
    servers_set(all->servers, tools->servers, tools->server_n);
}

void runners_open(struct runners *all, struct event_base *base, struct slots *slots,
                  const struct roster *roster, unsigned threads)
{
    if (all->v[TOOL_COMMAND] == NULL && roster_has(roster, TOOL_COMMAND))
        open_commands(all, base);
    if (all->v[TOOL_HANDLER] == NULL && roster_has(roster, TOOL_HANDLER))
        all->v[TOOL_HANDLER] = c_new(base, &slots_sink, threads);
    if (all->v[TOOL_HTTP] == NULL && roster_has(roster, TOOL_HTTP))
        all->v[TOOL_HTTP] = http_runner_new(base, &slots_sink, &all->http);
    for (int i = 0; i < TOOL_RUN_COUNT; i++)
        slots_runner(slots, (enum tool_run)i, all->v[i]);
}

void runners_close(struct runners *all)
{
    if (all->servers != NULL)
        servers_free(all->servers);
    if (all->fetcher != NULL)
        fetcher_free(all->fetcher);
    if (all->children != NULL)
        children_free(all->children);
    for (int i = 0; i < TOOL_RUN_COUNT; i++)
        if (all->v[i] != NULL)
            all->v[i]->free(all->v[i]);
}

bool runners_are_deaf(const struct runners *all)
{
    return all->v[TOOL_HANDLER] != NULL && c_is_busy(all->v[TOOL_HANDLER]);
}
