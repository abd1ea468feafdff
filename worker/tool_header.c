#include "worker/tool_header.h"

#include "common/json.h"

#include <string.h>
#include <strings.h>

enum { NAME_ROOM = 65, NAMES_MAX = 64 };

struct marks {
    struct buf *why;
    char names[NAMES_MAX][NAME_ROOM];
    size_t n;
};

static const char mark[] = "x-mcp-header";

static bool refuse(const struct marks *m, const char *what)
{
    buf_addf(m->why, "%s: %s", mark, what);
    return false;
}

static bool is_token(const char *text)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789!#$%&'*+-.^_`|~";

    return text[0] != '\0' && text[strspn(text, allowed)] == '\0';
}

static bool is_plain(struct span type)
{
    return json_is(type, "string") || json_is(type, "integer") || json_is(type, "boolean");
}

static bool take_mark(struct marks *m, struct span property, struct span value, bool is_reached)
{
    char *name = m->names[m->n];

    if (!is_reached)
        return refuse(m,
                      "only properties that are reached through \"properties\" alone can have it");
    if (json_string(value, name, NAME_ROOM) < 0 || !is_token(name))
        return refuse(m, "its value must be the name of a header: 1 to 64 of A-Z a-z 0-9 and "
                         "!#$%&'*+-.^_`|~");
    if (!is_plain(json_get(property, "type")))
        return refuse(m, "only a property of type string, integer or boolean can have it");
    for (size_t i = 0; i < m->n; i++)
        if (strcasecmp(m->names[i], name) == 0)
            return refuse(m, "two properties have the same name of a header");
    if (++m->n == NAMES_MAX)
        return refuse(m, "there are more than 63");
    return true;
}

static bool is_data(struct span name)
{
    return span_is(name, "default") || span_is(name, "const") || span_is(name, "enum") ||
           span_is(name, "examples");
}

static bool walk(struct marks *m, struct span schema, bool is_property, bool is_reached);

static bool walk_each(struct marks *m, struct span values, bool is_reached)
{
    size_t cursor = 0;
    struct span name;
    struct span value;

    while (json_next(values, &cursor, &name, &value))
        if (!walk(m, value, true, is_reached))
            return false;
    return true;
}

static bool walk_member(struct marks *m, struct span name, struct span value, bool is_reached)
{
    if (span_is(name, "properties") && json_type(value) == JSON_OBJECT)
        return walk_each(m, value, is_reached);
    if (is_data(name))
        return true;
    if (json_type(value) == JSON_ARRAY)
        return walk_each(m, value, false);
    return walk(m, value, true, false);
}

static bool walk(struct marks *m, struct span schema, bool is_property, bool is_reached)
{
    size_t cursor = 0;
    struct span name;
    struct span value;

    if (json_type(schema) != JSON_OBJECT)
        return true;
    while (json_next(schema, &cursor, &name, &value)) {
        bool ok = json_name_is(name, mark) ? take_mark(m, schema, value, is_property && is_reached)
                                           : walk_member(m, name, value, is_reached);

        if (!ok)
            return false;
    }
    return true;
}

bool tool_check_headers(struct span schema, struct buf *why)
{
    struct marks m = {.why = why};

    return walk(&m, schema, false, true);
}
