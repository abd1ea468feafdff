#include "tests/fuzz/json_reading.h"

#include "common/json.h"

#include <stdlib.h>
#include <string.h>

struct reading {
    const unsigned char *p;
    size_t left;
    size_t nodes;
    bool beyond; /* over a limit: what follows was not read */
};

static bool value(struct reading *r, unsigned depth);

static int look(const struct reading *r)
{
    return r->left != 0 ? *r->p : -1;
}

static int take(struct reading *r)
{
    int c = look(r);

    if (c >= 0) {
        r->p++;
        r->left--;
    }
    return c;
}

static bool accept(struct reading *r, int c)
{
    if (look(r) != c)
        return false;
    (void)take(r);
    return true;
}

static void blanks(struct reading *r)
{
    while (accept(r, ' ') || accept(r, '\t') || accept(r, '\n') || accept(r, '\r'))
        ;
}

static bool word(struct reading *r, const char *w)
{
    for (; *w != '\0'; w++)
        if (!accept(r, *w))
            return false;
    return true;
}

static bool some_digits(struct reading *r)
{
    size_t n = 0;

    for (; look(r) >= '0' && look(r) <= '9'; n++)
        (void)take(r);
    return n != 0;
}

static bool number(struct reading *r)
{
    (void)accept(r, '-');
    if (!accept(r, '0') && !some_digits(r))
        return false;
    if (accept(r, '.') && !some_digits(r))
        return false;
    if (!accept(r, 'e') && !accept(r, 'E'))
        return true;
    if (!accept(r, '+'))
        (void)accept(r, '-');
    return some_digits(r);
}

/* Four hex digits by strtol, or -1. */
static long unit(struct reading *r)
{
    char text[5] = {0};

    for (int i = 0; i < 4; i++) {
        int c = take(r);

        if (c <= 0 || strchr("0123456789abcdefABCDEF", c) == NULL)
            return -1;
        text[i] = (char)c;
    }
    return strtol(text, NULL, 16);
}

static bool escape(struct reading *r, bool name)
{
    int c = take(r);
    long u;

    if (c != 'u')
        return c > 0 && strchr("\"\\/bfnrt", c) != NULL;
    u = unit(r);
    if (u < 0 || (u == 0 && name) || (u >= 0xdc00 && u <= 0xdfff))
        return false;
    if (u < 0xd800 || u > 0xdbff)
        return true;
    if (!accept(r, '\\') || !accept(r, 'u'))
        return false;
    u = unit(r);
    return u >= 0xdc00 && u <= 0xdfff;
}

static unsigned tails_after(int lead)
{
    return lead >= 0xf8 ? 0 : lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
}

/* The rest of a character of more than one byte: decoded, then judged by its value. */
static bool multibyte(struct reading *r, int lead)
{
    static const unsigned least[] = {0, 0x80, 0x800, 0x10000};
    unsigned tails = tails_after(lead);
    unsigned v = (unsigned)lead & (0x3fU >> tails);

    for (unsigned i = 0; i < tails; i++) {
        int c = take(r);

        if (c < 0x80 || c > 0xbf)
            return false;
        v = v << 6 | ((unsigned)c & 0x3fU);
    }
    return tails != 0 && v >= least[tails] && v <= 0x10ffff && (v < 0xd800 || v > 0xdfff);
}

static bool string(struct reading *r, bool name)
{
    if (!accept(r, '"'))
        return false;
    for (;;) {
        int c = take(r);

        if (c == '"')
            return true;
        if (c < 0x20 || (c == '\\' && !escape(r, name)) || (c >= 0x80 && !multibyte(r, c)))
            return false;
    }
}

static bool elements(struct reading *r, bool object, unsigned depth)
{
    int end = object ? '}' : ']';

    blanks(r);
    if (accept(r, end))
        return true;
    do {
        blanks(r);
        if (object) {
            if (!string(r, true))
                return false;
            blanks(r);
            if (!accept(r, ':'))
                return false;
        }
        if (!value(r, depth))
            return false;
        blanks(r);
    } while (accept(r, ','));
    return accept(r, end);
}

static bool value(struct reading *r, unsigned depth)
{
    blanks(r);
    if (++r->nodes > JSON_NODES_MAX) {
        r->beyond = true;
        return false;
    }
    switch (look(r)) {
    case '{':
    case '[':
        if (depth == JSON_DEPTH_MAX) {
            r->beyond = true;
            return false;
        }
        return elements(r, take(r) == '{', depth + 1);
    case '"':
        return string(r, false);
    case 't':
        return word(r, "true");
    case 'f':
        return word(r, "false");
    case 'n':
        return word(r, "null");
    default:
        return number(r);
    }
}

enum err json_second_reading(struct span text)
{
    struct reading r = {.p = (const unsigned char *)text.p, .left = text.n};
    bool ok = value(&r, 0);

    blanks(&r);
    if (r.beyond)
        return ERR_INVALID_REQUEST;
    return ok && r.left == 0 ? ERR_OK : ERR_PARSE;
}
