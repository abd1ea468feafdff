#include "broker/m/header.h"

#include "common/json.h"
#include "common/seal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { VALUE_MAX = 8192, DEPTH_MAX = 8, MARK_MAX = 64 };

#define PREFIX "=?base64?"
#define SUFFIX "?="

/* The value as its sender meant it. false: base64 that is none. */
static bool decode(const char *value, struct buf *out)
{
    size_t n = strlen(value);
    size_t head = strlen(PREFIX);

    if (n < head + strlen(SUFFIX) || strncmp(value, PREFIX, head) != 0 ||
        strcmp(value + n - strlen(SUFFIX), SUFFIX) != 0) {
        buf_adds(out, value);
        return true;
    }
    return seal_base64(out, (struct span){value + head, n - head - strlen(SUFFIX)});
}

bool m_header_says(const struct http_req *r, const char *header, struct span want)
{
    const char *value = http_header(r, header);
    struct buf text;
    bool same;

    if (value == NULL || http_header_count(r, header) != 1)
        return false;
    buf_init(&text, VALUE_MAX);
    same = decode(value, &text) && buf_ok(&text) && span_equal(buf_span(&text), want);
    buf_fini(&text);
    return same;
}

/* --- Mcp-Param --- */

struct check {
    const struct http_req *r;
    struct buf *why;
};

/* Is the header's text the same value as the argument? Integers are compared as numbers. */
static bool same_value(const char *text, struct span value)
{
    char plain[VALUE_MAX];
    double number;
    char *end;
    long n;

    if (json_type(value) == JSON_STRING) {
        n = json_string(value, plain, sizeof(plain));
        return n >= 0 && strlen(text) == (size_t)n && memcmp(text, plain, (size_t)n) == 0;
    }
    if (json_type(value) == JSON_NUMBER) {
        double said = strtod(text, &end);

        return end != text && *end == '\0' && json_number(value, &number) && !(said < number) &&
               !(said > number);
    }
    return strlen(text) == value.n && memcmp(text, value.p, value.n) == 0;
}

static bool agrees(const struct check *c, const char *mark, struct span value)
{
    char header[MARK_MAX + 16];
    struct buf text;
    const char *sent;
    bool good;

    (void)snprintf(header, sizeof(header), "Mcp-Param-%s", mark);
    sent = http_header(c->r, header);
    if (value.p == NULL || json_type(value) == JSON_NULL) {
        if (sent != NULL)
            buf_addf(c->why, "Header %s is sent, but the argument is absent", header);
        return sent == NULL;
    }
    if (sent == NULL) {
        buf_addf(c->why, "Header %s is missing", header);
        return false;
    }
    buf_init(&text, VALUE_MAX);
    good = decode(sent, &text) && buf_ok(&text) && same_value(buf_span(&text).p, value);
    if (!good)
        buf_addf(c->why, "Header %s does not say what the argument says", header);
    buf_fini(&text);
    return good;
}

/* Walks the properties that are reachable by name alone. */
static bool walk(const struct check *c, struct span schema, struct span arguments, unsigned depth)
{
    struct span properties = json_get(schema, "properties");
    struct span name;
    struct span property;
    size_t cursor = 0;

    while (depth < DEPTH_MAX && json_next(properties, &cursor, &name, &property)) {
        char mark[MARK_MAX];
        char text[256];
        struct span value = {NULL, 0};

        if (name.n < sizeof(text) && json_type(arguments) == JSON_OBJECT) {
            memcpy(text, name.p, name.n);
            text[name.n] = '\0';
            value = json_get(arguments, text);
        }
        if (json_string(json_get(property, "x-mcp-header"), mark, sizeof(mark)) > 0 &&
            !agrees(c, mark, value))
            return false;
        if (json_type(property) == JSON_OBJECT && !walk(c, property, value, depth + 1))
            return false;
    }
    return true;
}

bool m_params_agree(const struct http_req *r, struct span input_schema, struct span arguments,
                    struct buf *why)
{
    struct check c = {.r = r, .why = why};

    if (memmem(input_schema.p, input_schema.n, "x-mcp-header", 12) == NULL)
        return true;
    return walk(&c, input_schema, arguments, 0);
}
