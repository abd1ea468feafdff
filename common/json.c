#include "common/json.h"

#include "common/json_raw.h"

#include <string.h>

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && json_is_space(*p))
        p++;
    return p;
}

static bool is_escaped(const char *quote, const char *start)
{
    const char *p = quote;

    while (p > start && p[-1] == '\\')
        p--;
    return ((quote - p) & 1) != 0;
}

/* Past the closing quote of the string whose opening quote is at p, or the end. */
static const char *skip_string(const char *p, const char *end)
{
    const char *const start = ++p;

    for (;;) {
        const char *quote = p < end ? memchr(p, '"', (size_t)(end - p)) : NULL;

        if (quote == NULL)
            return end;
        p = quote + 1;
        if (!is_escaped(quote, start))
            return p;
    }
}

static const char *skip_container(const char *p, const char *end)
{
    size_t depth = 0;

    while (p < end) {
        if (*p == '"') {
            p = skip_string(p, end);
            continue;
        }
        if (*p == '{' || *p == '[')
            depth++;
        else if ((*p == '}' || *p == ']') && --depth == 0)
            return p + 1;
        p++;
    }
    return end;
}

static const char *skip_value(const char *p, const char *end)
{
    if (p < end && *p == '"')
        return skip_string(p, end);
    if (p < end && (*p == '{' || *p == '['))
        return skip_container(p, end);
    while (p < end && *p != ',' && *p != '}' && *p != ']' && !json_is_space(*p))
        p++;
    return p;
}

enum json_type json_type(struct span value)
{
    value = json_trim(value);
    if (value.n == 0)
        return JSON_NONE;
    switch (*value.p) {
    case '{':
        return JSON_OBJECT;
    case '[':
        return JSON_ARRAY;
    case '"':
        return JSON_STRING;
    case 't':
    case 'f':
        return JSON_BOOL;
    case 'n':
        return JSON_NULL;
    default:
        return JSON_NUMBER;
    }
}

/* The first byte of the next member or element; NULL at the end. */
static const char *next_start(struct span container, size_t cursor)
{
    const char *end = container.p + container.n;
    const char *p = skip_space(container.p + cursor, end);

    if (p == end || (cursor == 0 ? *p != '{' && *p != '[' : *p != ','))
        return NULL;
    return skip_space(p + 1, end);
}

/* Past the name and colon at p, when that is what stands there: a string in an array has none. */
static const char *take_name(const char *p, const char *end, struct span *name)
{
    const char *quote = skip_string(p, end);
    const char *colon = skip_space(quote, end);

    if (colon == end || *colon != ':')
        return p;
    *name = (struct span){p + 1, (size_t)(quote - p) - 2};
    return skip_space(colon + 1, end);
}

bool json_next(struct span container, size_t *cursor, struct span *name, struct span *value)
{
    const char *start = container.n != 0 ? next_start(container, *cursor) : NULL;
    const char *end;
    const char *p;

    *name = (struct span){NULL, 0};
    *value = (struct span){NULL, 0};
    if (start == NULL)
        return false;
    end = container.p + container.n;
    if (start < end && *start == '"')
        start = take_name(start, end, name);
    p = skip_value(start, end);
    if (p == start)
        return false;
    *value = (struct span){start, (size_t)(p - start)};
    *cursor = (size_t)(p - container.p);
    return true;
}

struct span json_get(struct span object, const char *name)
{
    struct span wanted = span_of(name);
    struct span found;
    struct span value;
    size_t cursor = 0;

    if (json_type(object) != JSON_OBJECT)
        return (struct span){NULL, 0};
    while (json_next(object, &cursor, &found, &value))
        if (json_decodes_to(found, wanted))
            return value;
    return (struct span){NULL, 0};
}

static enum err note_wanted(struct json_want *want, size_t count, struct span name,
                            struct span value)
{
    for (size_t i = 0; i < count; i++) {
        if (!json_decodes_to(name, span_of(want[i].name)))
            continue;
        if (want[i].value.p != NULL)
            return ERR_INVALID_REQUEST;
        want[i].value = value;
        return ERR_OK;
    }
    return ERR_OK;
}

enum err json_get_many(struct span object, struct json_want *want, size_t count)
{
    struct span name;
    struct span value;
    size_t cursor = 0;
    enum err e = ERR_OK;

    for (size_t i = 0; i < count; i++)
        want[i].value = (struct span){NULL, 0};
    if (json_type(object) != JSON_OBJECT)
        return ERR_INVALID_REQUEST;
    while (e == ERR_OK && json_next(object, &cursor, &name, &value))
        e = note_wanted(want, count, name, value);
    return e;
}

bool json_bool(struct span value, bool *out)
{
    value = json_trim(value);
    *out = span_is(value, "true");
    return *out || span_is(value, "false");
}
