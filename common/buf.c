#include "common/buf.h"

#include "common/mem.h"
#include "common/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.max = max};
}

void buf_fini(struct buf *b)
{
    free(b->p);
    *b = (struct buf){.max = b->max};
}

void buf_wipe(struct buf *b)
{
    if (b->p != NULL)
        explicit_bzero(b->p, b->room);
    buf_fini(b);
}

void buf_reset(struct buf *b)
{
    b->n = 0;
    b->overflow = false;
    if (b->p != NULL)
        b->p[0] = '\0';
}

bool buf_ok(const struct buf *b)
{
    return !b->overflow;
}

struct span buf_span(const struct buf *b)
{
    return (struct span){b->p != NULL ? b->p : "", b->n};
}

char *buf_take(struct buf *b)
{
    char *p = b->p != NULL ? b->p : mem_dup("", 0);

    *b = (struct buf){.max = b->max};
    return p;
}

/* Makes room for n more bytes and a NUL. */
static bool reserve(struct buf *b, size_t n)
{
    size_t room = b->room != 0 ? b->room : 256;

    if (b->overflow || n > b->max - b->n) {
        b->overflow = true;
        return false;
    }
    while (room < b->n + n + 1)
        room *= 2;
    if (room != b->room) {
        b->p = mem_grow(b->p, room);
        b->room = room;
    }
    return true;
}

void buf_init_secret(struct buf *b, size_t max)
{
    buf_init(b, max);
    (void)reserve(b, max);
}

void buf_add(struct buf *b, const char *p, size_t n)
{
    if (!reserve(b, n))
        return;
    if (n != 0)
        memcpy(b->p + b->n, p, n);
    b->n += n;
    b->p[b->n] = '\0';
}

void buf_add_span(struct buf *b, struct span s)
{
    buf_add(b, s.p, s.n);
}

void buf_adds(struct buf *b, const char *text)
{
    buf_add(b, text, strlen(text));
}

void buf_addc(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_addf(struct buf *b, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || !reserve(b, (size_t)n)) {
        b->overflow = true;
        return;
    }
    va_start(args, format);
    (void)vsnprintf(b->p + b->n, (size_t)n + 1, format, args);
    va_end(args);
    b->n += (size_t)n;
}

void buf_add_u64(struct buf *b, uint64_t v)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + v % 10U);
        v /= 10U;
    } while (v != 0);
    buf_add(b, digits + at, sizeof(digits) - at);
}

static void add_escaped(struct buf *b, unsigned char c)
{
    static const char named[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                 ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};

    if (c < sizeof(named) && named[c] != 0) {
        buf_addc(b, '\\');
        buf_addc(b, named[c]);
    } else {
        buf_addf(b, "\\u%04x", c);
    }
}

void buf_add_json(struct buf *b, struct span text)
{
    const unsigned char *p = (const unsigned char *)text.p;
    size_t plain = 0; /* start of the run not yet copied */
    size_t i = 0;

    buf_addc(b, '"');
    while (i < text.n) {
        size_t len = utf8_len(p + i, text.n - i);

        if (len != 0 && p[i] >= 0x20 && p[i] != '"' && p[i] != '\\' && p[i] != 0x7f) {
            i += len;
            continue;
        }
        buf_add(b, text.p + plain, i - plain);
        if (len == 0)
            buf_adds(b, "\xef\xbf\xbd");
        else
            add_escaped(b, p[i]);
        plain = ++i;
    }
    if (plain < text.n)
        buf_add(b, text.p + plain, text.n - plain);
    buf_addc(b, '"');
}

/* The date of a day since 1970, by counting from 1 March of the year 0 in eras of 400 years, so
 * that leap days come last in their year. */
static void date_of(uint64_t days, unsigned *year, unsigned *month, unsigned *day)
{
    uint64_t since = days + 719468;
    unsigned of_era = (unsigned)(since % 146097);
    unsigned y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned of_year = of_era - (365 * y + y / 4 - y / 100);
    unsigned m = (5 * of_year + 2) / 153; /* from March */

    *day = of_year - (153 * m + 2) / 5 + 1;
    *month = m < 10 ? m + 3 : m - 9;
    *year = y + (unsigned)(since / 146097) * 400 + (*month <= 2);
}

static char *put_digits(char *at, unsigned v, unsigned n, char after)
{
    for (unsigned i = n; i-- > 0; v /= 10)
        at[i] = (char)('0' + v % 10);
    at[n] = after;
    return at + n + 1;
}

/* By hand: each answer about a task has two, and strftime takes longer than all the rest of it. */
void buf_add_time(struct buf *b, uint64_t epoch_ms)
{
    unsigned of_day = (unsigned)(epoch_ms / 1000 % 86400);
    char text[sizeof("2026-01-02T03:04:05.678Z")];
    char *at = text;
    unsigned year;
    unsigned month;
    unsigned day;

    date_of(epoch_ms / 86400000, &year, &month, &day);
    at = put_digits(at, year, 4, '-');
    at = put_digits(at, month, 2, '-');
    at = put_digits(at, day, 2, 'T');
    at = put_digits(at, of_day / 3600, 2, ':');
    at = put_digits(at, of_day / 60 % 60, 2, ':');
    at = put_digits(at, of_day % 60, 2, '.');
    at = put_digits(at, (unsigned)(epoch_ms % 1000), 3, 'Z');
    buf_add(b, text, (size_t)(at - text));
}
