#include "common/elicit.h"

#include "common/elicit_inside.h"
#include "common/mem.h"

#include <stdlib.h>

enum { NAME_SHOWN = 64, PROPERTIES_MAX = 100 };

static bool refuse_number(struct buf *why)
{
    buf_adds(why, "a form has at most 100 fields");
    return false;
}

bool elicit_refuse(struct buf *why, struct span name, const char *what)
{
    buf_addc(why, '"');
    buf_add(why, name.p, name.n < NAME_SHOWN ? name.n : NAME_SHOWN);
    buf_adds(why, "\" ");
    buf_adds(why, what);
    return false;
}

enum elicit_kind elicit_kind_of(struct span property)
{
    static const char *const types[] = {"string", "number", "integer", "boolean", "array"};
    static const enum elicit_kind kinds[] = {ELICIT_STRING, ELICIT_NUMBER, ELICIT_INTEGER,
                                             ELICIT_BOOLEAN, ELICIT_CHOICES};
    struct span type = json_get(property, "type");

    for (int i = 0; i < 5; i++) {
        if (!json_is(type, types[i]))
            continue;
        if (kinds[i] == ELICIT_STRING &&
            (json_get(property, "enum").p != NULL || json_get(property, "oneOf").p != NULL))
            return ELICIT_CHOICE;
        return kinds[i];
    }
    return ELICIT_NONE;
}

struct span elicit_choices(struct span property, enum elicit_kind kind)
{
    struct span of = kind == ELICIT_CHOICES ? json_get(property, "items") : property;
    struct span list = json_get(of, "enum");

    if (list.p != NULL)
        return list;
    return json_get(of, kind == ELICIT_CHOICES ? "anyOf" : "oneOf");
}

/* --- the form --- */

static const char *const known[][10] = {
    [ELICIT_STRING] = {"minLength", "maxLength", "format", NULL},
    [ELICIT_NUMBER] = {"minimum", "maximum", NULL},
    [ELICIT_INTEGER] = {"minimum", "maximum", NULL},
    [ELICIT_BOOLEAN] = {NULL},
    [ELICIT_CHOICE] = {"enum", "oneOf", "enumNames", NULL},
    [ELICIT_CHOICES] = {"items", "minItems", "maxItems", NULL},
};
static const char *const known_always[] = {"type", "title", "description", "default", NULL};
static const char *const known_top[] = {
    "type",        "properties",           "required", "$schema", "title",
    "description", "additionalProperties", NULL};

static bool is_in(const char *const *names, struct span name)
{
    for (; *names != NULL; names++)
        if (span_is(name, *names))
            return true;
    return false;
}

static bool check_choices(struct span list, struct span name, struct buf *why)
{
    size_t cursor = 0;
    size_t n = 0;
    struct span none;
    struct span item;

    if (json_type(list) != JSON_ARRAY)
        return elicit_refuse(why, name, "lists nothing to choose from");
    while (json_next(list, &cursor, &none, &item)) {
        struct span value = json_type(item) == JSON_OBJECT ? json_get(item, "const") : item;

        if (json_type(value) != JSON_STRING ||
            (json_type(item) == JSON_OBJECT && json_type(json_get(item, "title")) != JSON_STRING))
            return elicit_refuse(
                why, name, "offers something that is neither a text nor {\"const\", \"title\"}");
        n++;
    }
    return n > 0 || elicit_refuse(why, name, "lists nothing to choose from");
}

static bool is_count(struct span property, const char *member)
{
    struct span value = json_get(property, member);
    int64_t n;

    return value.p == NULL || (json_int(value, &n) && n >= 0);
}

static bool check_limits(struct span property, struct span name, struct buf *why)
{
    static const char *const counts[] = {"minLength", "maxLength", "minItems", "maxItems"};
    static const char *const numbers[] = {"minimum", "maximum"};
    struct span format = json_get(property, "format");

    for (int i = 0; i < 4; i++)
        if (!is_count(property, counts[i]))
            return elicit_refuse(why, name, "has a limit that is no whole number");
    for (int i = 0; i < 2; i++) {
        struct span value = json_get(property, numbers[i]);

        if (value.p != NULL && json_type(value) != JSON_NUMBER)
            return elicit_refuse(why, name, "has a limit that is no number");
    }
    if (format.p != NULL && !json_is(format, "email") && !json_is(format, "uri") &&
        !json_is(format, "date") && !json_is(format, "date-time"))
        return elicit_refuse(why, name, "has a format other than email, uri, date and date-time");
    return true;
}

static bool check_members(struct span property, enum elicit_kind kind, struct span name,
                          struct buf *why)
{
    size_t cursor = 0;
    struct span member;
    struct span value;

    while (json_next(property, &cursor, &member, &value)) {
        if (is_in(known_always, member) || is_in(known[kind], member))
            continue;
        (void)elicit_refuse(why, name, "uses ");
        (void)elicit_refuse(why, member, "which such a field of a form cannot have");
        return false;
    }
    return true;
}

static bool check_property(struct span property, struct span name, struct buf *why)
{
    enum elicit_kind kind = elicit_kind_of(property);
    struct span standard = json_get(property, "default");
    struct span items = json_get(property, "items");

    if (json_type(property) != JSON_OBJECT || kind == ELICIT_NONE)
        return elicit_refuse(why, name,
                             "is no string, number, integer, boolean, choice or list of choices");
    if (!check_members(property, kind, name, why) || !check_limits(property, name, why))
        return false;
    if (kind == ELICIT_CHOICES && json_get(items, "enum").p != NULL &&
        !json_is(json_get(items, "type"), "string"))
        return elicit_refuse(why, name, "must say \"type\": \"string\" in \"items\"");
    if ((kind == ELICIT_CHOICE || kind == ELICIT_CHOICES) &&
        !check_choices(elicit_choices(property, kind), name, why))
        return false;
    if (standard.p != NULL && !elicit_check_value(property, name, standard, why)) {
        buf_adds(why, ", as its default");
        return false;
    }
    return true;
}

/* A member of an object whose name is only known as raw bytes. */
static struct span member_of(struct span object, struct span name)
{
    char *text = mem_alloc(name.n + 1);
    struct span quoted = {name.p - 1, name.n + 2};
    struct span value = {NULL, 0};

    if (json_string(quoted, text, name.n + 1) >= 0)
        value = json_get(object, text);
    free(text);
    return value;
}

static bool check_required(struct span schema, struct buf *why)
{
    struct span required = json_get(schema, "required");
    size_t cursor = 0;
    size_t n = 0;
    struct span none;
    struct span item;

    if (required.p == NULL)
        return true;
    if (json_type(required) != JSON_ARRAY)
        return elicit_refuse(why, SPAN("required"), "is no list of names");
    while (json_next(required, &cursor, &none, &item)) {
        if (++n > PROPERTIES_MAX)
            return refuse_number(why);
        if (json_type(item) != JSON_STRING)
            return elicit_refuse(why, SPAN("required"), "is no list of names");
        if (member_of(json_get(schema, "properties"), (struct span){item.p + 1, item.n - 2}).p ==
            NULL)
            return elicit_refuse(why, SPAN("required"), "names a field that is not there");
    }
    return true;
}

bool elicit_check_form(struct span schema, struct buf *why)
{
    struct span properties = json_get(schema, "properties");
    size_t cursor = 0;
    size_t n = 0;
    struct span name;
    struct span value;

    if (json_type(schema) != JSON_OBJECT || !json_is(json_get(schema, "type"), "object") ||
        json_type(properties) != JSON_OBJECT) {
        buf_adds(why, "a form is {\"type\": \"object\", \"properties\": {...}}");
        return false;
    }
    while (json_next(schema, &cursor, &name, &value))
        if (!is_in(known_top, name))
            return elicit_refuse(why, name, "is no part of a form");
    cursor = 0;
    while (json_next(properties, &cursor, &name, &value)) {
        if (!check_property(value, name, why))
            return false;
        if (++n > PROPERTIES_MAX)
            return refuse_number(why);
    }
    return check_required(schema, why);
}

/* --- what was filled in --- */

static bool check_present(struct span form, struct span content, struct buf *why)
{
    struct span required = json_get(form, "required");
    size_t cursor = 0;
    struct span none;
    struct span item;

    while (required.p != NULL && json_next(required, &cursor, &none, &item)) {
        struct span name = {item.p + 1, item.n - 2};

        if (member_of(content, name).p == NULL)
            return elicit_refuse(why, name, "is missing");
    }
    return true;
}

bool elicit_check_content(struct span form, struct span content, struct buf *why)
{
    struct span properties = json_get(form, "properties");
    size_t cursor = 0;
    size_t n = 0;
    struct span name;
    struct span value;

    if (content.p == NULL)
        content = SPAN("{}");
    if (json_type(content) != JSON_OBJECT) {
        buf_adds(why, "the content is no object");
        return false;
    }
    while (json_next(content, &cursor, &name, &value)) {
        struct span property = member_of(properties, name);

        if (++n > PROPERTIES_MAX)
            return refuse_number(why);
        if (property.p == NULL)
            return elicit_refuse(why, name, "was not asked for");
        if (!elicit_check_value(property, name, value, why))
            return false;
    }
    return check_present(form, content, why);
}
