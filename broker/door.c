#include "broker/door.h"

#include "broker/catalog.h"
#include "broker/http.h"
#include "common/clock.h"
#include "common/mem.h"

#include <event2/event.h>
#include <stdlib.h>

enum { LOOK_MS = 5, WAIT_MS = 2000 };

struct door {
    struct broker *b;
    struct event *timer;
    uint64_t opens_ms; /* whatever is missing then */
};

static void look(evutil_socket_t fd, short what, void *arg)
{
    struct door *d = arg;
    struct timeval t = clock_timeval(LOOK_MS);
    bool ready = store_is_ready(d->b->store) && catalog_is_loaded(d->b->catalog);

    (void)fd;
    (void)what;
    if (ready || clock_mono_ms() >= d->opens_ms)
        http_resume(d->b->http);
    else
        (void)evtimer_add(d->timer, &t);
}

struct door *door_new(struct broker *b)
{
    struct door *d = mem_zalloc(sizeof(*d));

    d->b = b;
    d->opens_ms = clock_mono_ms() + WAIT_MS;
    d->timer = evtimer_new(b->base, look, d);
    http_pause(b->http);
    look(-1, 0, d);
    return d;
}

void door_free(struct door *d)
{
    event_free(d->timer);
    free(d);
}
