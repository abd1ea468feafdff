#include "broker/http_internal.h"

#include "common/buf.h"
#include "common/clock.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    BACKLOG = 4096,
    SHED_AT_ONCE = 32,
    RESERVED_MAX = 32, /* descriptors that no client gets; fewer when there are not many */
    PAUSE_MS = 100,
};

/* A listener's error callback is given its evhttp, not us: this finds us again. */
static struct list edges = {&edges, &edges};

static struct http *edge_of(const void *ev)
{
    LIST_EACH(&edges, it)
    {
        struct http *h = LIST_OF(it, struct http, all);

        if (h->ev == ev)
            return h;
    }
    return NULL;
}

/* The last descriptors are for what serves all clients: links to Redis that are dialled again, and
 * whatever finds their way. */
static int raise_descriptors(void)
{
    struct rlimit r;
    rlim_t most;

    if (getrlimit(RLIMIT_NOFILE, &r) != 0)
        return INT_MAX;
    if (r.rlim_cur < r.rlim_max) {
        r.rlim_cur = r.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &r);
    }
    most = r.rlim_cur < INT_MAX ? r.rlim_cur : INT_MAX;
    return (int)(most - (most / 8 < RESERVED_MAX ? most / 8 : RESERVED_MAX));
}

/* Accepted sockets inherit these. Keepalive and the user timeout find peers that vanished without
 * a word while a request is held or a stream is quiet. */
static void set_options(int fd)
{
    const struct {
        int level, name, value;
    } options[] = {
        {SOL_SOCKET, SO_REUSEADDR, 1},          {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_NODELAY, 1},          {IPPROTO_TCP, TCP_KEEPIDLE, 60},
        {IPPROTO_TCP, TCP_KEEPINTVL, 10},       {IPPROTO_TCP, TCP_KEEPCNT, 3},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, 60000},
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        (void)setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
}

static int bind_one(const struct addrinfo *a)
{
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int saved;

    if (fd == -1)
        return -1;
    set_options(fd);
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    saved = errno;
    (void)close(fd);
    errno = saved;
    return -1;
}

static int bind_any(const struct http_conf *conf, struct buf *why)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found;
    struct buf port;
    int fd = -1;
    int e;

    buf_init(&port, 16);
    buf_add_u64(&port, conf->port);
    e = getaddrinfo(conf->host, port.p, &hints, &found);
    buf_fini(&port);
    if (e != 0) {
        buf_addf(why, "cannot listen on %s: %s", conf->host, gai_strerror(e));
        return -1;
    }
    for (const struct addrinfo *a = found; a != NULL && fd == -1; a = a->ai_next)
        fd = bind_one(a);
    if (fd == -1)
        buf_addf(why, "cannot listen on %s port %u: %s", conf->host, (unsigned)conf->port,
                 strerror(errno));
    freeaddrinfo(found);
    return fd;
}

static uint16_t port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } a = {.v6 = {0}};
    socklen_t n = sizeof(a);

    if (getsockname(fd, &a.any, &n) != 0)
        return 0;
    return ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
}

static int spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* With nobody idle to send away, the client at the door is told so rather than left there. */
static void refuse_one(struct http *h, int listener)
{
    static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
                               "Content-Length: 0\r\nConnection: close\r\n\r\n";
    int fd;

    if (h->spare_fd == -1)
        return;
    (void)close(h->spare_fd);
    fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd != -1) {
        (void)send(fd, busy, sizeof(busy) - 1, MSG_NOSIGNAL);
        (void)shutdown(fd, SHUT_WR);
        (void)close(fd);
        h->stats.refused++;
    }
    h->spare_fd = spare();
}

/* Would the next client get one of the last descriptors? The kernel gives the lowest that is free.
 */
static bool is_full(const struct http *h, int listener)
{
    int fd = fcntl(listener, F_DUPFD_CLOEXEC, 0);

    if (fd != -1)
        (void)close(fd);
    return fd == -1 || fd >= h->descriptors;
}

static void rest(struct http *h, struct evconnlistener *listener)
{
    (void)evconnlistener_disable(listener);
    h->listen_again_ms = clock_mono_ms() + PAUSE_MS;
    sweep_in(h, PAUSE_MS);
}

/* Somebody is at the door and there is no descriptor for him. The listener would report this again
 * and again. */
static void make_room(struct http *h, struct evconnlistener *listener)
{
    int shed = 0;

    for (; shed < SHED_AT_ONCE && !list_empty(&h->idle); shed++)
        conn_close(LIST_OF(h->idle.next, struct conn, link));
    if (shed == 0)
        refuse_one(h, evconnlistener_get_fd(listener));
    rest(h, listener);
}

static void on_accept_failed(struct evconnlistener *listener, void *ev)
{
    struct http *h = edge_of(ev);

    if (h != NULL)
        make_room(h, listener);
}

static void on_knock(evutil_socket_t fd, short what, void *arg)
{
    struct http *h = arg;

    (void)what;
    if (is_full(h, fd))
        make_room(h, evhttp_bound_socket_get_listener(h->bound));
    else
        listen_resume(h);
}

/* The listener is asked no more once it would give the next client one of the last descriptors.
 * Who came last has a moment to say something, or he would be the idle one who is sent away. */
void listen_accepted(struct http *h)
{
    if (h->bound != NULL && is_full(h, evhttp_bound_socket_get_fd(h->bound)))
        rest(h, evhttp_bound_socket_get_listener(h->bound));
}

void listen_pause(struct http *h)
{
    if (h->bound == NULL)
        return;
    (void)event_del(h->knock);
    (void)evconnlistener_disable(evhttp_bound_socket_get_listener(h->bound));
}

void listen_resume(struct http *h)
{
    if (h->bound != NULL)
        (void)evconnlistener_enable(evhttp_bound_socket_get_listener(h->bound));
}

/* A socket of an interface that there is not: nobody finds it, and is refused at once, but whose
 * handshake has begun comes to its end. No privilege is needed, as a filter would in a container.
 */
void listen_shut(struct http *h)
{
    int nowhere = INT_MAX;

    h->leaving = true;
    if (h->bound != NULL)
        (void)setsockopt(evhttp_bound_socket_get_fd(h->bound), SOL_SOCKET, SO_BINDTOIFINDEX,
                         &nowhere, sizeof(nowhere));
}

void listen_again(struct http *h, uint64_t now_ms)
{
    if (h->listen_again_ms == 0 || h->listen_again_ms > now_ms)
        return;
    h->listen_again_ms = 0;
    if (h->bound != NULL && is_full(h, evhttp_bound_socket_get_fd(h->bound)))
        (void)event_add(h->knock, NULL);
    else
        listen_resume(h);
}

bool listen_open(struct http *h, struct buf *why)
{
    struct evconnlistener *listener;
    int fd;

    h->descriptors = raise_descriptors();
    fd = bind_any(&h->conf, why);
    if (fd == -1)
        return false;
    h->port = port_of(fd);
    h->spare_fd = spare();
    listener = evconnlistener_new(h->base, NULL, NULL,
                                  LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
    h->bound = evhttp_bind_listener(h->ev, listener);
    h->knock = event_new(h->base, fd, EV_READ, on_knock, h);
    evconnlistener_set_error_cb(listener, on_accept_failed);
    list_add_tail(&edges, &h->all);
    return true;
}

void listen_close(struct http *h)
{
    h->leaving = true;
    if (h->bound == NULL)
        return;
    list_del(&h->all);
    event_free(h->knock);
    evhttp_del_accept_socket(h->ev, h->bound);
    h->bound = NULL;
    if (h->spare_fd != -1)
        (void)close(h->spare_fd);
}
