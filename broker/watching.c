#include "broker/watching.h"

#include "broker/l/session.h"
#include "broker/m/listen.h"
#include "broker/stream.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/registry.h"

#include <event2/event.h>
#include <stdlib.h>

enum { RENEW_MS = 60 * 1000 };

struct watching {
    struct broker *b;
    struct event *timer;
};

static void on_watches(void *arg, enum err e, const struct span *watches, size_t count)
{
    const struct watching *w = arg;

    if (e == ERR_OK)
        registry_want_all(w->b->store, watches, count);
}

static void ask(void *arg, unsigned partition, const struct span *sessions, size_t count)
{
    struct watching *w = arg;

    session_watches(w->b->store, partition, sessions, count, SESSION_TTL_MS, on_watches, w);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct watching *w = arg;
    struct timeval t = clock_timeval(clock_jitter(RENEW_MS, 10));

    (void)fd;
    (void)what;
    if (store_is_ready(w->b->store)) {
        streams_each_session(w->b->streams, SESSION_BATCH, ask, w);
        listeners_want(w->b->listeners);
    }
    (void)evtimer_add(w->timer, &t);
}

void watching_session(struct watching *w, unsigned partition, const char *session)
{
    struct span id = span_of(session);

    ask(w, partition, &id, 1);
}

struct watching *watching_new(struct broker *b)
{
    struct watching *w = mem_zalloc(sizeof(*w));
    struct timeval t = clock_timeval(RENEW_MS);

    w->b = b;
    w->timer = evtimer_new(b->base, on_timer, w);
    (void)evtimer_add(w->timer, &t);
    return w;
}

void watching_free(struct watching *w)
{
    event_free(w->timer);
    free(w);
}
