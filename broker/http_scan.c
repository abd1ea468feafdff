#include "broker/http_internal.h"

#include <string.h>

/* evhttp cuts lines at a bare LF, joins folded ones, ends values at a NUL and reads a version with
 * scanf. None of that can be seen in what it hands over, and each is a way to say one thing to a
 * proxy and another to us. So the bytes are looked at as they arrive. */

#define HTTP_1_0 "TP/1.0\r\n"
#define HTTP_1_1 "TP/1.1\r\n"

void http_scan_start(struct http_scan *s)
{
    *s = (struct http_scan){.first = true, .method = true};
}

bool http_is_token_char(unsigned char c)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";

    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != 0 && strchr(marks, c) != NULL);
}

static uint64_t packed(const char text[static 8])
{
    uint64_t v = 0;

    for (int i = 0; i < 8; i++)
        v = v << 8 | (unsigned char)text[i];
    return v;
}

static void end_line(struct http_scan *s, bool with_cr)
{
    if (!with_cr)
        s->flaws |= HTTP_FLAW_BARE_LF;
    if (s->first && s->last != packed(HTTP_1_1) && s->last != packed(HTTP_1_0))
        s->flaws |= HTTP_FLAW_VERSION;
    if (s->column == (with_cr ? 1U : 0U))
        s->body = true;
    s->first = s->method = false;
    s->column = 0;
}

/* evhttp takes any bytes for a method that it does not know. */
static void method_byte(struct http_scan *s, unsigned char c)
{
    if (c == ' ' && s->column > 0)
        s->method = false;
    else if (!http_is_token_char(c) && c != '\r') /* one that ends no line is a flaw already */
        s->flaws |= HTTP_FLAW_METHOD;
}

static void one_byte(struct http_scan *s, unsigned char c)
{
    bool after_cr = (s->last & 0xff) == '\r' && s->column != 0;

    s->last = s->last << 8 | c;
    if (c == '\n') {
        end_line(s, after_cr);
        return;
    }
    if (s->method)
        method_byte(s, c);
    if (after_cr)
        s->flaws |= HTTP_FLAW_BARE_CR;
    if (s->column == 0 && !s->first && (c == ' ' || c == '\t'))
        s->flaws |= HTTP_FLAW_FOLD;
    if (c == 0)
        s->flaws |= HTTP_FLAW_NUL;
    else if ((c < ' ' && c != '\t' && c != '\r') || c == 0x7f)
        s->flaws |= HTTP_FLAW_CONTROL;
    s->column++;
}

/* How many of the next bytes are plain: inside a line, where nothing can be wrong with them. Nearly
 * all are. */
static size_t plain_bytes(const struct http_scan *s, const char *p, size_t n)
{
    size_t i = 0;

    if (s->column == 0 || s->method || (s->last & 0xff) == '\r')
        return 0;
    while (i < n && (unsigned char)p[i] >= ' ' && p[i] != 0x7f)
        i++;
    return i;
}

void http_scan_bytes(struct http_scan *s, const char *p, size_t n)
{
    while (n != 0 && !s->body) {
        size_t plain = plain_bytes(s, p, n);

        s->column += (uint32_t)plain;
        for (size_t i = plain > 8 ? plain - 8 : 0; i < plain; i++)
            s->last = s->last << 8 | (unsigned char)p[i];
        p += plain;
        n -= plain;
        if (n == 0)
            return;
        one_byte(s, (unsigned char)*p++);
        n--;
    }
}

const char *http_scan_text(unsigned flaws)
{
    if ((flaws & HTTP_FLAW_NUL) != 0)
        return "there is a NUL byte in the head";
    if ((flaws & HTTP_FLAW_CONTROL) != 0)
        return "there is a control character in the head";
    if ((flaws & (HTTP_FLAW_BARE_LF | HTTP_FLAW_BARE_CR)) != 0)
        return "a line of the head does not end in CR LF";
    if ((flaws & HTTP_FLAW_FOLD) != 0)
        return "a header is folded over several lines";
    if ((flaws & HTTP_FLAW_METHOD) != 0)
        return "the method is not a token";
    return "the HTTP version must be 1.1 or 1.0";
}
