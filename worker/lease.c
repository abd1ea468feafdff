#include "worker/lease.h"

#include "common/clock.h"
#include "common/event.h"
#include "common/id.h"
#include "common/mem.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

struct lease {
    struct store *store;
    struct slots *slots;
    const struct store_worker *self;
    struct event *timer;
};

struct held {
    char id[ID_LEN + 1];
    uint64_t fence;
};

/* One heartbeat under way. Slots may go while it is: they are found by id and fence. */
struct beat {
    struct lease *lease;
    uint64_t sent_ms;
    size_t n;
    struct held held[];
};

static bool is_lost(const char *id, const struct span *lost, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (span_is(lost[i], id))
            return true;
    return false;
}

/* Whose is it now? Redis says so to whoever reports nothing. */
struct asked {
    struct lease *lease;
    char id[ID_LEN + 1];
    uint64_t fence;
};

static void drop(struct slot *s, enum run_stop why)
{
    LOG(JOB_LOST, S("tool", s->job.tool->name), S("task", s->job.id), N("attempt", s->job.attempt),
        S("why", "another attempt holds it, or it has ended"));
    slot_drop(s, why);
}

static void on_asked(void *arg, enum err e, enum store_verdict v)
{
    struct asked *a = arg;
    struct slot *s = slots_find(a->lease->slots, span_of(a->id), a->fence);

    if (s != NULL && s->hold.state == SLOT_HELD && (e != ERR_OK || v != STORE_V_OK))
        drop(s, e == ERR_OK && v != STORE_V_STALE ? RUN_UNWANTED : RUN_PASSED_ON);
    free(a);
}

/* Only work elsewhere must know. */
static void lose(struct lease *l, struct slot *s)
{
    const struct span none = {NULL, 0};
    struct store_held held = slot_held(s);
    struct asked *a;

    if (s->keeping == SLOT_NONE) {
        drop(s, RUN_PASSED_ON);
        return;
    }
    a = mem_zalloc(sizeof(*a));
    a->lease = l;
    a->fence = s->fence;
    memcpy(a->id, held.id.p, held.id.n < ID_LEN ? held.id.n : ID_LEN);
    store_report(l->store, &held, none, none, none, on_asked, a);
}

static void on_beaten(void *arg, enum err e, const struct span *lost, size_t count)
{
    struct beat *b = arg;

    for (size_t i = 0; e == ERR_OK && i < b->n; i++) {
        struct slot *s = slots_find(b->lease->slots, span_of(b->held[i].id), b->held[i].fence);

        if (s == NULL || !slot_is_ours(s))
            continue;
        if (!is_lost(b->held[i].id, lost, count))
            slot_renewed(s, b->sent_ms);
        else if (s->hold.state == SLOT_HELD)
            lose(b->lease, s);
    }
    free(b);
}

static void gather(struct lease *l, struct beat *b, unsigned partition)
{
    b->n = 0;
    LIST_EACH(slots_list(l->slots), it)
    {
        const struct slot *s = LIST_OF(it, struct slot, node);
        struct span id = span_of(s->job.id);

        if (s->partition != partition || !slot_is_ours(s))
            continue;
        memcpy(b->held[b->n].id, id.p, id.n < ID_LEN ? id.n : ID_LEN);
        b->held[b->n++].fence = s->fence;
    }
}

static void send_beat(struct lease *l, unsigned partition)
{
    size_t room = slots_count(l->slots);
    struct beat *b = mem_zalloc(sizeof(*b) + room * sizeof(b->held[0]));
    struct store_held *held;

    b->lease = l;
    b->sent_ms = clock_mono_ms();
    gather(l, b, partition);
    if (b->n == 0) {
        free(b);
        return;
    }
    held = mem_alloc(b->n * sizeof(*held));
    for (size_t i = 0; i < b->n; i++)
        held[i] = (struct store_held){span_of(b->held[i].id), b->held[i].fence};
    store_beat(l->store, partition, l->self, held, b->n, on_beaten, b);
    free(held);
}

static void beat_all(struct lease *l)
{
    if (!store_is_ready(l->store) || slots_count(l->slots) == 0)
        return;
    for (unsigned p = 0; p < store_partitions(l->store); p++)
        send_beat(l, p);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    beat_all(arg);
}

void lease_ready(struct lease *l)
{
    beat_all(l);
}

struct lease *lease_new(struct event_base *base, struct store *store, struct slots *slots,
                        const struct store_worker *self)
{
    struct lease *l = mem_zalloc(sizeof(*l));
    struct timeval every = clock_timeval(self->lease_ms / 3);

    l->store = store;
    l->slots = slots;
    l->self = self;
    l->timer = event_new(base, -1, EV_PERSIST, on_timer, l);
    if (l->timer == NULL || event_add(l->timer, &every) != 0)
        abort();
    return l;
}

void lease_free(struct lease *l)
{
    event_free(l->timer);
    free(l);
}
