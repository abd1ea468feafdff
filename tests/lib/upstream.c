#include "tests/lib/upstream.h"

#include "common/mem.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { HELD_MAX = 32 << 20 };

struct line {
    struct upstream *u;
    struct bufferevent *to;
};

static void line_free(struct line *l)
{
    l->u->open--;
    bufferevent_free(l->to);
    free(l);
}

static size_t body_length(const char *head, size_t n)
{
    const char *at = memmem(head, n, "\r\nContent-Length:", 17);

    return at != NULL ? strtoul(at + 17, NULL, 10) : 0;
}

/* One request, when it is there whole. */
static bool take(struct line *l)
{
    struct evbuffer *in = bufferevent_get_input(l->to);
    struct evbuffer_ptr end = evbuffer_search(in, "\r\n\r\n", 4, NULL);
    struct asked a = {.u = l->u, .to = l->to};
    struct buf *b = &l->u->newest;
    size_t head;
    size_t body;

    if (end.pos < 0)
        return false;
    head = (size_t)end.pos + 4;
    body = body_length((const char *)evbuffer_pullup(in, (ev_ssize_t)head), head);
    if (evbuffer_get_length(in) < head + body)
        return false;
    buf_reset(b);
    buf_add(b, (const char *)evbuffer_pullup(in, (ev_ssize_t)(head + body)), head + body);
    (void)evbuffer_drain(in, head + body);
    a.head = (struct span){b->p, head};
    a.body = (struct span){b->p + head, body};
    if (sscanf(b->p, "%15s %1023s", a.method, a.path) != 2)
        return false;
    l->u->requests++;
    l->u->fn(l->u->arg, &a);
    return true;
}

static void on_read(struct bufferevent *to, void *arg)
{
    (void)to;
    while (take(arg))
        ;
}

static void on_wrote(struct bufferevent *to, void *arg)
{
    struct line *l = arg;

    (void)to;
    if (bufferevent_get_enabled(l->to) == EV_WRITE)
        line_free(l);
}

static void on_end(struct bufferevent *to, short what, void *arg)
{
    (void)to;
    (void)what;
    line_free(arg);
}

static void on_accept(struct evconnlistener *from, evutil_socket_t fd, struct sockaddr *who, int n,
                      void *arg)
{
    struct upstream *u = arg;
    struct line *l = mem_zalloc(sizeof(*l));

    (void)from;
    (void)who;
    (void)n;
    l->u = u;
    l->to = bufferevent_socket_new(u->base, fd, BEV_OPT_CLOSE_ON_FREE);
    u->connections++;
    u->open++;
    bufferevent_setcb(l->to, on_read, on_wrote, on_end, l);
    (void)bufferevent_enable(l->to, EV_READ | EV_WRITE);
}

void upstream_start(struct upstream *u, struct event_base *base, upstream_fn *fn, void *arg)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(at);

    *u = (struct upstream){.base = base, .fn = fn, .arg = arg};
    buf_init(&u->newest, HELD_MAX);
    u->listener = evconnlistener_new_bind(base, on_accept, u, LEV_OPT_CLOSE_ON_FREE, 64,
                                          (struct sockaddr *)&at, sizeof(at));
    if (u->listener == NULL ||
        getsockname(evconnlistener_get_fd(u->listener), (struct sockaddr *)&at, &n) != 0)
        abort();
    u->port = ntohs(at.sin_port);
}

void upstream_stop(struct upstream *u)
{
    evconnlistener_free(u->listener);
    buf_fini(&u->newest);
}

void upstream_write(const struct asked *a, const char *text)
{
    (void)bufferevent_write(a->to, text, strlen(text));
}

void upstream_answer(const struct asked *a, const char *status, const char *more, const char *body)
{
    char head[2048];

    (void)snprintf(head, sizeof(head), "HTTP/1.1 %s\r\nContent-Length: %zu\r\n%s\r\n", status,
                   strlen(body), more);
    upstream_write(a, head);
    upstream_write(a, body);
}

void upstream_cut(const struct asked *a)
{
    (void)bufferevent_disable(a->to, EV_READ);
    bufferevent_trigger(a->to, EV_WRITE, BEV_OPT_DEFER_CALLBACKS);
}

const char *upstream_url(const struct upstream *u, const char *path)
{
    static char url[2048];

    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", u->port, path);
    return url;
}
