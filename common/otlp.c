#include "common/otlp.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/fetch.h"
#include "common/mem.h"
#include "common/metric.h"

#include <event2/event.h>
#include <stdlib.h>

enum {
    SPANS_MAX = 1024, /* that wait */
    BYTES_MAX = 2 << 20,
    BATCH = 256, /* so many leave at once, without waiting for the second to be over */
    FLUSH_MS = 1000,
    TIMEOUT_MS = 10000,
    LAST_MS = 1000,
};

static struct exporter {
    struct event_base *base; /* NULL: off */
    struct fetcher *fetcher;
    struct event *timer;
    struct fetch *flying; /* NULL: no request is under way */
    unsigned flying_spans;
    char *url;
    struct buf head; /* the request up to the first span */
    struct buf spans; /* the next request's, with commas between */
    unsigned count; /* of them */
    bool is_last;
} x;

static void flush(void);

static void arm(uint64_t ms)
{
    struct timeval t = clock_timeval(ms);

    if (!evtimer_pending(x.timer, NULL) || ms == 0)
        (void)evtimer_add(x.timer, &t);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    flush();
}

static void on_done(void *arg, struct fetch *f, const struct fetch_answer *answer)
{
    bool is_taken = answer->came && answer->status / 100 == 2;

    (void)arg;
    (void)f;
    metric_add(METRIC_SPANS, is_taken ? "sent" : "failed", x.flying_spans);
    x.flying = NULL;
    if (x.is_last && x.count == 0)
        (void)event_base_loopbreak(x.base);
    else if (x.count >= BATCH || x.is_last)
        flush();
    else if (x.count > 0)
        arm(FLUSH_MS);
}

static void flush(void)
{
    static const char *const headers[] = {"Content-Type: application/json"};
    struct buf body;
    struct fetch_request request = {.method = "POST",
                                    .url = x.url,
                                    .headers = headers,
                                    .header_count = 1,
                                    .connect_ms = 2000,
                                    .timeout_ms = TIMEOUT_MS,
                                    .on_done = on_done};

    if (x.count == 0 || x.flying != NULL)
        return;
    buf_init(&body, BYTES_MAX + (64 << 10));
    buf_add_span(&body, buf_span(&x.head));
    buf_add_span(&body, buf_span(&x.spans));
    buf_adds(&body, "]}]}]}");
    request.body = buf_span(&body);
    x.flying_spans = x.count;
    x.flying = fetch_start(x.fetcher, &request);
    x.count = 0;
    buf_reset(&x.spans);
    buf_fini(&body);
}

/* --- what is written down --- */

static void add_attribute(struct buf *out, const char *key, const char *value, bool more)
{
    buf_addf(out, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":", more ? "," : "", key);
    buf_add_json(out, span_of(value));
    buf_adds(out, "}}");
}

static void add_times(struct buf *out, uint64_t took_us)
{
    uint64_t end_us = clock_wall_ms() * 1000U;

    buf_adds(out, ",\"startTimeUnixNano\":\"");
    buf_add_u64(out, (end_us - (took_us < end_us ? took_us : end_us)) * 1000U);
    buf_adds(out, "\",\"endTimeUnixNano\":\"");
    buf_add_u64(out, end_us * 1000U);
    buf_adds(out, "\",\"attributes\":[");
}

static void write_span(struct buf *out, const struct otlp_span *s)
{
    bool more = false;

    buf_addf(out, "{\"traceId\":\"%s\",\"spanId\":\"%s\",", s->trace->id, s->trace->span);
    if (s->parent[0] != '\0')
        buf_addf(out, "\"parentSpanId\":\"%s\",", s->parent);
    buf_adds(out, "\"name\":");
    buf_add_json(out, span_of(s->name));
    buf_addf(out, ",\"kind\":%d", (int)s->kind);
    add_times(out, s->took_us);
    for (unsigned i = 0; i < OTLP_ATTRIBUTES_MAX; i++) {
        const struct otlp_attribute *a = &s->attributes[i];

        if (a->key == NULL || a->value == NULL || a->value[0] == '\0')
            continue;
        add_attribute(out, a->key, a->value, more);
        more = true;
    }
    buf_adds(out, s->is_error ? "],\"status\":{\"code\":2}}" : "]}");
}

void otlp_span(const struct otlp_span *s)
{
    if (x.base == NULL || s->trace->id[0] == '\0' || !s->trace->is_sampled)
        return;
    if (x.count >= SPANS_MAX || x.spans.n > BYTES_MAX / 2) {
        metric_add(METRIC_SPANS, "dropped", 1);
        return;
    }
    if (x.count++ > 0)
        buf_addc(&x.spans, ',');
    write_span(&x.spans, s);
    if (x.flying == NULL)
        arm(x.count == BATCH ? 0 : FLUSH_MS);
}

/* --- life --- */

bool otlp_is_on(void)
{
    return x.base != NULL;
}

static void write_head(const char *program, const char *instance)
{
    buf_init(&x.head, 4096);
    buf_adds(&x.head, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
    add_attribute(&x.head, "service.name", program, false);
    add_attribute(&x.head, "service.version", ERRAND_VERSION, true);
    add_attribute(&x.head, "service.instance.id", instance, true);
    buf_adds(&x.head, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"errand\"},\"spans\":[");
}

void otlp_start(struct event_base *base, const char *url, const char *program, const char *instance)
{
    struct buf full;

    buf_init(&full, 8192);
    buf_addf(&full, "%s/v1/traces", url);
    x.url = buf_take(&full);
    x.base = base;
    x.fetcher = fetcher_new(base);
    x.timer = evtimer_new(base, on_timer, NULL);
    if (x.timer == NULL)
        abort();
    buf_init(&x.spans, BYTES_MAX);
    write_head(program, instance);
}

void otlp_stop(void)
{
    struct timeval t = clock_timeval(LAST_MS);

    if (x.base == NULL)
        return;
    x.is_last = true;
    flush();
    if (x.flying != NULL) {
        (void)event_base_loopexit(x.base, &t);
        (void)event_base_dispatch(x.base);
    }
    fetcher_free(x.fetcher);
    event_free(x.timer);
    free(x.url);
    buf_fini(&x.head);
    buf_fini(&x.spans);
    x = (struct exporter){.base = NULL};
}
