#include "common/defer.h"

#include "common/mem.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdlib.h>

struct call {
    defer_fn *fn;
    void *arg;
};

struct calls {
    struct call *p;
    size_t n;
    size_t room;
};

struct defer {
    struct event *turn;
    struct calls next; /* for the next turn */
    struct calls spare; /* the array of the turn before, to use again */
    bool running;
    bool dead;
};

static void destroy(struct defer *d)
{
    event_free(d->turn);
    free(d->next.p);
    free(d->spare.p);
    free(d);
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    struct defer *d = arg;
    struct calls now = d->next;

    (void)fd;
    (void)what;
    d->next = d->spare;
    d->spare = (struct calls){0};
    d->running = true;
    for (size_t i = 0; i < now.n && !d->dead; i++)
        now.p[i].fn(now.p[i].arg);
    d->running = false;
    now.n = 0;
    d->spare = now;
    if (d->dead)
        destroy(d);
}

struct defer *defer_new(struct event_base *base)
{
    struct defer *d = mem_zalloc(sizeof(*d));

    d->turn = event_new(base, -1, 0, on_turn, d);
    if (d->turn == NULL)
        abort();
    return d;
}

void defer_free(struct defer *d)
{
    if (d == NULL)
        return;
    d->dead = true;
    if (!d->running)
        destroy(d);
}

void defer_call(struct defer *d, defer_fn *fn, void *arg)
{
    static const struct timeval at_once = {0, 0};

    if (d->next.n == d->next.room) {
        d->next.room = d->next.room == 0 ? 16 : d->next.room * 2;
        d->next.p = mem_grow(d->next.p, d->next.room * sizeof(*d->next.p));
    }
    d->next.p[d->next.n++] = (struct call){fn, arg};
    /* A timer that is already due, for event_active() would run within this very turn. */
    if (d->next.n == 1 && event_add(d->turn, &at_once) != 0)
        abort();
}
