#include "worker/upstream/sse.h"

enum { KEPT_MAX = 64 << 10, RETRY_MAX_MS = 3600 * 1000 };

void sse_init(struct sse *s, size_t max, void (*on_event)(void *arg, struct span data), void *arg)
{
    *s = (struct sse){.on_event = on_event, .arg = arg};
    buf_init(&s->line, max + 16);
    buf_init(&s->data, max);
    buf_init(&s->id, SSE_ID_MAX);
}

void sse_fini(struct sse *s)
{
    buf_fini(&s->line);
    buf_fini(&s->data);
    buf_fini(&s->id);
}

static void forget(struct buf *b)
{
    if (b->room > KEPT_MAX)
        buf_fini(b);
    else
        buf_reset(b);
}

static void end_event(struct sse *s)
{
    bool is_long = s->is_long || !buf_ok(&s->data);
    struct span data = buf_span(&s->data);

    s->is_long = false;
    if (is_long)
        s->on_event(s->arg, (struct span){NULL, 0});
    else if (data.n > 1)
        s->on_event(s->arg, (struct span){data.p, data.n - 1}); /* without its last line's end */
    forget(&s->data);
}

static void read_retry(struct sse *s, struct span value)
{
    uint64_t ms = 0;

    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] < '0' || value.p[i] > '9' || ms > RETRY_MAX_MS)
            return;
        ms = ms * 10 + (uint64_t)(value.p[i] - '0');
    }
    if (value.n > 0 && ms <= RETRY_MAX_MS)
        s->retry_ms = ms;
}

static void read_field(struct sse *s, struct span name, struct span value)
{
    if (span_is(name, "data")) {
        buf_add_span(&s->data, value);
        buf_addc(&s->data, '\n');
    } else if (span_is(name, "id") && memchr(value.p, '\0', value.n) == NULL) {
        buf_reset(&s->id);
        buf_add_span(&s->id, value);
    } else if (span_is(name, "retry")) {
        read_retry(s, value);
    }
}

static void end_line(struct sse *s)
{
    struct span line = buf_span(&s->line);
    const char *colon = memchr(line.p, ':', line.n);
    size_t n = colon != NULL ? (size_t)(colon - line.p) : line.n;
    struct span value = {line.p + n, 0};

    if (colon != NULL)
        value = (struct span){colon + 1, line.n - n - 1};
    if (value.n > 0 && value.p[0] == ' ')
        value = (struct span){value.p + 1, value.n - 1};
    if (!buf_ok(&s->line))
        s->is_long = true;
    else if (line.n == 0)
        end_event(s);
    else
        read_field(s, (struct span){line.p, n}, value);
    forget(&s->line);
}

/* The bytes up to the next line end, or all. */
static size_t plain(struct span bytes)
{
    const char *lf = memchr(bytes.p, '\n', bytes.n);
    size_t n = lf != NULL ? (size_t)(lf - bytes.p) : bytes.n;
    const char *cr = memchr(bytes.p, '\r', n);

    return cr != NULL ? (size_t)(cr - bytes.p) : n;
}

void sse_feed(struct sse *s, struct span bytes)
{
    while (bytes.n > 0) {
        size_t n;

        if (s->was_cr && bytes.p[0] == '\n')
            bytes = (struct span){bytes.p + 1, bytes.n - 1};
        s->was_cr = false;
        n = plain(bytes);
        buf_add(&s->line, bytes.p, n);
        if (n == bytes.n)
            return;
        s->was_cr = bytes.p[n] == '\r';
        end_line(s);
        bytes = (struct span){bytes.p + n + 1, bytes.n - n - 1};
    }
}

void sse_cut(struct sse *s)
{
    forget(&s->line);
    forget(&s->data);
    s->was_cr = s->is_long = false;
}
