#include "broker/drain.h"

#include "broker/inflight.h"
#include "broker/m/listen.h"
#include "broker/stream.h"
#include "common/clock.h"
#include "common/event.h"
#include "common/mem.h"

#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>

enum {
    LOOK_MS = 50,
    LINGER_MS = 500, /* long enough for a prober or a balancer to see the 503 */
    SHUT_LOOKS = 5, /* for handshakes that had begun */
    QUIET_LOOKS = 10, /* for requests that were on their way when the door closed */
};

struct drain {
    struct broker *b;
    struct event *term;
    struct event *interrupt;
    struct event *timer;
    uint64_t began_ms;
    int shut_looks; /* since nobody else begins to come in */
    uint64_t requests, unsent; /* as the last look found them */
    int quiet_looks; /* in a row, in which nothing happened on any connection */
};

/* Who is being served is inside; so is who takes his answer, as long as he takes some of it.
 * Connections that are merely open may have a request under way. Looks are counted for them, not
 * time, of which they have had none when the machine stood still. */
static bool is_empty(struct drain *d)
{
    uint64_t unsent = http_unsent(d->b->http);
    struct http_stats stats;
    bool quiet;

    http_stats(d->b->http, &stats);
    quiet = stats.held == 0 && stats.reading == 0 && stats.requests == d->requests &&
            unsent == d->unsent;
    d->quiet_looks = quiet ? d->quiet_looks + 1 : 0;
    d->requests = stats.requests;
    d->unsent = unsent;
    return stats.connections == 0 || d->quiet_looks >= QUIET_LOOKS;
}

/* For a moment a prober or a balancer can see that we leave, and who comes all the same is served.
 * Then the door is shut, and closed when who had knocked is in; who is inside goes on, within the
 * grace. */
static bool is_over(struct drain *d, uint64_t spent)
{
    uint64_t grace = d->b->conf->grace;
    bool empty;

    if (spent < LINGER_MS && spent < grace)
        return false;
    if (d->shut_looks++ == 0)
        http_shut(d->b->http);
    if (d->shut_looks <= SHUT_LOOKS && spent < grace)
        return false;
    http_stop_listening(d->b->http); /* once is enough, and more does no harm */
    empty = is_empty(d);
    return inflight_count(d->b->inflight) == 0 && (empty || spent >= grace);
}

static void look(evutil_socket_t fd, short what, void *arg)
{
    struct drain *d = arg;
    struct timeval t = clock_timeval(LOOK_MS);
    uint64_t spent = clock_mono_ms() - d->began_ms;
    bool is_last;

    (void)fd;
    (void)what;
    streams_suspend_all(d->b->streams);
    listeners_drain(d->b->listeners);
    is_last = is_over(d, spent); /* what Redis is told below goes out before the next look */
    inflight_drain(d->b->inflight, spent + LINGER_MS >= d->b->conf->grace);
    if (is_last) {
        (void)event_base_loopexit(d->b->base, NULL);
        return;
    }
    (void)evtimer_add(d->timer, &t);
}

static void on_signal(evutil_socket_t number, short what, void *arg)
{
    struct drain *d = arg;
    struct broker *b = d->b;

    (void)what;
    if (b->draining) {
        (void)event_base_loopbreak(b->base);
        return;
    }
    LOG(STOPPING, S("reason", number == SIGTERM ? "SIGTERM" : "SIGINT"));
    b->draining = true;
    d->began_ms = clock_mono_ms();
    look(-1, 0, d);
}

struct drain *drain_new(struct broker *b)
{
    struct drain *d = mem_zalloc(sizeof(*d));

    d->b = b;
    d->term = evsignal_new(b->base, SIGTERM, on_signal, d);
    d->interrupt = evsignal_new(b->base, SIGINT, on_signal, d);
    d->timer = evtimer_new(b->base, look, d);
    (void)evsignal_add(d->term, NULL);
    (void)evsignal_add(d->interrupt, NULL);
    return d;
}

void drain_free(struct drain *d)
{
    event_free(d->term);
    event_free(d->interrupt);
    event_free(d->timer);
    free(d);
}
