#include "deploy/cli/field.h"

#include "common/json.h"

#include <string.h>

struct parts {
    struct span name;
    struct span type;
    struct span standard; /* p NULL: none */
    bool is_optional;
};

static bool refuse(struct buf *why, const char *field, const char *what)
{
    cfg_add_quoted(why, field);
    buf_adds(why, what);
    return false;
}

static bool split(const char *field, struct parts *p, struct buf *why)
{
    const char *colon = strchr(field, ':');
    const char *equals = colon != NULL ? strchr(colon, '=') : NULL;
    const char *end = equals != NULL ? equals : field + strlen(field);

    *p = (struct parts){.standard = {NULL, 0}};
    if (colon == NULL || colon == field || end == colon + 1)
        return refuse(why, field, " is no field; write NAME:TYPE or NAME:TYPE=DEFAULT");
    p->name = (struct span){field, (size_t)(colon - field)};
    p->is_optional = colon[-1] == '?';
    p->name.n -= p->is_optional;
    p->type = (struct span){colon + 1, (size_t)(end - colon - 1)};
    if (equals != NULL)
        p->standard = span_of(equals + 1);
    return p->name.n > 0 || refuse(why, field, " has no name");
}

static void add_choices(struct buf *out, struct span type)
{
    const char *end = type.p + type.n;

    buf_adds(out, "{\"type\":\"string\",\"enum\":[");
    for (const char *p = type.p; p <= end;) {
        const char *bar = memchr(p, '|', (size_t)(end - p));
        const char *stop = bar != NULL ? bar : end;

        if (p != type.p)
            buf_addc(out, ',');
        buf_add_json(out, (struct span){p, (size_t)(stop - p)});
        p = stop + 1;
    }
    buf_addc(out, ']');
}

static bool is_one_of(struct span word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (span_is(word, words[i]))
            return true;
    return false;
}

/* Opens the property; *raw: its default is JSON, not a text. */
static bool add_type(struct buf *out, struct span type, bool *raw)
{
    static const char *const plain[] = {"number", "integer", "boolean"};
    static const char *const formats[] = {"email", "uri", "date", "date-time"};

    *raw = is_one_of(type, plain, 3);
    if (*raw || span_is(type, "string"))
        buf_addf(out, "{\"type\":\"%.*s\"", (int)type.n, type.p);
    else if (is_one_of(type, formats, 4))
        buf_addf(out, "{\"type\":\"string\",\"format\":\"%.*s\"", (int)type.n, type.p);
    else if (memchr(type.p, '|', type.n) != NULL)
        add_choices(out, type);
    else
        return false;
    return true;
}

static bool add_field(struct buf *out, const char *field, const struct parts *p, struct buf *why)
{
    bool raw;

    buf_add_json(out, p->name);
    buf_addc(out, ':');
    if (!add_type(out, p->type, &raw))
        return refuse(why, field,
                      " has no type that there is; write string, number, integer, boolean, email, "
                      "uri, date, date-time, or a choice like red|green");
    if (raw && p->standard.p != NULL && json_check(p->standard, NULL, NULL) != ERR_OK)
        return refuse(why, field, " has a default that does not fit its type");
    if (p->standard.p != NULL) {
        buf_adds(out, ",\"default\":");
        if (raw)
            buf_add_span(out, p->standard);
        else
            buf_add_json(out, p->standard);
    }
    buf_addc(out, '}');
    return true;
}

bool field_schema(struct buf *out, const struct cfg_list *fields, struct buf *why)
{
    struct parts p;
    struct buf required;
    bool ok = true;

    buf_init(&required, out->max);
    buf_adds(out, "{\"type\":\"object\",\"properties\":{");
    for (size_t i = 0; ok && i < fields->n; i++) {
        if (i > 0)
            buf_addc(out, ',');
        ok = split(fields->items[i], &p, why) && add_field(out, fields->items[i], &p, why);
        if (!ok || p.is_optional)
            continue;
        buf_adds(&required, required.n > 0 ? "," : "");
        buf_add_json(&required, p.name);
    }
    buf_adds(out, "}");
    if (required.n > 0)
        buf_addf(out, ",\"required\":[%s]", required.p);
    buf_addc(out, '}');
    buf_fini(&required);
    return ok;
}
