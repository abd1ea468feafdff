#include "worker/tool_wrapped.h"

#include "common/json.h"
#include "common/mem.h"
#include "worker/result.h"
#include "worker/tool_field.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { ATTEMPTS_IDEMPOTENT = 3, ATTEMPTS_OTHERWISE = 1, DEFINITION_MAX = 16 << 20 };

static const uint64_t YEAR_MS = 365ULL * 24 * 3600 * 1000;

#define AT(member) .offset = offsetof(struct tool, member)

/* What tools.json may say of a tool that it does not declare. */
static const struct field said_fields[] = {
    {.name = "taskSupport", .read = field_tasks},
    {.name = "timeout", .read = field_time, AT(timeout_ms), .max = YEAR_MS},
    {.name = "ttl", .read = field_time, AT(ttl_ms), .min = 1000, .max = YEAR_MS},
    {.name = "pollInterval", .read = field_time, AT(poll_ms), .max = YEAR_MS},
    {.name = "promoteAfter", .read = field_time, AT(promote_ms), .max = YEAR_MS},
    {.name = "attempts", .read = field_attempts},
    {.name = "backoff", .read = field_time, AT(backoff_ms), .max = YEAR_MS},
    {.name = "priority", .read = field_priority},
    {.name = "grace", .read = field_time, AT(grace_ms), .max = YEAR_MS},
    {.name = "requires", .read = field_requires, AT(needs)},
    {.name = "immediateResponse", .read = field_immediate, AT(immediate)},
    {.name = "isolate", .read = field_bool, AT(isolate)},
    {.name = "asks", .read = field_bool, AT(asks)},
    {.name = NULL},
};

/* What the server says of it. */
static const struct field given_fields[] = {
    {.name = "inputSchema", .read = field_input},
    {.name = "outputSchema", .read = field_output_schema},
    {.name = NULL},
};

bool tool_wrapped_knows(struct span member)
{
    for (const struct field *f = said_fields; f->name != NULL; f++)
        if (span_is(member, f->name))
            return true;
    return false;
}

void tool_wrapped_names(struct buf *out)
{
    for (const struct field *f = said_fields; f->name != NULL; f++)
        buf_addf(out, "%s %s", f == said_fields ? "" : ",", f->name);
}

static struct tool_source source_of(const struct tool_server *s)
{
    return (struct tool_source){.where = s->where, .dir = ".", .run = TOOL_MCP};
}

bool tool_wrapped_check(const struct tool_server *s, struct span name, struct span members,
                        struct buf *why)
{
    const struct tool_source src = source_of(s);
    struct tool t;
    struct reading r = {.t = &t, .src = &src, .why = why, .is_all = name.p == NULL};
    bool ok;

    tool_begin(&t, &src);
    if (name.p != NULL)
        t.name = mem_dup(name.p, name.n);
    if (json_type(members) != JSON_OBJECT)
        ok = field_refuse(&r, NULL, "it is no object; write {\"timeout\": \"5m\"}");
    else
        ok = tool_read_members(&r, said_fields, members);
    tool_fini(&t);
    return ok;
}

/* --- a tool of the server --- */

/* The Tool object as it came, but for its name, and for "execution", which is the broker's. */
static char *definition_of(struct span object, const char *name)
{
    struct buf out;
    size_t cursor = 0;
    struct span key;
    struct span value;

    buf_init(&out, DEFINITION_MAX);
    buf_adds(&out, "{\"name\":");
    buf_add_json(&out, span_of(name));
    while (json_next(object, &cursor, &key, &value)) {
        if (json_name_is(key, "name") || json_name_is(key, "execution"))
            continue;
        buf_adds(&out, ",\"");
        buf_add_span(&out, key);
        buf_adds(&out, "\":");
        result_compact(&out, value);
    }
    buf_addc(&out, '}');
    return buf_take(&out);
}

static bool is_true(struct span value)
{
    bool b;

    return json_bool(value, &b) && b;
}

/* May it run twice for one call? */
static bool is_idempotent(struct span object)
{
    struct span hints = json_get(object, "annotations");

    return json_type(hints) == JSON_OBJECT &&
           (is_true(json_get(hints, "idempotentHint")) || is_true(json_get(hints, "readOnlyHint")));
}

static bool read_name(struct reading *r, const struct tool_server *s, struct span object)
{
    char *own = tool_text(json_get(object, "name"));
    struct buf name;

    if (own == NULL)
        return field_refuse(r, NULL, "a tool has no name");
    r->t->upstream = own;
    buf_init(&name, 4096);
    buf_addf(&name, "%s%s", s->prefix, own);
    r->t->name = buf_take(&name);
    if (tool_is_name(r->t->name))
        return true;
    return field_refuse(r, NULL,
                        "with its prefix this is no name for a tool: 1 to 64 of A-Z a-z "
                        "0-9 _ . -");
}

/* The file was checked when it was read. */
static bool read_said(struct reading *r, const struct tool_server *s)
{
    struct span said = {NULL, 0};

    if (s->overrides != NULL)
        said = json_get(span_of(s->overrides), r->t->upstream);
    return tool_read_members(r, said_fields, span_of(s->defaults)) &&
           (said.p == NULL || tool_read_members(r, said_fields, said));
}

static bool read_given(struct reading *r, struct span object)
{
    for (const struct field *f = given_fields; f->name != NULL; f++) {
        struct span value = json_get(object, f->name);

        if (value.p != NULL && !f->read(r, f, value))
            return false;
    }
    if (json_get(object, "inputSchema").p != NULL)
        return true;
    return field_refuse(r, "inputSchema", "it is missing");
}

bool tool_server_tool(struct tool_server *s, struct span definition, struct tool *t,
                      struct buf *why)
{
    const struct tool_source src = source_of(s);
    struct reading r = {.t = t, .src = &src, .why = why};

    tool_begin(t, &src);
    t->server = tool_server_hold(s);
    t->attempts = is_idempotent(definition) ? ATTEMPTS_IDEMPOTENT : ATTEMPTS_OTHERWISE;
    t->is_tasked = json_is(json_get(json_get(definition, "execution"), "taskSupport"), "required");
    if (read_name(&r, s, definition) && read_given(&r, definition) && read_said(&r, s)) {
        t->definition = definition_of(definition, t->name);
        t->policy = tool_policy(t);
        return true;
    }
    tool_fini(t);
    return false;
}

/* --- all else --- */

void tool_server_door(struct tool_server *s, struct span capabilities, struct span definition,
                      struct tool *t)
{
    const struct tool_source src = source_of(s);
    struct reading r = {.t = t, .src = &src};
    struct buf b;
    bool ok;

    buf_init(&b, DEFINITION_MAX * 2);
    tool_begin(t, &src);
    t->server = tool_server_hold(s);
    r.why = &b;
    ok = tool_read_members(&r, said_fields, span_of(s->defaults));
    (void)ok; /* it was checked when the file was read */
    t->asks = t->isolate = false;
    buf_reset(&b);
    buf_addf(&b, "@%s", s->name);
    t->name = buf_take(&b);
    t->definition = mem_dup(definition.p, definition.n);
    buf_adds(&b, "{\"prefix\":");
    buf_add_json(&b, span_of(s->prefix));
    buf_addf(&b, ",\"attempts\":%u,\"timeout\":%llu,\"capabilities\":", t->attempts,
             (unsigned long long)t->timeout_ms);
    buf_add_span(&b, capabilities);
    buf_addc(&b, '}');
    t->policy = buf_take(&b);
}
