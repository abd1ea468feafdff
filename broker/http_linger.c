#include "broker/http_internal.h"

#include "common/clock.h"
#include "common/mem.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct lingering {
    struct list link;
    struct event *ev;
    uint64_t since_ms;
    int fd;
};

static void forget(struct lingering *l)
{
    list_del(&l->link);
    event_free(l->ev);
    (void)close(l->fd);
    free(l);
}

static void on_late_bytes(int fd, short what, void *arg)
{
    char waste[16 * 1024];
    ssize_t n = recv(fd, waste, sizeof(waste), MSG_DONTWAIT);

    (void)what;
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        forget(arg);
}

/* A client that is still sending when we close would lose the answer to a reset. So its socket
 * outlives the connection, half closed, until the client has had its say. */
void linger_start(struct conn *c)
{
    struct lingering *l = mem_zalloc(sizeof(*l));

    l->fd = c->fd;
    l->since_ms = clock_mono_ms();
    (void)bufferevent_setfd(c->bev, -1);
    l->ev = event_new(c->h->base, l->fd, EV_READ | EV_PERSIST, on_late_bytes, l);
    (void)event_add(l->ev, NULL);
    list_add_tail(&c->h->lingering, &l->link);
}

void linger_sweep(struct http *h, uint64_t now_ms)
{
    LIST_EACH(&h->lingering, it)
    {
        struct lingering *l = LIST_OF(it, struct lingering, link);

        if (l->since_ms + h->conf.read_timeout_ms > now_ms)
            return;
        forget(l);
    }
}

void linger_end_all(struct http *h)
{
    LIST_EACH(&h->lingering, it)
    {
        forget(LIST_OF(it, struct lingering, link));
    }
}
