#include "worker/early.h"

#include "common/clock.h"
#include "common/id.h"
#include "common/mem.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

enum { EARLY_MAX = 64, KEPT_MS = 10000 };

struct one {
    char id[ID_LEN + 1]; /* "": none */
    uint64_t came_ms;
};

struct early {
    early_fn *fn;
    void *arg;
    struct event *look;
    struct one ring[EARLY_MAX];
    unsigned next;
    unsigned n;
};

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct early *e = arg;
    uint64_t now = clock_mono_ms();

    (void)fd;
    (void)what;
    for (unsigned i = 0; i < EARLY_MAX; i++) {
        struct one *o = &e->ring[i];

        if (o->id[0] == '\0')
            continue;
        (void)e->fn(e->arg, span_of(o->id));
        if (now < o->came_ms + KEPT_MS)
            continue;
        o->id[0] = '\0';
        e->n--;
    }
}

void early_cancelled(struct early *e, struct span task)
{
    struct one *o = &e->ring[e->next];

    if (e->fn(e->arg, task) || task.n != ID_LEN)
        return;
    e->n += o->id[0] == '\0' ? 1 : 0;
    memcpy(o->id, task.p, ID_LEN);
    o->came_ms = clock_mono_ms();
    e->next = (e->next + 1) % EARLY_MAX;
}

void early_taken(struct early *e)
{
    if (e->n > 0)
        event_active(e->look, EV_TIMEOUT, 0);
}

struct early *early_new(struct event_base *base, early_fn *fn, void *arg)
{
    struct early *e = mem_zalloc(sizeof(*e));

    e->fn = fn;
    e->arg = arg;
    e->look = evtimer_new(base, on_look, e);
    if (e->look == NULL)
        abort();
    return e;
}

void early_free(struct early *e)
{
    event_free(e->look);
    free(e);
}
