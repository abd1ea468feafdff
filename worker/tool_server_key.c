#include "common/cfg.h"
#include "common/json.h"
#include "common/mem.h"
#include "worker/tool_field.h"
#include "worker/tool_server_inside.h"
#include "worker/tool_text.h"
#include "worker/tool_wrapped.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    START_MAX_MS = 3600 * 1000,
    LIST_MAX = 256,
    PREFIX_MAX = 48,
    WHY_MAX = 1024,
    SHOWN_MAX = 64,
};

/* --- sentences --- */

bool tool_server_refuse(const struct entry *e, const char *key, const char *what)
{
    buf_addf(e->why, "%s: ", e->s->where);
    if (key != NULL)
        buf_addf(e->why, "\"%s\": ", key);
    buf_adds(e->why, what);
    return false;
}

/* For values that are no secrets. */
static bool refuse_value(const struct entry *e, const char *key, struct span value,
                         const char *what)
{
    buf_addf(e->why, "%s: \"%s\": ", e->s->where, key);
    buf_add(e->why, value.p, value.n < SHOWN_MAX ? value.n : SHOWN_MAX);
    buf_addf(e->why, "%s %s", value.n < SHOWN_MAX ? "" : "...", what);
    return false;
}

/* --- one reader a kind of member --- */

static void add(struct tool_list *l, char *text)
{
    l->items = mem_grow(l->items, (l->n + 2) * sizeof(*l->items));
    l->items[l->n++] = text;
    l->items[l->n] = NULL;
}

static bool read_command(struct entry *e, const struct key *k, struct span value)
{
    char *text = tool_text(value);

    if (text == NULL || text[0] == '\0') {
        free(text);
        return refuse_value(e, k->name, value, "is no program; write a text, like \"npx\"");
    }
    if (e->s->command.n > 0)
        free(e->s->command.items[0]); /* the place that "args" has kept for it */
    else
        add(&e->s->command, NULL);
    e->s->command.items[0] = field_path(e->src, text, true);
    return true;
}

static bool read_texts(struct entry *e, const struct key *k, struct span value, struct tool_list *l)
{
    size_t cursor = 0;
    struct span name;
    struct span item;

    if (json_type(value) != JSON_ARRAY)
        return refuse_value(e, k->name, value, "is no list; write a list of texts, like [\"-y\"]");
    while (json_next(value, &cursor, &name, &item)) {
        char *text = tool_text(item);

        if (text == NULL)
            return refuse_value(e, k->name, item, "is no text; write a list of texts");
        add(l, text);
        if (l->n > LIST_MAX)
            return tool_server_refuse(e, k->name, "it has more than 256 elements");
    }
    return true;
}

static bool read_args(struct entry *e, const struct key *k, struct span value)
{
    if (e->s->command.n == 0)
        add(&e->s->command, mem_strdup(""));
    return read_texts(e, k, value, &e->s->command);
}

static bool read_list(struct entry *e, const struct key *k, struct span value)
{
    struct tool_list *l = (struct tool_list *)(void *)((char *)e->s + k->offset);

    e->s->has_allow = e->s->has_allow || l == &e->s->allow;
    return read_texts(e, k, value, l);
}

static bool is_variable(const char *name)
{
    return name[0] != '\0' && strchr(name, '=') == NULL;
}

static bool is_header(const char *name)
{
    static const char token[] = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz";

    return name[0] != '\0' && name[strspn(name, token)] == '\0';
}

static bool is_ours(const char *header)
{
    static const char *const ours[] = {"accept",       "content-type",   "content-length",
                                       "host",         "mcp-session-id", "mcp-protocol-version",
                                       "last-event-id"};

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (strcasecmp(header, ours[i]) == 0)
            return true;
    return false;
}

static bool check_pair(const struct entry *e, const struct key *k, const char *name,
                       const char *value)
{
    bool is_env = k->offset == offsetof(struct tool_server, env);
    struct buf why;
    bool ok;

    if (is_env && !is_variable(name))
        return tool_server_refuse(e, k->name, "a name of a variable is empty or holds \"=\"");
    if (!is_env && !is_header(name))
        return tool_server_refuse(e, k->name,
                                  "a name is no HTTP header's; write {\"Authorization\": \"...\"}");
    if (!is_env && is_ours(name))
        return tool_server_refuse(e, k->name,
                                  "it sets a header that MCP itself needs; take that one out");
    if (!is_env && strpbrk(value, "\r\n") != NULL)
        return tool_server_refuse(e, k->name, "a header's value holds a line break");
    buf_init(&why, WHY_MAX);
    ok = text_check(value, &why);
    if (!ok)
        (void)tool_server_refuse(e, k->name, buf_span(&why).p);
    buf_fini(&why);
    return ok;
}

/* Values are never shown: they may be secrets. */
static bool read_pairs(struct entry *e, const struct key *k, struct span value)
{
    struct tool_list *l = (struct tool_list *)(void *)((char *)e->s + k->offset);
    size_t cursor = 0;
    struct span name;
    struct span item;

    if (json_type(value) != JSON_OBJECT)
        return tool_server_refuse(e, k->name, "it is no object; write {\"NAME\": \"value\"}");
    while (json_next(value, &cursor, &name, &item)) {
        char *text = tool_text(item);

        if (text == NULL)
            return tool_server_refuse(e, k->name,
                                      "a value is no text; write {\"NAME\": \"value\"}");
        add(l, tool_text((struct span){name.p - 1, name.n + 2}));
        add(l, text);
        if (l->items[l->n - 2] == NULL || !check_pair(e, k, l->items[l->n - 2], text))
            return false;
    }
    return true;
}

static bool read_cwd(struct entry *e, const struct key *k, struct span value)
{
    char *text = tool_text(value);

    if (text == NULL || text[0] == '\0') {
        free(text);
        return refuse_value(e, k->name, value, "is no folder; write a path in quotes");
    }
    free(e->s->cwd);
    e->s->cwd = field_path(e->src, text, false);
    return true;
}

static bool read_url(struct entry *e, const struct key *k, struct span value)
{
    e->s->url = tool_text(value);
    if (e->s->url != NULL &&
        (strncmp(e->s->url, "http://", 7) == 0 || strncmp(e->s->url, "https://", 8) == 0) &&
        strpbrk(e->s->url, " \t\r\n") == NULL)
        return true;
    return tool_server_refuse(e, k->name,
                              "it is no http or https address; write \"https://host/mcp\"");
}

static bool read_prefix(struct entry *e, const struct key *k, struct span value)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789_.-";
    char *text = tool_text(value);

    if (text == NULL || strlen(text) > PREFIX_MAX || text[strspn(text, allowed)] != '\0') {
        free(text);
        return refuse_value(e, k->name, value,
                            "is no prefix; write at most 48 of A-Z a-z 0-9 _ . -");
    }
    free(e->s->prefix);
    e->s->prefix = text;
    return true;
}

static bool read_type(struct entry *e, const struct key *k, struct span value)
{
    bool over_http = json_is(value, "http") || json_is(value, "streamable-http");
    const char *other = over_http ? "command" : "url";

    if (json_is(value, "sse"))
        return tool_server_refuse(e, k->name,
                                  "\"sse\" is the transport of 2024; this worker speaks \"http\" "
                                  "(Streamable HTTP) and \"stdio\"");
    if (!over_http && !json_is(value, "stdio"))
        return refuse_value(e, k->name, value, "is neither \"stdio\" nor \"http\"");
    if (json_get(e->members, other).p != NULL)
        return tool_server_refuse(e, k->name,
                                  over_http ? "with \"http\" there is no \"command\""
                                            : "with \"stdio\" there is no \"url\"");
    return true;
}

static bool read_start(struct entry *e, const struct key *k, struct span value)
{
    char *text = tool_text(value);
    struct buf why;
    bool ok;

    if (text == NULL)
        return refuse_value(e, k->name, value, "is no duration; write it in quotes, like \"30s\"");
    buf_init(&why, WHY_MAX);
    ok = cfg_time(text, &e->s->start_ms, &why);
    if (!ok)
        (void)tool_server_refuse(e, k->name, buf_span(&why).p);
    else if (e->s->start_ms < 1000 || e->s->start_ms > START_MAX_MS)
        ok = refuse_value(e, k->name, value, "is out of range; write 1s at least and 1h at most");
    buf_fini(&why);
    free(text);
    return ok;
}

static bool read_tools(struct entry *e, const struct key *k, struct span value)
{
    size_t cursor = 0;
    struct span name;
    struct span item;

    if (json_type(value) != JSON_OBJECT)
        return refuse_value(e, k->name, value,
                            "is no object; write {\"name\": {\"timeout\": \"5m\"}}");
    while (json_next(value, &cursor, &name, &item))
        if (!tool_wrapped_check(e->s, name, item, e->why))
            return false;
    e->s->overrides = mem_dup(value.p, value.n);
    return true;
}

#define AT(member) .offset = offsetof(struct tool_server, member)

const struct key tool_server_keys[] = {
    {.name = "command", .read = read_command},
    {.name = "args", .read = read_args},
    {.name = "env", .read = read_pairs, AT(env)},
    {.name = "cwd", .read = read_cwd},
    {.name = "url", .read = read_url},
    {.name = "headers", .read = read_pairs, AT(headers)},
    {.name = "type", .read = read_type},
    {.name = "prefix", .read = read_prefix},
    {.name = "allow", .read = read_list, AT(allow)},
    {.name = "deny", .read = read_list, AT(deny)},
    {.name = "startTimeout", .read = read_start},
    {.name = "tools", .read = read_tools},
    {.name = NULL},
};
