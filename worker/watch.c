#include "worker/watch.h"

#include "common/clock.h"
#include "common/event.h"
#include "common/mem.h"

#include <event2/event.h>
#include <stdlib.h>

enum {
    LOOK_MS = 50,
    STOP_AT = 80, /* percent of a lease without renewal, and how much it then has to end */
    END_WITHIN = 10,
};

struct watch {
    struct slots *slots;
    uint64_t lease_ms;
    struct event *timer;
};

static void look_at_hold(const struct watch *w, struct slot *s, uint64_t now)
{
    const struct tool *tool = s->job.tool;

    if (now >= s->expires_ms) {
        LOG(JOB_EXPIRED, S("tool", tool->name), S("task", s->job.id), N("attempt", s->job.attempt));
        slot_drop(s, RUN_UNWANTED);
    } else if (s->fate == SLOT_COUNTS && s->run.state == SLOT_RUNNING &&
               now >= s->leased_ms + w->lease_ms * STOP_AT / 100) {
        LOG(JOB_LOST, S("tool", tool->name), S("task", s->job.id), N("attempt", s->job.attempt),
            S("why", "its lease could not be renewed"));
        slot_stop(s, SLOT_HANDED_BACK, w->lease_ms * END_WITHIN / 100);
    } else if (s->fate == SLOT_COUNTS && s->timeout_ms != 0 && now >= s->timeout_ms) {
        LOG(JOB_TIMED_OUT, S("tool", tool->name), S("task", s->job.id),
            N("attempt", s->job.attempt), N("ms", now - s->began_ms));
        slot_stop(s, SLOT_TIMED_OUT, tool->grace_ms);
    }
}

static void look_at(const struct watch *w, struct slot *s, uint64_t now)
{
    if (s->run.state == SLOT_STOPPING && now >= s->stopped_ms)
        slot_is_late(s);
    if (s->hold.state == SLOT_HELD)
        look_at_hold(w, s, now);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct watch *w = arg;
    uint64_t now = clock_mono_ms();

    (void)fd;
    (void)what;
    LIST_EACH(slots_list(w->slots), it)
    look_at(w, LIST_OF(it, struct slot, node), now);
    if (slots_count(w->slots) > 0)
        watch_begin(w);
}

void watch_begin(struct watch *w)
{
    struct timeval in = clock_timeval(LOOK_MS);

    if (!event_pending(w->timer, EV_TIMEOUT, NULL))
        (void)event_add(w->timer, &in);
}

struct watch *watch_new(struct event_base *base, struct slots *slots, uint64_t lease_ms)
{
    struct watch *w = mem_zalloc(sizeof(*w));

    w->slots = slots;
    w->lease_ms = lease_ms;
    w->timer = evtimer_new(base, on_timer, w);
    if (w->timer == NULL)
        abort();
    return w;
}

void watch_free(struct watch *w)
{
    event_free(w->timer);
    free(w);
}
