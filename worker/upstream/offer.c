#include "worker/upstream/offer.h"

#include "common/event.h"
#include "common/json.h"
#include "common/mem.h"

#include <stdlib.h>

enum { WHY_MAX = 8192, DEFINITION_MAX = 64 << 20, SKIPPED_SHOWN = 20 };

/* The tools of one list. */
struct making {
    struct tools *out;
    struct tool_server *server;
    unsigned skipped;
};

/* However many a server has of them, the log has a few. */
static void skipped(struct making *m, struct span definition, const char *why)
{
    char *name;

    if (++m->skipped > SKIPPED_SHOWN)
        return;
    name = tool_text(json_get(definition, "name"));
    LOG(TOOL_SKIPPED, S("server", m->server->name), S("tool", name != NULL ? name : "?"),
        S("why", why));
    free(name);
}

static void tell_skipped(const struct making *m)
{
    struct buf why;

    if (m->skipped <= SKIPPED_SHOWN)
        return;
    buf_init(&why, WHY_MAX);
    buf_addf(&why, "%u more cannot be served", m->skipped - SKIPPED_SHOWN);
    LOG(TOOL_SKIPPED, S("server", m->server->name), S("tool", "?"), SP("why", buf_span(&why)));
    buf_fini(&why);
}

/* --- tools --- */

static bool is_allowed(const struct tool_server *s, struct span definition)
{
    char *name = tool_text(json_get(definition, "name"));
    bool ok = name == NULL || tool_server_allows(s, name);

    free(name);
    return ok;
}

static void add_tool(struct making *m, struct span definition)
{
    const char *bad = "";
    struct buf why;
    struct tool t;

    buf_init(&why, WHY_MAX);
    if (json_check(definition, &bad, NULL) != ERR_OK || json_type(definition) != JSON_OBJECT) {
        skipped(m, definition, "its definition is no object, or too deep or large");
    } else if (!is_allowed(m->server, definition)) {
        ; /* as the file says */
    } else if (!tool_server_tool(m->server, definition, &t, &why)) {
        skipped(m, definition, buf_span(&why).p);
    } else if (tools_find(m->out, span_of(t.name)) != NULL) {
        skipped(m, definition, "there is another tool of that name");
        tool_fini(&t);
    } else {
        struct tool *shared = tool_share(&t);

        tools_add(m->out, shared);
        tool_let_go(shared);
    }
    buf_fini(&why);
}

static void add_tools(struct tools *out, const struct offer_from *from)
{
    struct making m = {out, from->server, 0};
    size_t cursor = 0;
    struct span name;
    struct span item;

    if (from->items[PAGES_TOOLS].p == NULL)
        return;
    while (json_next(from->items[PAGES_TOOLS], &cursor, &name, &item)) {
        if (out->n == TOOLS_MAX) {
            skipped(&m, item, "this worker serves 500 tools at most, and the server has more");
            break;
        }
        add_tool(&m, item);
    }
    tell_skipped(&m);
}

/* --- all else --- */

static void add_prompt(struct buf *out, const char *prefix, struct span prompt)
{
    char *own = tool_text(json_get(prompt, "name"));
    size_t cursor = 0;
    struct span name;
    struct span value;
    struct buf full;

    buf_init(&full, DEFINITION_MAX);
    buf_addf(&full, "%s%s", prefix, own != NULL ? own : "");
    buf_adds(out, "{\"name\":");
    buf_add_json(out, buf_span(&full));
    while (json_next(prompt, &cursor, &name, &value)) {
        if (json_name_is(name, "name"))
            continue;
        buf_adds(out, ",\"");
        buf_add_span(out, name);
        buf_adds(out, "\":");
        buf_add_span(out, value);
    }
    buf_addc(out, '}');
    buf_fini(&full);
    free(own);
}

static void add_prompts(struct buf *out, const char *prefix, struct span prompts)
{
    size_t cursor = 0;
    struct span name;
    struct span prompt;
    bool is_first = true;

    buf_addc(out, '[');
    while (json_next(prompts, &cursor, &name, &prompt)) {
        if (json_type(json_get(prompt, "name")) != JSON_STRING)
            continue;
        if (!is_first)
            buf_addc(out, ',');
        is_first = false;
        add_prompt(out, prefix, prompt);
    }
    buf_addc(out, ']');
}

static void add_lists(struct buf *out, const struct offer_from *from)
{
    buf_addc(out, '{');
    for (int k = PAGES_RESOURCES; k < PAGES_KIND_COUNT; k++) {
        if (from->items[k].p == NULL)
            continue;
        buf_addf(out, "%s\"%s\":", out->n > 1 ? "," : "", pages_member((enum pages_kind)k));
        if (k == PAGES_PROMPTS)
            add_prompts(out, from->server->prefix, from->items[k]);
        else
            buf_add_span(out, from->items[k]);
    }
    buf_addc(out, '}');
}

static bool add_capabilities(struct buf *out, struct span all)
{
    static const char *const names[] = {"resources", "prompts", "completions"};
    bool has_any = false;

    buf_addc(out, '{');
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct span one = json_get(all, names[i]);

        if (json_type(one) != JSON_OBJECT)
            continue;
        buf_addf(out, "%s\"%s\":", has_any ? "," : "", names[i]);
        buf_add_span(out, one);
        has_any = true;
    }
    buf_addc(out, '}');
    return has_any;
}

static void add_door(struct tools *out, const struct offer_from *from)
{
    struct buf capabilities;
    struct buf lists;
    struct tool t;

    buf_init(&capabilities, DEFINITION_MAX);
    buf_init(&lists, DEFINITION_MAX);
    if (add_capabilities(&capabilities, from->capabilities)) {
        struct tool *shared;

        add_lists(&lists, from);
        tool_server_door(from->server, buf_span(&capabilities), buf_span(&lists), &t);
        shared = tool_share(&t);
        tools_add(out, shared);
        tool_let_go(shared);
    }
    buf_fini(&capabilities);
    buf_fini(&lists);
}

void offer_make(struct tools *out, const struct offer_from *from)
{
    add_tools(out, from);
    add_door(out, from);
}
