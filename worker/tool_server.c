#include "common/json.h"
#include "common/mem.h"
#include "worker/tool_server_inside.h"
#include "worker/tool_wrapped.h"

#include <stdlib.h>
#include <string.h>

enum { START_DEFAULT_MS = 60 * 1000, WHERE_MAX = 8192, SHOWN_MAX = 64 };

/* --- the entry --- */

static bool refuse_unknown(const struct entry *e, struct span name)
{
    buf_addf(e->why, "%s: \"%.*s\": it is unknown; there are", e->s->where,
             (int)(name.n < SHOWN_MAX ? name.n : SHOWN_MAX), name.p);
    for (const struct key *k = tool_server_keys; k->name != NULL; k++)
        buf_addf(e->why, " %s,", k->name);
    tool_wrapped_names(e->why);
    return false;
}

static const struct key *key_of(struct span name)
{
    for (const struct key *k = tool_server_keys; k->name != NULL; k++)
        if (span_is(name, k->name))
            return k;
    return NULL;
}

static void add_default(struct buf *defaults, struct span name, struct span value)
{
    buf_adds(defaults, defaults->n == 1 ? "\"" : ",\"");
    buf_add_span(defaults, name);
    buf_adds(defaults, "\":");
    buf_add_span(defaults, value);
}

static bool read_members(struct entry *e)
{
    struct buf defaults;
    size_t cursor = 0;
    struct span name;
    struct span value;
    bool ok = true;

    buf_init(&defaults, e->members.n + 16);
    buf_addc(&defaults, '{');
    while (ok && json_next(e->members, &cursor, &name, &value)) {
        const struct key *k = key_of(name);

        if (k != NULL)
            ok = k->read(e, k, value);
        else if (tool_wrapped_knows(name))
            add_default(&defaults, name, value);
        else
            ok = refuse_unknown(e, name);
    }
    buf_addc(&defaults, '}');
    e->s->defaults = buf_take(&defaults);
    return ok && tool_wrapped_check(e->s, (struct span){NULL, 0}, span_of(e->s->defaults), e->why);
}

static bool has_no_twins(const struct entry *e)
{
    size_t cursor = 0;
    struct span name;
    struct span value;

    while (json_next(e->members, &cursor, &name, &value)) {
        size_t later = cursor;
        struct span other;

        while (json_next(e->members, &later, &other, &value)) {
            if (!span_equal(name, other))
                continue;
            buf_addf(e->why, "%s: \"%.*s\": it is there twice", e->s->where,
                     (int)(name.n < SHOWN_MAX ? name.n : SHOWN_MAX), name.p);
            return false;
        }
    }
    return true;
}

static bool is_whole(const struct entry *e)
{
    const struct tool_server *s = e->s;
    bool has_command = s->command.n > 0 && s->command.items[0][0] != '\0';

    if (has_command && s->url != NULL)
        return tool_server_refuse(e, NULL, "it has \"command\" and \"url\"; keep one of them");
    if (!has_command && s->url == NULL)
        return tool_server_refuse(
            e, NULL,
            "it says not where the server is; write \"command\" (and \"args\"), "
            "or \"url\"");
    if (has_command && s->headers.n > 0)
        return tool_server_refuse(e, "headers", "a command has none; write \"env\"");
    if (s->url != NULL && (s->env.n > 0 || s->command.n > 0))
        return tool_server_refuse(e, NULL,
                                  "\"args\" and \"env\" are for a command, not for \"url\"");
    return true;
}

static bool is_name(struct span name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789_.-";

    for (size_t i = 0; i < name.n; i++)
        if (strchr(allowed, name.p[i]) == NULL || name.p[i] == '\0')
            return false;
    return name.n >= 1 && name.n <= SERVER_NAME_MAX;
}

static char *where_of(const struct tool_source *src, struct span name)
{
    struct buf b;

    buf_init(&b, WHERE_MAX);
    buf_addf(&b, "%s: server \"%.*s\"", src->where,
             (int)(name.n < SERVER_NAME_MAX ? name.n : SERVER_NAME_MAX), name.p);
    return buf_take(&b);
}

struct tool_server *tool_server_read(struct span name, struct span object,
                                     const struct tool_source *src, struct buf *why)
{
    struct tool_server *s = mem_zalloc(sizeof(*s));
    struct entry e = {.s = s, .src = src, .why = why, .members = object};

    s->refs = 1;
    s->name = mem_dup(name.p, name.n);
    s->where = where_of(src, name);
    s->text = mem_dup(object.p, object.n);
    s->cwd = mem_strdup(src->dir);
    s->prefix = mem_strdup("");
    s->start_ms = START_DEFAULT_MS;
    if (!is_name(name))
        (void)tool_server_refuse(
            &e, NULL, "this is no name for a server; write 1 to 64 of A-Z a-z 0-9 _ . -");
    else if (json_type(object) != JSON_OBJECT)
        (void)tool_server_refuse(&e, NULL,
                                 "it is no object; write {\"command\": \"...\", \"args\": [...]}");
    else if (has_no_twins(&e) && read_members(&e) && is_whole(&e))
        return s;
    tool_server_let_go(s);
    return NULL;
}

/* --- its life --- */

static void list_fini(struct tool_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->items[i]);
    free(l->items);
}

struct tool_server *tool_server_hold(struct tool_server *s)
{
    s->refs++;
    return s;
}

void tool_server_let_go(struct tool_server *s)
{
    if (s == NULL || --s->refs > 0)
        return;
    free(s->name);
    free(s->where);
    free(s->text);
    free(s->cwd);
    free(s->url);
    free(s->prefix);
    free(s->defaults);
    free(s->overrides);
    list_fini(&s->command);
    list_fini(&s->env);
    list_fini(&s->headers);
    list_fini(&s->allow);
    list_fini(&s->deny);
    free(s);
}

/* --- allow and deny --- */

static bool is_among(const struct tool_list *l, const char *tool)
{
    for (size_t i = 0; i < l->n; i++) {
        const char *want = l->items[i];
        size_t n = strlen(want);
        bool is_pattern = n > 0 && want[n - 1] == '*';

        if (is_pattern ? strncmp(tool, want, n - 1) == 0 : strcmp(tool, want) == 0)
            return true;
    }
    return false;
}

bool tool_server_allows(const struct tool_server *s, const char *tool)
{
    return (!s->has_allow || is_among(&s->allow, tool)) && !is_among(&s->deny, tool);
}
