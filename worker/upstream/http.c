#include "common/clock.h"
#include "common/mem.h"
#include "worker/tool_text.h"
#include "worker/upstream/http_inside.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HEADERS_MAX = 300, LINE_MAX = 64 << 10, WHY_MAX = 1024, FAREWELL_MS = 2000 };

/* --- what every request has --- */

struct headers {
    struct buf lines[HEADERS_MAX];
    const char *texts[HEADERS_MAX];
    size_t n;
};

static struct buf *next_line(struct headers *all)
{
    struct buf *b = &all->lines[all->n++];

    buf_init(b, LINE_MAX);
    return b;
}

static void add_line(struct headers *all, const char *name, const char *value)
{
    if (all->n < HEADERS_MAX)
        buf_addf(next_line(all), "%s: %s", name, value);
}

static bool add_own(struct headers *all, const struct tool_server *s, struct buf *why)
{
    for (size_t i = 0; i + 1 < s->headers.n && all->n < HEADERS_MAX; i += 2) {
        struct buf *b = next_line(all);

        buf_addf(b, "%s: ", s->headers.items[i]);
        if (!text_expand(b, s->headers.items[i + 1], why))
            return false;
        if (strpbrk(buf_span(b).p, "\r\n") == NULL)
            continue;
        buf_addf(why, "the value of the header %s holds a line break", s->headers.items[i]);
        return false;
    }
    return true;
}

static void finish(struct headers *all)
{
    for (size_t i = 0; i < all->n; i++)
        buf_wipe(&all->lines[i]);
    free(all);
}

struct fetch *http_begin(struct http *h, struct fetch_request *request, const char *const *more)
{
    struct headers *all = mem_zalloc(sizeof(*all));
    struct fetch *f = NULL;
    struct buf why;

    buf_init(&why, WHY_MAX);
    if (h->session != NULL)
        add_line(all, "MCP-Session-Id", h->session);
    if (h->version[0] != '\0')
        add_line(all, "MCP-Protocol-Version", h->version);
    for (size_t i = 0; more != NULL && more[i] != NULL; i += 2)
        add_line(all, more[i], more[i + 1]);
    if (add_own(all, h->server, &why)) {
        for (size_t i = 0; i < all->n; i++)
            all->texts[i] = buf_span(&all->lines[i]).p;
        request->url = h->server->url;
        request->headers = all->texts;
        request->header_count = all->n;
        f = fetch_start(h->fetcher, request);
    } else {
        http_end(h, buf_span(&why).p);
    }
    finish(all);
    buf_fini(&why);
    return f;
}

bool http_is_stream(const struct fetch *f)
{
    static const char type[] = "text/event-stream";
    struct span is = fetch_header(f, "content-type");

    return fetch_status(f) == 200 && is.n >= sizeof(type) - 1 &&
           strncasecmp(is.p, type, sizeof(type) - 1) == 0;
}

uint64_t http_retry_ms(const struct sse *s, unsigned failures)
{
    uint64_t ms = s->retry_ms != 0 ? s->retry_ms : HTTP_RETRY_MS;

    ms = ms > HTTP_RETRY_MIN_MS ? ms : HTTP_RETRY_MIN_MS;
    for (unsigned i = 0; i < failures && ms < HTTP_RETRY_MAX_MS; i++)
        ms *= 2;
    return ms < HTTP_RETRY_MAX_MS ? ms : HTTP_RETRY_MAX_MS;
}

bool http_is_over(struct http *h, unsigned status)
{
    if (status != HTTP_NOT_FOUND || h->session == NULL)
        return false;
    free(h->session); /* there is nothing to be deleted */
    h->session = NULL;
    http_end(h, "the server does not know the session any more");
    return true;
}

/* --- its end --- */

static void on_end(evutil_socket_t fd, short what, void *arg)
{
    struct http *h = arg;

    (void)fd;
    (void)what;
    http_get_stop(h);
    http_post_free_all(h);
    h->transport.sink->gone(h->transport.arg, h->why != NULL ? h->why : "it was closed");
}

void http_end(struct http *h, const char *why)
{
    struct timeval now = {0};

    if (h->why == NULL)
        h->why = mem_strdup(why);
    (void)event_add(h->end, &now);
}

static void on_farewell(void *arg, struct fetch *f, const struct fetch_answer *answer)
{
    struct http *h = arg;

    (void)f;
    (void)answer;
    h->farewell = NULL;
    http_end(h, "it was closed");
}

static void http_close(struct transport *t, uint64_t grace_ms)
{
    struct http *h = (struct http *)(void *)t;
    struct fetch_request request = {
        .method = "DELETE", .timeout_ms = FAREWELL_MS, .on_done = on_farewell, .arg = h};

    if (h->session == NULL || grace_ms == 0 || h->why != NULL) {
        http_end(h, "it was closed");
        return;
    }
    if (h->farewell == NULL)
        h->farewell = http_begin(h, &request, NULL);
}

/* --- the transport --- */

static void http_send(struct transport *t, struct span message, uint64_t number)
{
    struct http *h = (struct http *)(void *)t;

    if (h->why == NULL)
        http_post(h, message, number);
}

static void http_forget(struct transport *t, uint64_t number)
{
    http_post_forget((struct http *)(void *)t, number);
}

static void http_agreed(struct transport *t, const char *version)
{
    struct http *h = (struct http *)(void *)t;

    (void)snprintf(h->version, sizeof(h->version), "%s", version);
    http_get_start(h);
}

static void http_free(struct transport *t)
{
    struct http *h = (struct http *)(void *)t;

    http_get_stop(h);
    http_post_free_all(h);
    if (h->farewell != NULL)
        fetch_cancel(h->farewell);
    event_free(h->get_again);
    event_free(h->end);
    sse_fini(&h->sse);
    tool_server_let_go(h->server);
    free(h->session);
    free(h->why);
    free(h);
}

static void on_get_event(void *arg, struct span data)
{
    const struct http *h = arg;

    if (data.p == NULL)
        h->transport.sink->missed(h->transport.arg, data);
    else
        h->transport.sink->heard(h->transport.arg, data, 0);
}

static void on_get_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    http_get_start(arg);
}

struct transport *http_open(struct fetcher *fetcher, struct event_base *base,
                            struct tool_server *server, const struct transport_sink *sink,
                            void *arg)
{
    struct http *h = mem_zalloc(sizeof(*h));

    h->transport = (struct transport){.sink = sink,
                                      .arg = arg,
                                      .send = http_send,
                                      .forget = http_forget,
                                      .agreed = http_agreed,
                                      .close = http_close,
                                      .free = http_free};
    h->fetcher = fetcher;
    h->base = base;
    h->server = tool_server_hold(server);
    list_init(&h->posts);
    sse_init(&h->sse, LINES_MAX, on_get_event, h);
    h->get_again = evtimer_new(base, on_get_again, h);
    h->end = evtimer_new(base, on_end, h);
    if (h->get_again == NULL || h->end == NULL)
        abort();
    return &h->transport;
}
