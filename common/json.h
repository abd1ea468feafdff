/* json.h - strict JSON, looked at in place.
 *
 * json_check() reads bytes from outside once and says whether they are one JSON text by RFC 8259
 * and within our limits. Everything else here works on checked bytes only, returns spans into
 * them and copies nothing, so that what a client sent can be passed on byte for byte.
 */
#pragma once

#include "common/err.h"
#include "common/span.h"

#include <stdint.h>

enum {
    JSON_DEPTH_MAX = 64,
    JSON_NODES_MAX = 50000, /* values in one text */
    JSON_DEPTH_LIMIT = 1024, /* the deepest that json_check_limits() can be asked for */
};

/* ERR_PARSE: not JSON (bad UTF-8, control characters, BOM, bad escapes, \u0000 in a member name,
 * lone surrogates, numbers like 01, trailing bytes). ERR_INVALID_REQUEST: deeper or larger than
 * the limits. *why is a static sentence, *at the offset; both may be NULL. */
enum err json_check(struct span text, const char **why, size_t *at) MUST_USE;
/* The same, with other limits (nodes_max 0: none; depth_max 0: JSON_DEPTH_LIMIT). */
enum err json_check_limits(struct span text, unsigned depth_max, size_t nodes_max, const char **why,
                           size_t *at) MUST_USE;

enum json_type {
    JSON_NONE, /* absent */
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

/* The type of a value's raw bytes. */
enum json_type json_type(struct span value);

/* One member of an object by exact, case-sensitive name; a name written with escapes is compared
 * decoded. Absent: {NULL, 0}. Of several the first; json_get_many() refuses them. */
struct span json_get(struct span object, const char *name);

/* Several members in one pass. want[i].name is looked for; want[i].value is set, absent ones to
 * {NULL, 0}. ERR_INVALID_REQUEST when any wanted name occurs twice (first wins is what other
 * parsers do not agree on), or object is no object. */
struct json_want {
    const char *name;
    struct span value;
};
enum err json_get_many(struct span object, struct json_want *want, size_t count) MUST_USE;

/* Walks an object or an array: start with *cursor = 0. Returns false at the end. For an array,
 * name is set to {NULL, 0}; for an object to the raw bytes between the quotes. */
bool json_next(struct span container, size_t *cursor, struct span *name, struct span *value);

/* Is this the name, as json_next() gives it, of a member `text`? Also when it has escapes. */
bool json_name_is(struct span name, const char *text);

/* A string's decoded bytes into out (bounded by room, NUL-terminated); the length, or -1 when it
 * is no string, does not fit, or holds U+0000. */
long json_string(struct span value, char *out, size_t room);
/* Is this string exactly `text` once decoded? */
bool json_is(struct span value, const char *text);
/* A number that is an integer in value (3, 3.0, 3e2) and fits. */
bool json_int(struct span value, int64_t *out);
bool json_number(struct span value, double *out); /* finite ones only */
bool json_bool(struct span value, bool *out);
/* A JSON-RPC id or progress token: a string without U+0000, or a number that is an integer in
 * form (J-02), of any size: it is echoed as it came. */
bool json_is_id(struct span value);
