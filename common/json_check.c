#include "common/json.h"

#include "common/utf8.h"

#include <string.h>

/* One pass, no recursion and no allocation: which container is open at each depth is one bit. */
struct check {
    const unsigned char *start;
    const unsigned char *p;
    const unsigned char *end;
    const char *why;
    enum err e;
    unsigned depth;
    unsigned depth_max;
    size_t nodes;
    size_t nodes_max;
    uint64_t objects[JSON_DEPTH_LIMIT / 64]; /* bit d - 1: what is open at depth d is an object */
};

static bool fail(struct check *c, const char *why)
{
    c->e = ERR_PARSE;
    c->why = why;
    return false;
}

static bool refuse(struct check *c, const char *why)
{
    c->e = ERR_INVALID_REQUEST;
    c->why = why;
    return false;
}

/* 0 at the end, which no token starts with. */
static unsigned char peek(const struct check *c)
{
    return c->p < c->end ? *c->p : 0;
}

static unsigned char skip_space(struct check *c)
{
    const unsigned char *p = c->p;

    while (p < c->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    c->p = p;
    return peek(c);
}

/* Has any of these eight bytes a control character, a quote, a backslash or its top bit set? */
static bool is_special(uint64_t x)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t quote = x ^ ones * '"';
    uint64_t slash = x ^ ones * '\\';

    return ((x | (x - ones * 0x20U) | (quote - ones) | (slash - ones)) & ones * 0x80U) != 0;
}

static const unsigned char *skip_plain(const unsigned char *p, const unsigned char *end)
{
    uint64_t x;

    while ((size_t)(end - p) >= sizeof(x)) {
        memcpy(&x, p, sizeof(x));
        if (is_special(x))
            break;
        p += sizeof(x);
    }
    while (p < end && *p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\')
        p++;
    return p;
}

/* The four hex digits of \uXXXX, or -1. */
static int hex4(const unsigned char *p, const unsigned char *end)
{
    int v = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int c = p[i];
        int lower = c | 0x20;

        if (c >= '0' && c <= '9')
            v = v * 16 + (c - '0');
        else if (lower >= 'a' && lower <= 'f')
            v = v * 16 + (lower - 'a' + 10);
        else
            return -1;
    }
    return v;
}

/* After \u: one code unit, or the two of a surrogate pair. */
static bool check_unicode(struct check *c, bool is_name)
{
    int v = hex4(c->p, c->end);

    if (v < 0)
        return fail(c, "\\u needs four hex digits");
    if (v == 0 && is_name)
        return fail(c, "a member name holds \\u0000");
    c->p += 4;
    if (v < 0xd800 || v > 0xdfff)
        return true;
    if (v > 0xdbff || c->end - c->p < 6 || c->p[0] != '\\' || c->p[1] != 'u')
        return fail(c, "half of a surrogate pair");
    v = hex4(c->p + 2, c->end);
    if (v < 0xdc00 || v > 0xdfff)
        return fail(c, "half of a surrogate pair");
    c->p += 6;
    return true;
}

/* At a backslash. */
static bool check_escape(struct check *c, bool is_name)
{
    c->p++;
    switch (peek(c)) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        c->p++;
        return true;
    case 'u':
        c->p++;
        return check_unicode(c, is_name);
    default:
        return fail(c, "unknown escape in a string");
    }
}

static bool check_utf8(struct check *c)
{
    while (c->p < c->end && *c->p >= 0x80) {
        size_t len = utf8_len(c->p, (size_t)(c->end - c->p));

        if (len == 0)
            return fail(c, "a string is not valid UTF-8");
        c->p += len;
    }
    return true;
}

/* At the opening quote. */
static bool check_string(struct check *c, bool is_name)
{
    c->p++;
    for (;;) {
        c->p = skip_plain(c->p, c->end);
        if (c->p == c->end)
            return fail(c, "a string does not end");
        if (*c->p == '"') {
            c->p++;
            return true;
        }
        if (*c->p == '\\') {
            if (!check_escape(c, is_name))
                return false;
            continue;
        }
        if (*c->p < 0x20)
            return fail(c, "a control character in a string must be escaped");
        if (!check_utf8(c))
            return false;
    }
}

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool check_digits(struct check *c)
{
    if (!is_digit(peek(c)))
        return fail(c, "a number lacks digits");
    while (is_digit(peek(c)))
        c->p++;
    return true;
}

static bool check_number(struct check *c)
{
    if (peek(c) == '-')
        c->p++;
    if (peek(c) == '0') {
        c->p++;
        if (is_digit(peek(c)))
            return fail(c, "a number starts with 0");
    } else if (!check_digits(c)) {
        return false;
    }
    if (peek(c) == '.') {
        c->p++;
        if (!check_digits(c))
            return false;
    }
    if (peek(c) == 'e' || peek(c) == 'E') {
        c->p++;
        if (peek(c) == '+' || peek(c) == '-')
            c->p++;
        return check_digits(c);
    }
    return true;
}

static bool check_word(struct check *c, struct span word)
{
    if ((size_t)(c->end - c->p) < word.n || memcmp(c->p, word.p, word.n) != 0)
        return fail(c, "not a value");
    c->p += word.n;
    return true;
}

static bool fail_at_value(struct check *c)
{
    static const unsigned char bom[] = {0xef, 0xbb, 0xbf};

    if (c->p == c->end)
        return fail(c, "the text ends where a value should be");
    if (c->p == c->start && c->end - c->p >= 3 && memcmp(c->p, bom, 3) == 0)
        return fail(c, "the text starts with a byte order mark");
    return fail(c, "not a value");
}

static bool check_scalar(struct check *c)
{
    switch (peek(c)) {
    case '"':
        return check_string(c, false);
    case 't':
        return check_word(c, SPAN("true"));
    case 'f':
        return check_word(c, SPAN("false"));
    case 'n':
        return check_word(c, SPAN("null"));
    default:
        return peek(c) == '-' || is_digit(peek(c)) ? check_number(c) : fail_at_value(c);
    }
}

static bool in_object(const struct check *c)
{
    return (c->objects[(c->depth - 1) / 64] >> ((c->depth - 1) % 64) & 1U) != 0;
}

static bool open_container(struct check *c, bool is_object)
{
    uint64_t bit = UINT64_C(1) << (c->depth % 64);

    if (c->depth == c->depth_max)
        return refuse(c, "nested too deep");
    if (is_object)
        c->objects[c->depth / 64] |= bit;
    else
        c->objects[c->depth / 64] &= ~bit;
    c->depth++;
    c->p++;
    return true;
}

static bool check_name(struct check *c)
{
    if (skip_space(c) != '"')
        return fail(c, "a member needs a name in quotes");
    if (!check_string(c, true))
        return false;
    if (skip_space(c) != ':')
        return fail(c, "a member name needs a colon");
    c->p++;
    return true;
}

/* Reads a scalar, or opens containers down to the first one, or to an empty container, whose end
 * is left to read. */
static bool check_value(struct check *c)
{
    for (;;) {
        unsigned char first = skip_space(c);

        if (c->nodes++ == c->nodes_max)
            return refuse(c, "too many values");
        if (first != '{' && first != '[')
            return check_scalar(c);
        if (!open_container(c, first == '{'))
            return false;
        if (skip_space(c) == (first == '{' ? '}' : ']'))
            return true;
        if (first == '{' && !check_name(c))
            return false;
    }
}

/* After a value: closes what ends here. Sets *more when a comma asks for another value. */
static bool check_after(struct check *c, bool *more)
{
    *more = false;
    while (c->depth != 0) {
        bool object = in_object(c);
        unsigned char next = skip_space(c);

        if (next == ',') {
            *more = true;
            c->p++;
            return !object || check_name(c);
        }
        if (next != (object ? '}' : ']'))
            return fail(c, object ? "expected , or } after a member"
                                  : "expected , or ] after an element");
        c->p++;
        c->depth--;
    }
    (void)skip_space(c);
    return c->p == c->end || fail(c, "bytes after the end of the value");
}

enum err json_check_limits(struct span text, unsigned depth_max, size_t nodes_max, const char **why,
                           size_t *at)
{
    const unsigned char *start = (const unsigned char *)(text.n != 0 ? text.p : "");
    struct check c = {.start = start, .p = start, .end = start + text.n};
    bool more = true;

    c.depth_max = depth_max != 0 && depth_max < JSON_DEPTH_LIMIT ? depth_max : JSON_DEPTH_LIMIT;
    c.nodes_max = nodes_max != 0 ? nodes_max : SIZE_MAX;
    while (more && check_value(&c) && check_after(&c, &more))
        ;
    if (c.e == ERR_OK)
        return ERR_OK;
    if (why != NULL)
        *why = c.why;
    if (at != NULL)
        *at = (size_t)(c.p - c.start);
    return c.e;
}

enum err json_check(struct span text, const char **why, size_t *at)
{
    return json_check_limits(text, JSON_DEPTH_MAX, JSON_NODES_MAX, why, at);
}
