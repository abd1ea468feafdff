#include "worker/tool.h"

#include "common/json.h"
#include "common/mem.h"
#include "common/schema.h"
#include "worker/result.h"
#include "worker/tool_field.h"
#include "worker/tool_http.h"
#include "worker/tool_server.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    ATTEMPTS_DEFAULT = 3,
    BACKOFF_DEFAULT_MS = 5000,
    GRACE_DEFAULT_MS = 5000,
    DEFINITION_MAX = 4 << 20,
};

static const uint64_t YEAR_MS = 365ULL * 24 * 3600 * 1000;

/* --- the tables --- */

#define AT(member) .offset = offsetof(struct tool, member)

static const struct field run_fields[] = {
    {.name = "command", .read = field_command, AT(command)},
    {.name = "output", .read = field_output},
    {.name = "cwd", .read = field_cwd},
    {.name = "env", .read = field_env, AT(env)},
    {.name = "http", .read = field_http},
    {.name = NULL},
};

/* A command's members say nothing to other runners. */
static bool has_none_of_a_command(struct reading *r, struct span run)
{
    static const char *const members[] = {"command", "output", "cwd", "env"};

    r->within = "run.";
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (json_get(run, members[i]).p != NULL)
            return field_refuse(r, members[i],
                                "it is a command's, and this tool runs by \"http\"; "
                                "keep one of them");
    return true;
}

static bool read_run(struct reading *r, const struct field *f, struct span value)
{
    if (r->src->run == TOOL_HANDLER)
        return field_refuse(r, f->name, "a handler runs this tool; take the member out");
    if (json_type(value) != JSON_OBJECT)
        return field_refuse_value(r, f->name, value, "is no object; write {\"command\": [...]}");
    if (!field_members(r, run_fields, value, "run.", r->t))
        return false;
    if (r->t->http != NULL && !has_none_of_a_command(r, value))
        return false;
    r->within = NULL;
    if (r->t->http != NULL)
        return true;
    if (r->t->command.n == 0)
        return field_refuse(r, f->name,
                            "it says not how; write {\"command\": [\"./convert.sh\"]}, or "
                            "{\"http\": {...}}");
    return true;
}

static bool read_name(struct reading *r, const struct field *f, struct span value)
{
    (void)r;
    (void)f;
    (void)value;
    return true; /* was read first */
}

static const struct field tool_fields[] = {
    {.name = "name", .read = read_name, .shown = true},
    {.name = "title", .read = field_text, .shown = true},
    {.name = "description", .read = field_text, .shown = true},
    {.name = "inputSchema", .read = field_input, .shown = true},
    {.name = "outputSchema", .read = field_output_schema, .shown = true},
    {.name = "annotations", .read = field_object, .shown = true},
    {.name = "icons", .read = field_icons, .shown = true},
    {.name = "_meta", .read = field_object, .shown = true},
    {.name = "taskSupport", .read = field_tasks},
    {.name = "run", .read = read_run},
    {.name = "env", .read = field_env, AT(env)},
    {.name = "timeout", .read = field_time, AT(timeout_ms), .max = YEAR_MS},
    {.name = "ttl", .read = field_time, AT(ttl_ms), .min = 1000, .max = YEAR_MS},
    {.name = "pollInterval", .read = field_time, AT(poll_ms), .max = YEAR_MS},
    {.name = "promoteAfter", .read = field_time, AT(promote_ms), .max = YEAR_MS},
    {.name = "attempts", .read = field_attempts},
    {.name = "backoff", .read = field_time, AT(backoff_ms), .max = YEAR_MS},
    {.name = "priority", .read = field_priority},
    {.name = "grace", .read = field_time, AT(grace_ms), .max = YEAR_MS},
    {.name = "retryOn", .read = field_retry_on},
    {.name = "requires", .read = field_requires, AT(needs)},
    {.name = "immediateResponse", .read = field_immediate, AT(immediate)},
    {.name = NULL},
};

/* Names what there is: most unknown members are misspelt ones. */
static bool refuse_unknown(const struct reading *r, const struct field *fields, struct span name)
{
    struct buf b;

    buf_init(&b, 4096);
    buf_adds(&b, "it is unknown; there are");
    for (const struct field *f = fields; f->name != NULL; f++)
        buf_addf(&b, "%s %s", f == fields ? "" : ",", f->name);
    (void)field_refuse_span(r, name, buf_span(&b).p);
    buf_fini(&b);
    return false;
}

/* --- reading --- */

static bool read_member(struct reading *r, const struct field *fields, struct span name,
                        struct span value, uint32_t *seen)
{
    for (size_t i = 0; fields[i].name != NULL; i++) {
        if (!span_is(name, fields[i].name))
            continue;
        if ((*seen & (1U << i)) != 0)
            return field_refuse(r, fields[i].name, "it is there twice");
        *seen |= 1U << i;
        return fields[i].read(r, &fields[i], value);
    }
    return refuse_unknown(r, fields, name);
}

bool field_members(struct reading *r, const struct field *fields, struct span object,
                   const char *within, void *into)
{
    const struct reading outer = *r;
    size_t cursor = 0;
    uint32_t seen = 0;
    struct span name;
    struct span value;

    r->within = within;
    r->into = into;
    while (json_next(object, &cursor, &name, &value))
        if (!read_member(r, fields, name, value, &seen))
            return false;
    r->within = outer.within;
    r->into = outer.into;
    return true;
}

bool tool_is_name(const char *name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789_.-";
    size_t n = strlen(name);

    return n >= 1 && n <= TOOL_NAME_MAX && strspn(name, allowed) == n;
}

bool tool_read_members(struct reading *r, const struct field *fields, struct span object)
{
    return field_members(r, fields, object, r->within, r->t);
}

static bool read_first(struct reading *r, struct span object)
{
    struct span value = json_get(object, "name");
    char *name = tool_text(value);

    if (value.p == NULL)
        return field_refuse(r, NULL, "it has no name; write \"name\": \"...\"");
    if (name == NULL || !tool_is_name(name)) {
        free(name);
        return field_refuse_value(r, "name", value,
                                  "is no name for a tool; write 1 to 64 of A-Z a-z 0-9 _ . -");
    }
    r->t->name = name;
    return true;
}

static bool is_whole(const struct reading *r, struct span object)
{
    const struct tool *t = r->t;

    if (json_get(object, "inputSchema").p == NULL)
        return field_refuse(r, "inputSchema",
                            "it is missing; write at least {\"type\": \"object\"}");
    if (t->run == TOOL_HTTP && json_get(object, "env").p != NULL)
        return field_refuse(r, "env",
                            "it is a command's; take it out, and write ${env:NAME} where "
                            "a request needs a variable");
    if (t->run == TOOL_HTTP && t->retry_exit)
        return field_refuse(r, "retryOn", "\"exit\" is a command's; take it out");
    if (t->run == TOOL_COMMAND && t->command.n == 0)
        return field_refuse(r, "run", "it is missing; write {\"command\": [\"./convert.sh\"]}");
    if (t->run != TOOL_HANDLER && t->output == TOOL_TEXT &&
        json_get(object, "outputSchema").p != NULL)
        return field_refuse(r, "outputSchema",
                            t->run == TOOL_HTTP
                                ? "it asks for structured output; write \"as\": \"json\" in "
                                  "\"run.http.result\""
                                : "it asks for structured output; write \"output\": \"json\" in "
                                  "\"run\"");
    return true;
}

/* --- what others are told --- */

static bool is_shown(struct span name)
{
    for (const struct field *f = tool_fields; f->name != NULL; f++)
        if (span_is(name, f->name))
            return f->shown;
    return false;
}

static char *definition_of(struct span object)
{
    struct buf out;
    size_t cursor = 0;
    struct span name;
    struct span value;

    buf_init(&out, DEFINITION_MAX);
    while (json_next(object, &cursor, &name, &value)) {
        if (!is_shown(name))
            continue;
        buf_adds(&out, out.n == 0 ? "{\"" : ",\"");
        buf_add_span(&out, name);
        buf_adds(&out, "\":");
        result_compact(&out, value);
    }
    buf_addc(&out, '}');
    return buf_take(&out);
}

static void add_ms(struct buf *out, const char *name, uint64_t ms)
{
    if (ms != TOOL_UNSAID)
        buf_addf(out, ",\"%s\":%llu", name, (unsigned long long)ms);
}

char *tool_policy(const struct tool *t)
{
    static const char *const tasks[] = {"forbidden", "optional", "required"};
    struct buf out;

    buf_init(&out, DEFINITION_MAX);
    buf_addf(&out, "{\"taskSupport\":\"%s\",\"attempts\":%u,\"priority\":\"%s\"", tasks[t->tasks],
             t->attempts, task_priority_name(t->priority));
    add_ms(&out, "ttl", t->ttl_ms);
    add_ms(&out, "pollInterval", t->poll_ms);
    add_ms(&out, "promoteAfter", t->promote_ms);
    add_ms(&out, "timeout", t->timeout_ms != 0 ? t->timeout_ms : TOOL_UNSAID);
    if (t->needs != NULL)
        buf_addf(&out, ",\"requires\":%s", t->needs);
    if (t->immediate != NULL)
        buf_addf(&out, ",\"immediateResponse\":%s", t->immediate);
    buf_addc(&out, '}');
    return buf_take(&out);
}

void tool_begin(struct tool *t, const struct tool_source *src)
{
    *t = (struct tool){.run = src->run,
                       .tasks = TOOL_OPTIONAL,
                       .priority = TASK_NORMAL,
                       .attempts = ATTEMPTS_DEFAULT,
                       .backoff_ms = BACKOFF_DEFAULT_MS,
                       .grace_ms = GRACE_DEFAULT_MS,
                       .ttl_ms = TOOL_UNSAID,
                       .poll_ms = TOOL_UNSAID,
                       .promote_ms = TOOL_UNSAID,
                       .cwd = mem_strdup(src->dir)};
}

bool tool_read(struct tool *t, const struct tool_source *src, struct span object, struct buf *why)
{
    struct reading r = {.t = t, .src = src, .why = why, .into = t};

    tool_begin(t, src);
    if (json_type(object) != JSON_OBJECT) {
        (void)field_refuse(&r, NULL, "it is no object; write { \"name\": ... }");
    } else if (read_first(&r, object) && field_members(&r, tool_fields, object, NULL, t) &&
               is_whole(&r, object)) {
        t->definition = definition_of(object);
        t->policy = tool_policy(t);
        return true;
    }
    tool_fini(t);
    return false;
}

void tool_list_fini(struct tool_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->items[i]);
    free(l->items);
    *l = (struct tool_list){0};
}

void tool_fini(struct tool *t)
{
    free(t->name);
    free(t->definition);
    free(t->policy);
    free(t->cwd);
    free(t->needs);
    free(t->immediate);
    free(t->upstream);
    tool_server_let_go(t->server);
    schema_free(t->output_schema);
    tool_http_free(t->http);
    tool_list_fini(&t->command);
    tool_list_fini(&t->env);
    *t = (struct tool){0};
}

struct tool *tool_share(const struct tool *t)
{
    struct tool *shared = mem_alloc(sizeof(*shared));

    *shared = *t;
    shared->refs = 1;
    return shared;
}

struct tool *tool_hold(struct tool *t)
{
    t->refs++;
    return t;
}

bool tool_may_run_again(const struct tool *t)
{
    return t->run != TOOL_MCP || t->attempts > 1;
}

bool tool_is_door(const struct tool *t)
{
    return t->run == TOOL_MCP && t->upstream == NULL;
}

void tool_let_go(struct tool *t)
{
    if (t == NULL || --t->refs > 0)
        return;
    tool_fini(t);
    free(t);
}
