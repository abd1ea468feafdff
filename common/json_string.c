#include "common/json.h"
#include "common/json_raw.h"

#include <string.h>

static unsigned hex4(const char *p)
{
    unsigned v = 0;

    for (int i = 0; i < 4; i++)
        v = v * 16 + (unsigned)(p[i] <= '9' ? p[i] - '0' : (p[i] | 0x20) - 'a' + 10);
    return v & 0xffffU;
}

static size_t put_utf8(char out[static 4], unsigned v)
{
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t n = v < 0x80 ? 1 : v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;

    for (size_t i = n - 1; i > 0; i--) {
        out[i] = (char)(0x80U | (v & 0x3fU));
        v >>= 6;
    }
    out[0] = (char)(leads[n] | v);
    return n;
}

/* Decodes the escape at *p, a backslash, and moves behind it. Nothing comes of half an escape. */
static size_t decode_escape(const char **p, const char *end, char out[static 4])
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    const char *at = *p + 2;
    const char *letter;
    unsigned v;

    if (end - *p < 2 || ((*p)[1] == 'u' && end - *p < 6)) {
        *p = end;
        return 0;
    }
    if ((*p)[1] != 'u') {
        letter = memchr(letters, (*p)[1], sizeof(letters) - 1);
        *p = at;
        out[0] = letter != NULL ? meant[letter - letters] : '?';
        return 1;
    }
    v = hex4(at);
    at += 4;
    if (v >= 0xd800 && v <= 0xdbff && end - at >= 6) {
        v = 0x10000U + ((v - 0xd800U) << 10) + ((hex4(at + 2) - 0xdc00U) & 0x3ffU);
        at += 6;
    }
    *p = at;
    return put_utf8(out, v);
}

/* The first backslash, or the end. */
static const char *plain_end(const char *p, const char *end)
{
    const char *slash = p < end ? memchr(p, '\\', (size_t)(end - p)) : NULL;

    return slash != NULL ? slash : end;
}

bool json_decodes_to(struct span raw, struct span text)
{
    const char *p = raw.p;
    const char *end;
    size_t at = 0;
    char c[4];

    if (p == NULL || raw.n < text.n) /* an escape is longer than what it means */
        return false;
    end = p + raw.n;
    if (raw.n == text.n)
        return memcmp(p, text.p, text.n) == 0 && plain_end(p, end) == end;
    while (p < end) {
        const char *run_end = plain_end(p, end);
        size_t run = (size_t)(run_end - p);
        size_t len;

        if (run > text.n - at || memcmp(p, text.p + at, run) != 0)
            return false;
        at += run;
        p = run_end;
        if (p == end)
            break;
        len = decode_escape(&p, end, c);
        if (len > text.n - at || memcmp(c, text.p + at, len) != 0)
            return false;
        at += len;
    }
    return at == text.n;
}

struct span json_inside(struct span value)
{
    value = json_trim(value);
    if (value.n < 2 || value.p[0] != '"' || value.p[value.n - 1] != '"')
        return (struct span){NULL, 0};
    return (struct span){value.p + 1, value.n - 2};
}

long json_string(struct span value, char *out, size_t room)
{
    struct span raw = json_inside(value);
    const char *p = raw.p;
    const char *end;
    size_t n = 0;
    char c[4];

    if (p == NULL || room == 0)
        return -1;
    end = p + raw.n;
    for (;;) {
        const char *run_end = plain_end(p, end);
        size_t run = (size_t)(run_end - p);
        size_t len;

        if (run >= room - n)
            return -1;
        memcpy(out + n, p, run);
        n += run;
        p = run_end;
        if (p == end)
            break;
        len = decode_escape(&p, end, c);
        if (len == 0 || c[0] == '\0' || len >= room - n)
            return -1;
        memcpy(out + n, c, len);
        n += len;
    }
    out[n] = '\0';
    return (long)n;
}

bool json_is(struct span value, const char *text)
{
    return json_decodes_to(json_inside(value), span_of(text));
}

bool json_name_is(struct span name, const char *text)
{
    return name.p != NULL && json_decodes_to(name, span_of(text));
}

static bool holds_nul(struct span raw)
{
    const char *end = raw.p + raw.n;

    for (const char *p = plain_end(raw.p, end); p < end; p = plain_end(p + 2, end))
        if (end - p >= 6 && memcmp(p + 1, "u0000", 5) == 0)
            return true;
    return false;
}

bool json_is_id(struct span value)
{
    struct span raw = json_inside(value);

    return raw.p != NULL ? !holds_nul(raw) : json_is_integer_form(value);
}
