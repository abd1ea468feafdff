#include "deploy/cli/tools.h"

#include "common/json.h"
#include "deploy/cli/command.h"
#include "deploy/cli/follow.h"

enum { CURSOR_MAX = 8192, PAGES_MAX = 10000 };

/* One page; its cursor is left in params for the next one. False: this was the last. */
static bool take_page(struct span result, const char *items, tools_item_fn *fn, void *arg,
                      struct buf *params)
{
    struct span list = json_get(result, items);
    struct span next = json_get(result, "nextCursor");
    struct span name;
    struct span item;
    size_t cursor = 0;

    while (json_type(list) == JSON_ARRAY && json_next(list, &cursor, &name, &item))
        if (!fn(arg, item))
            return false;
    if (json_type(next) != JSON_STRING)
        return false;
    buf_reset(params);
    buf_adds(params, "{\"cursor\":");
    buf_add_span(params, next);
    buf_addc(params, '}');
    return buf_ok(params);
}

int tools_walk(struct mcp *m, const struct conf *c, const char *method, const char *items,
               tools_item_fn *fn, void *arg)
{
    struct mcp_reply r;
    struct buf params;
    struct buf why;
    int status = EXIT_OK;
    bool more = true;

    mcp_reply_init(&r);
    buf_init(&params, CURSOR_MAX);
    buf_init(&why, 4096);
    buf_adds(&params, "{}");
    for (unsigned page = 0; more && page < PAGES_MAX; page++) {
        enum mcp_end end = mcp_call(m, method, buf_span(&params), NULL, NULL, &r, &why);

        if (end != MCP_RESULT)
            status = follow_print(c, end, &r, &why);
        more = end == MCP_RESULT && take_page(r.value, items, fn, arg, &params);
    }
    mcp_reply_fini(&r);
    buf_fini(&params);
    buf_fini(&why);
    return status;
}

enum tool_support tools_support(struct span tool)
{
    struct span support = json_get(json_get(tool, "execution"), "taskSupport");

    if (json_is(support, "required"))
        return TOOL_ONLY_TASKS;
    return json_is(support, "optional") ? TOOL_MAY_TASK : TOOL_NO_TASKS;
}

struct search {
    const char *name;
    enum tool_support support;
    bool found;
};

static bool on_tool(void *arg, struct span tool)
{
    struct search *s = arg;

    s->found = json_is(json_get(tool, "name"), s->name);
    if (s->found)
        s->support = tools_support(tool);
    return !s->found;
}

int tools_look_up(struct mcp *m, const struct conf *c, const char *name, enum tool_support *support)
{
    struct search s = {.name = name};
    int status = tools_walk(m, c, "tools/list", "tools", on_tool, &s);

    if (status != EXIT_OK)
        return status;
    if (!s.found)
        return complain(EXIT_FAILED, "there is no tool \"%.128s\"; errand tools lists them", name);
    *support = s.support;
    return EXIT_OK;
}
