#include "deploy/cli/stream.h"

void stream_init(struct stream *s, size_t max, stream_fn *fn, void *arg)
{
    *s = (struct stream){.fn = fn, .arg = arg};
    buf_init(&s->line, max);
    buf_init(&s->data, max);
}

void stream_fini(struct stream *s)
{
    buf_fini(&s->line);
    buf_fini(&s->data);
}

static void end_event(struct stream *s)
{
    s->failed = s->failed || !buf_ok(&s->data);
    if (s->has_data && !s->failed)
        s->fn(s->arg, (struct span){s->data.p != NULL ? s->data.p : "", s->data.n});
    s->has_data = false;
    buf_reset(&s->data);
}

/* Only "data" matters here: ids and retry hints are for those who resume a stream. */
static void end_line(struct stream *s)
{
    struct span l = buf_span(&s->line);
    const char *rest = l.p;

    if (l.n == 0) {
        end_event(s);
        return;
    }
    if (l.n >= 4 && memcmp(l.p, "data", 4) == 0 && (l.n == 4 || l.p[4] == ':')) {
        rest += l.n > 4 ? 5 : 4;
        if (rest < l.p + l.n && *rest == ' ')
            rest++;
        if (s->has_data)
            buf_addc(&s->data, '\n');
        buf_add(&s->data, rest, (size_t)(l.p + l.n - rest));
        s->has_data = true;
    }
    buf_reset(&s->line);
}

/* Lines end with LF, CR or both: an LF behind a CR ends nothing more. */
bool stream_feed(struct stream *s, const char *p, size_t n)
{
    size_t from = 0;

    for (size_t i = 0; i < n; i++) {
        bool cr = p[i] == '\r';
        bool second = p[i] == '\n' && s->after_cr;

        s->after_cr = cr;
        if (!cr && p[i] != '\n')
            continue;
        if (!second) {
            buf_add(&s->line, p + from, i - from);
            if (!buf_ok(&s->line))
                return false;
            end_line(s);
        }
        from = i + 1;
    }
    buf_add(&s->line, p + from, n - from);
    return !s->failed && buf_ok(&s->line) && buf_ok(&s->data);
}
