#include "worker/tool_field.h"

#include "common/cfg.h"
#include "common/json.h"
#include "common/mem.h"
#include "common/schema.h"
#include "worker/result.h"
#include "worker/tool_header.h"

#include <stdlib.h>
#include <string.h>

enum {
    LIST_MAX = 256,
    ATTEMPTS_MAX = 100,
    TEXT_MAX = 4 << 20,
    WHY_MAX = 1024,
    SCHEMA_WHY_MAX = 4096
};

char *tool_text(struct span value)
{
    char *text;

    if (json_type(value) != JSON_STRING)
        return NULL;
    text = mem_alloc(value.n + 1);
    if (json_string(value, text, value.n + 1) >= 0)
        return text;
    free(text);
    return NULL;
}

/* --- sentences --- */

static void add_place(const struct reading *r, struct span member)
{
    buf_addf(r->why, "%s: ", r->src->where);
    if (r->t->name != NULL)
        buf_addf(r->why, "tool \"%s\": ", r->t->name);
    else if (!r->is_all)
        buf_addf(r->why, "tool %zu: ", r->src->index);
    if (member.p == NULL)
        return;
    buf_addf(r->why, "\"%s", r->within != NULL ? r->within : "");
    buf_add(r->why, member.p, member.n < TOOL_NAME_MAX ? member.n : TOOL_NAME_MAX);
    buf_adds(r->why, "\": ");
}

bool field_refuse_span(const struct reading *r, struct span member, const char *what)
{
    add_place(r, member);
    buf_adds(r->why, what);
    return false;
}

bool field_refuse(const struct reading *r, const char *member, const char *what)
{
    add_place(r, span_of(member));
    buf_adds(r->why, what);
    return false;
}

bool field_refuse_value(const struct reading *r, const char *member, struct span value,
                        const char *what)
{
    enum { SHOWN_MAX = 64 };

    add_place(r, span_of(member));
    buf_add(r->why, value.p, value.n < SHOWN_MAX ? value.n : SHOWN_MAX);
    buf_addf(r->why, "%s %s", value.n < SHOWN_MAX ? "" : "...", what);
    return false;
}

/* --- one reader a kind of member --- */

bool field_text(struct reading *r, const struct field *f, struct span value)
{
    if (json_type(value) == JSON_STRING)
        return true;
    return field_refuse_value(r, f->name, value, "is no string; write a text in quotes");
}

bool field_object(struct reading *r, const struct field *f, struct span value)
{
    if (json_type(value) == JSON_OBJECT)
        return true;
    return field_refuse_value(r, f->name, value, "is no object; write { ... }");
}

bool field_icons(struct reading *r, const struct field *f, struct span value)
{
    if (json_type(value) == JSON_ARRAY)
        return true;
    return field_refuse_value(r, f->name, value, "is no list; write [{\"src\": \"https://...\"}]");
}

/* Its top says object, and it compiles: the caller's to free. NULL after a refusal. */
static struct schema *read_schema(struct reading *r, const struct field *f, struct span value)
{
    struct schema *s;
    struct buf why;

    if (json_type(value) != JSON_OBJECT) {
        (void)field_refuse_value(r, f->name, value,
                                 "is no JSON Schema object; write at least {\"type\": \"object\"}");
        return NULL;
    }
    if (!json_is(json_get(value, "type"), "object")) {
        (void)field_refuse(r, f->name, "the schema must say \"type\": \"object\" at its top");
        return NULL;
    }
    buf_init(&why, SCHEMA_WHY_MAX);
    s = schema_new(value, &why);
    if (s == NULL)
        (void)field_refuse(r, f->name, why.p);
    buf_fini(&why);
    return s;
}

bool field_output_schema(struct reading *r, const struct field *f, struct span value)
{
    r->t->output_schema = read_schema(r, f, value);
    return r->t->output_schema != NULL;
}

bool field_input(struct reading *r, const struct field *f, struct span value)
{
    struct schema *s = read_schema(r, f, value);
    struct buf why;
    bool ok;

    if (s == NULL)
        return false;
    schema_free(s);
    buf_init(&why, WHY_MAX);
    ok = tool_check_headers(value, &why);
    if (!ok)
        (void)field_refuse(r, f->name, why.p);
    buf_fini(&why);
    return ok;
}

/* Kept without the white space between tokens, to be told to others as it is. */
static void keep(struct reading *r, const struct field *f, struct span value)
{
    char **out = (char **)(void *)((char *)r->into + f->offset);
    struct buf text;

    buf_init(&text, TEXT_MAX);
    result_compact(&text, value);
    free(*out);
    *out = buf_take(&text);
}

bool field_requires(struct reading *r, const struct field *f, struct span value)
{
    size_t cursor = 0;
    struct span name;
    struct span one;

    if (!field_object(r, f, value))
        return false;
    while (json_next(value, &cursor, &name, &one))
        if (json_type(one) != JSON_OBJECT)
            return field_refuse_value(r, f->name, one,
                                      "is no capability; write {\"elicitation\": {}}");
    keep(r, f, value);
    return true;
}

bool field_immediate(struct reading *r, const struct field *f, struct span value)
{
    if (!field_text(r, f, value))
        return false;
    keep(r, f, value);
    return true;
}

bool field_time(struct reading *r, const struct field *f, struct span value)
{
    char *text = tool_text(value);
    uint64_t *out = (uint64_t *)(void *)((char *)r->into + f->offset);
    bool ok = false;

    if (text == NULL)
        return field_refuse_value(r, f->name, value,
                                  "is no duration; write it in quotes, like \"30s\"");
    add_place(r, span_of(f->name));
    if (!cfg_time(text, out, r->why)) {
        ; /* the sentence is complete */
    } else if (*out < f->min || *out > f->max) {
        buf_addf(r->why, "\"%s\" is out of range; write %llus at least and 365d at most", text,
                 (unsigned long long)(f->min / 1000));
    } else {
        buf_reset(r->why);
        ok = true;
    }
    free(text);
    return ok;
}

bool field_attempts(struct reading *r, const struct field *f, struct span value)
{
    int64_t n;

    if (!json_int(value, &n) || n < 1 || n > ATTEMPTS_MAX)
        return field_refuse_value(r, f->name, value, "is no number of attempts; write 1 to 100");
    r->t->attempts = (unsigned)n;
    return true;
}

bool field_priority(struct reading *r, const struct field *f, struct span value)
{
    char *text = tool_text(value);
    bool ok = text != NULL && task_priority_of(text, &r->t->priority);

    free(text);
    if (ok)
        return true;
    return field_refuse_value(r, f->name, value,
                              "is no priority; write \"high\", \"normal\", \"low\" or \"idle\"");
}

static int choose(struct span value, const char *const *choices, int n)
{
    for (int i = 0; i < n; i++)
        if (json_is(value, choices[i]))
            return i;
    return -1;
}

bool field_tasks(struct reading *r, const struct field *f, struct span value)
{
    static const char *const choices[] = {"forbidden", "optional", "required"};
    int i = choose(value, choices, 3);

    if (i < 0)
        return field_refuse_value(r, f->name, value,
                                  "is none of \"forbidden\", \"optional\" and \"required\"");
    r->t->tasks = (enum tool_tasks)i;
    return true;
}

bool field_output(struct reading *r, const struct field *f, struct span value)
{
    static const char *const choices[] = {"text", "json", "result"};
    int i = choose(value, choices, 3);

    if (i < 0)
        return field_refuse_value(r, f->name, value,
                                  "is none of \"text\", \"json\" and \"result\"");
    r->t->output = (enum tool_output)i;
    return true;
}

bool field_retry_on(struct reading *r, const struct field *f, struct span value)
{
    size_t cursor = 0;
    struct span name;
    struct span item;

    if (json_type(value) != JSON_ARRAY)
        return field_refuse_value(r, f->name, value, "is no list; write [\"exit\"]");
    while (json_next(value, &cursor, &name, &item)) {
        if (!json_is(item, "exit"))
            return field_refuse_value(r, f->name, item, "is unknown here; write [\"exit\"]");
        r->t->retry_exit = true;
    }
    return true;
}

/* --- lists of texts --- */

void tool_list_add(struct tool_list *l, char *text)
{
    l->items = mem_grow(l->items, (l->n + 2) * sizeof(*l->items));
    l->items[l->n++] = text;
    l->items[l->n] = NULL;
}

static bool read_list(struct reading *r, const struct field *f, struct span value,
                      const char *right)
{
    struct tool_list *l = (struct tool_list *)(void *)((char *)r->into + f->offset);
    size_t cursor = 0;
    struct span name;
    struct span item;

    if (json_type(value) != JSON_ARRAY)
        return field_refuse_value(r, f->name, value, right);
    while (json_next(value, &cursor, &name, &item)) {
        char *text = tool_text(item);

        if (text == NULL)
            return field_refuse_value(r, f->name, item, right);
        tool_list_add(l, text);
        if (l->n > LIST_MAX)
            return field_refuse(r, f->name, "it has more than 256 elements");
    }
    return true;
}

char *field_path(const struct tool_source *src, char *text, bool may_be_bare)
{
    struct buf b;

    if (text[0] == '/' || (may_be_bare && strchr(text, '/') == NULL))
        return text;
    buf_init(&b, TEXT_MAX);
    buf_addf(&b, "%s/%s", src->dir, text);
    free(text);
    return buf_take(&b);
}

bool field_command(struct reading *r, const struct field *f, struct span value)
{
    struct tool_list *l = &r->t->command;

    if (!read_list(r, f, value,
                   "is no command; write a list of texts, like [\"./convert.sh\", \"{file}\"]"))
        return false;
    if (l->n == 0 || l->items[0][0] == '\0')
        return field_refuse(r, f->name,
                            "it names no program; write [\"./convert.sh\", \"{file}\"]");
    l->items[0] = field_path(r->src, l->items[0], true);
    return true;
}

static bool is_variable(const char *name)
{
    return name[0] != '\0' && strchr(name, '=') == NULL;
}

bool field_env(struct reading *r, const struct field *f, struct span value)
{
    const struct tool_list *l = &r->t->env;

    if (l->n > 0)
        return field_refuse(r, f->name, "it stands in the tool and in \"run\"; keep one of them");
    if (!read_list(r, f, value,
                   "is no list of variables to let through; write names, like [\"API_TOKEN\"]"))
        return false;
    for (size_t i = 0; i < l->n; i++)
        if (!is_variable(l->items[i]))
            return field_refuse(r, f->name,
                                "it lets variables through by name; write [\"API_TOKEN\"]");
    return true;
}

bool field_cwd(struct reading *r, const struct field *f, struct span value)
{
    char *text = tool_text(value);

    if (text == NULL || text[0] == '\0') {
        free(text);
        return field_refuse_value(r, f->name, value, "is no folder; write a path in quotes");
    }
    free(r->t->cwd);
    r->t->cwd = field_path(r->src, text, false);
    return true;
}

bool field_bool(struct reading *r, const struct field *f, struct span value)
{
    bool *out = (bool *)(void *)((char *)r->into + f->offset);

    if (json_bool(value, out))
        return true;
    return field_refuse_value(r, f->name, value, "is neither true nor false");
}
