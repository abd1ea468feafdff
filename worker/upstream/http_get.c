#include "common/clock.h"
#include "worker/upstream/http_inside.h"

#include <event2/event.h>

enum { METHOD_NOT_ALLOWED = 405 };

static bool on_head(void *arg, struct fetch *f)
{
    struct http *h = arg;

    if (!http_is_stream(f))
        return false;
    h->get_failures = 0;
    return true;
}

static void on_bytes(void *arg, struct fetch *f, struct span bytes)
{
    struct http *h = arg;

    (void)f;
    sse_feed(&h->sse, bytes);
}

static void on_done(void *arg, struct fetch *f, const struct fetch_answer *answer)
{
    struct http *h = arg;
    struct timeval in;

    (void)f;
    h->get = NULL;
    if (answer->status == METHOD_NOT_ALLOWED)
        h->has_no_get = true;
    if (h->has_no_get || http_is_over(h, answer->status))
        return;
    in = clock_timeval(clock_jitter(http_retry_ms(&h->sse, h->get_failures++), 20));
    (void)event_add(h->get_again, &in);
}

void http_get_start(struct http *h)
{
    struct fetch_request request = {
        .method = "GET", .on_head = on_head, .on_bytes = on_bytes, .on_done = on_done, .arg = h};
    const char *more[] = {"Accept", "text/event-stream", "Last-Event-ID", buf_span(&h->sse.id).p,
                          NULL};

    if (h->why != NULL || h->get != NULL)
        return;
    sse_cut(&h->sse);
    if (h->sse.id.n == 0)
        more[2] = NULL;
    h->get = http_begin(h, &request, more);
}

void http_get_stop(struct http *h)
{
    (void)event_del(h->get_again);
    if (h->get != NULL)
        fetch_cancel(h->get);
    h->get = NULL;
}
