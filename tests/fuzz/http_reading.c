#include "tests/fuzz/http_reading.h"

#include <string.h>
#include <strings.h>

static bool is_token(struct span s)
{
    static const char token[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    for (size_t i = 0; i < s.n; i++)
        if (memchr(token, s.p[i], sizeof(token) - 1) == NULL)
            return false;
    return s.n > 0;
}

static bool has_controls(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (((unsigned char)s.p[i] < ' ' && s.p[i] != '\t') || s.p[i] == 0x7f)
            return true;
    return false;
}

static bool take_line(struct span *line, const char **at, const char *end)
{
    const char *lf = memchr(*at, '\n', (size_t)(end - *at));

    if (lf == NULL || lf == *at || lf[-1] != '\r')
        return false;
    *line = (struct span){*at, (size_t)(lf - 1 - *at)};
    *at = lf + 1;
    return !has_controls(*line);
}

/* Up to that character, which is skipped. */
static bool take_until(struct span *part, struct span *line, char stop)
{
    const char *p = memchr(line->p, stop, line->n);

    if (p == NULL)
        return false;
    *part = (struct span){line->p, (size_t)(p - line->p)};
    line->n -= part->n + 1;
    line->p = p + 1;
    return true;
}

static bool is_name(struct span s, const char *name)
{
    return s.n == strlen(name) && strncasecmp(s.p, name, s.n) == 0;
}

static struct span trimmed(struct span s)
{
    while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t')) {
        s.p++;
        s.n--;
    }
    while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

static bool read_target(struct http_reading *r, struct span target)
{
    const char *mark = memchr(target.p, '?', target.n);

    if (target.n == 0 || target.p[0] != '/')
        return false;
    r->path = target;
    r->query = (struct span){NULL, 0};
    if (mark != NULL) {
        r->path.n = (size_t)(mark - target.p);
        r->query = (struct span){mark + 1, target.n - r->path.n - 1};
    }
    return true;
}

static bool read_first(struct http_reading *r, struct span line, bool *is_1_0)
{
    struct span method;
    struct span target;

    if (!take_until(&method, &line, ' ') || !take_until(&target, &line, ' ') || !is_token(method))
        return false;
    r->method = span_is(method, "GET")      ? HTTP_GET
                : span_is(method, "POST")   ? HTTP_POST
                : span_is(method, "DELETE") ? HTTP_DELETE
                                            : HTTP_OTHER;
    *is_1_0 = span_is(line, "HTTP/1.0");
    return (*is_1_0 || span_is(line, "HTTP/1.1")) && read_target(r, target);
}

static bool read_number(size_t *out, struct span s)
{
    *out = 0;
    if (s.n == 0 || s.n > 10)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        *out = *out * 10 + (size_t)(s.p[i] - '0');
    }
    return true;
}

static bool read_header(struct http_reading *r, struct span line, unsigned *lengths, size_t *length)
{
    struct span name;
    struct span value;

    if (!take_until(&name, &line, ':') || !is_token(name))
        return false;
    value = trimmed(line);
    if (is_name(name, "Transfer-Encoding"))
        return false;
    if (is_name(name, "Content-Length"))
        return ++*lengths == 1 && read_number(length, value);
    if (!is_name(name, "Host"))
        return true;
    if (r->host.p != NULL)
        return false;
    r->host = value;
    return true;
}

bool http_reading(struct http_reading *r, const char **at, const char *end)
{
    unsigned lengths = 0;
    size_t length = 0;
    struct span line;
    bool is_1_0;

    *r = (struct http_reading){0};
    if (!take_line(&line, at, end) || !read_first(r, line, &is_1_0))
        return false;
    for (;;) {
        if (!take_line(&line, at, end))
            return false;
        if (line.n == 0)
            break;
        if (!read_header(r, line, &lengths, &length))
            return false;
    }
    if ((r->host.p == NULL && !is_1_0) || length > (size_t)(end - *at))
        return false;
    r->body = (struct span){*at, length};
    *at += length;
    return true;
}
