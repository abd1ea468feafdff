#include "worker/health.h"

#include "common/clock.h"
#include "common/mem.h"
#include "common/metric.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { METRICS_MAX = 4 << 20, HEADERS_MAX = 8192, SILENT_S = 15, PAUSE_MS = 500, BACKLOG = 64 };

struct health {
    struct evhttp *http;
    struct evconnlistener *listener; /* the http's */
    struct event *again;
    health_ready_fn *is_ready;
    void *arg;
};

/* --- the socket --- */

static int bind_one(const struct addrinfo *a)
{
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;
    int saved;

    if (fd == -1)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    saved = errno;
    (void)close(fd);
    errno = saved;
    return -1;
}

int health_listen(const char *host, uint16_t port, struct buf *why)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char service[8];
    int fd = -1;
    int rc;

    (void)snprintf(service, sizeof(service), "%u", (unsigned)port);
    rc = getaddrinfo(host, service, &hints, &found);
    for (const struct addrinfo *a = found; rc == 0 && a != NULL && fd == -1; a = a->ai_next)
        fd = bind_one(a);
    if (fd == -1)
        buf_addf(why, "cannot listen on %s port %u: %s; give another address to --metrics", host,
                 (unsigned)port, rc != 0 ? gai_strerror(rc) : strerror(errno));
    if (found != NULL)
        freeaddrinfo(found);
    return fd;
}

/* --- requests --- */

static void answer(struct evhttp_request *r, int status, const char *type, struct span body)
{
    struct evbuffer *out = evbuffer_new();
    struct evkeyvalq *headers = evhttp_request_get_output_headers(r);

    if (out == NULL || evbuffer_add(out, body.p, body.n) != 0)
        abort();
    (void)evhttp_add_header(headers, "Content-Type", type);
    (void)evhttp_add_header(headers, "Cache-Control", "no-store");
    evhttp_send_reply(r, status, NULL, out);
    evbuffer_free(out);
}

static void on_healthz(struct evhttp_request *r, void *arg)
{
    (void)arg;
    answer(r, 200, "application/json", SPAN("{\"status\":\"ok\"}"));
}

static void on_readyz(struct evhttp_request *r, void *arg)
{
    const struct health *h = arg;

    if (h->is_ready(h->arg))
        answer(r, 200, "application/json", SPAN("{\"status\":\"ready\"}"));
    else
        answer(r, 503, "application/json",
               SPAN("{\"status\":\"unavailable\",\"reason\":\"redis cannot be used, or the worker "
                    "is draining\"}"));
}

static void on_metrics(struct evhttp_request *r, void *arg)
{
    const struct health *h = arg;
    struct buf out;

    (void)h->is_ready(h->arg);
    buf_init(&out, METRICS_MAX);
    metric_text(&out);
    answer(r, 200, "text/plain; version=0.0.4", buf_span(&out));
    buf_fini(&out);
}

static void on_other(struct evhttp_request *r, void *arg)
{
    (void)arg;
    answer(r, 404, "application/json",
           SPAN("{\"error\":\"there is nothing here: ask /healthz, /readyz or /metrics\"}"));
}

/* --- life --- */

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    const struct health *h = arg;

    (void)fd;
    (void)what;
    (void)evconnlistener_enable(h->listener);
}

/* Out of descriptors: without a pause this would be told without end. The argument that the
 * listener's callback is given belongs to evhttp. */
static struct health *paused;

static void on_error(struct evconnlistener *listener, void *arg)
{
    struct timeval t = clock_timeval(PAUSE_MS);

    (void)arg;
    (void)evconnlistener_disable(listener);
    (void)evtimer_add(paused->again, &t);
}

struct health *health_new(struct event_base *base, int fd, health_ready_fn *is_ready, void *arg)
{
    struct health *h = mem_zalloc(sizeof(*h));
    struct evhttp_bound_socket *bound;

    h->is_ready = is_ready;
    h->arg = arg;
    h->http = evhttp_new(base);
    h->again = evtimer_new(base, on_again, h);
    if (h->http == NULL || h->again == NULL)
        abort();
    bound = evhttp_accept_socket_with_handle(h->http, fd);
    if (bound == NULL)
        abort();
    h->listener = evhttp_bound_socket_get_listener(bound);
    paused = h;
    evconnlistener_set_error_cb(h->listener, on_error);
    evhttp_set_allowed_methods(h->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
    evhttp_set_max_headers_size(h->http, HEADERS_MAX);
    evhttp_set_max_body_size(h->http, 0);
    evhttp_set_timeout(h->http, SILENT_S);
    (void)evhttp_set_cb(h->http, "/healthz", on_healthz, h);
    (void)evhttp_set_cb(h->http, "/readyz", on_readyz, h);
    (void)evhttp_set_cb(h->http, "/metrics", on_metrics, h);
    evhttp_set_gencb(h->http, on_other, h);
    return h;
}

void health_free(struct health *h)
{
    if (h == NULL)
        return;
    evhttp_free(h->http);
    event_free(h->again);
    paused = NULL;
    free(h);
}
