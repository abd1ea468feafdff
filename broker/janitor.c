#include "broker/janitor.h"

#include "common/clock.h"
#include "common/mem.h"
#include "common/store_task.h"

#include <event2/event.h>
#include <stdlib.h>

/* Workers tick four times a second; a broker is the spare, and cleans up where no worker is. */
enum { TICK_MS = 1000, BUSY_MS = 20 };

struct janitor {
    struct broker *b;
    struct event *timer;
    unsigned outstanding; /* ticks under way */
    bool busy; /* one of them met its bound: more is due now */
};

static void schedule(struct janitor *j)
{
    struct timeval t = clock_timeval(j->busy ? BUSY_MS : clock_jitter(TICK_MS, 30));

    j->busy = false;
    (void)evtimer_add(j->timer, &t);
}

static void on_tick(void *arg, enum err e, uint64_t next_ms, unsigned done)
{
    struct janitor *j = arg;

    (void)done;
    if (e == ERR_OK && next_ms == 0)
        j->busy = true;
    if (--j->outstanding == 0)
        schedule(j);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct janitor *j = arg;
    unsigned partitions = store_partitions(j->b->store);

    (void)fd;
    (void)what;
    if (!store_is_ready(j->b->store)) {
        schedule(j);
        return;
    }
    j->outstanding = partitions;
    for (unsigned p = 0; p < partitions; p++)
        store_tick(j->b->store, p, on_tick, j);
}

struct janitor *janitor_new(struct broker *b)
{
    struct janitor *j = mem_zalloc(sizeof(*j));

    j->b = b;
    j->timer = evtimer_new(b->base, on_timer, j);
    schedule(j);
    return j;
}

void janitor_free(struct janitor *j)
{
    event_free(j->timer);
    j->timer = NULL;
    free(j);
}
