#include "worker/drain.h"

#include "common/clock.h"
#include "common/event.h"
#include "common/mem.h"

#include <event2/event.h>
#include <stdlib.h>

enum { LOOK_MS = 20, LAST_WORDS_MS = 250, GRACE_MIN_MS = 2 * LAST_WORDS_MS, STOP_MAX_MS = 5000 };

enum state { WAITING, STOPPING, LEAVING, DONE };

static const struct sm_row rows[] = {
    [WAITING] = {"waiting", SM_TO(STOPPING) | SM_TO(LEAVING)},
    [STOPPING] = {"stopping", SM_TO(LEAVING)},
    [LEAVING] = {"leaving", SM_TO(DONE)},
    [DONE] = {"done", 0},
};

struct drain {
    struct drain_conf conf;
    struct sm sm;
    struct event *look;
    uint64_t stop_at_ms;
    uint64_t leave_at_ms;
    uint64_t end_at_ms;
    unsigned unanswered;
};

static void done(struct drain *d)
{
    if (d->sm.state == DONE)
        return;
    sm_move(&d->sm, DONE);
    (void)event_del(d->look);
    d->conf.on_done(d->conf.arg);
}

/* Answers come in order: with these, all that was sent before has been taken. */
static void answered(struct drain *d)
{
    if (--d->unanswered == 0)
        done(d);
}

static void on_passed_on(void *arg, enum err e, const struct store_job *jobs, size_t count)
{
    (void)e;
    (void)jobs;
    (void)count;
    answered(arg);
}

static void on_released(void *arg, enum err e, enum store_verdict v)
{
    (void)e;
    (void)v;
    answered(arg);
}

static void stop_all(struct drain *d)
{
    uint64_t grace = (d->leave_at_ms - d->stop_at_ms) / 2;

    sm_move(&d->sm, STOPPING);
    LIST_EACH(slots_list(d->conf.slots), it)
    slot_stop(LIST_OF(it, struct slot, node), SLOT_HANDED_BACK, grace);
}

/* Those that did not stop: they end with the process, right after. A call that may not be made
 * twice is left to its lease, which ends it. */
static void release_the_rest(struct drain *d)
{
    LIST_EACH(slots_list(d->conf.slots), it)
    {
        const struct slot *s = LIST_OF(it, struct slot, node);
        struct store_held held = slot_held(s);

        if (s->hold.state != SLOT_HELD || !tool_may_run_again(s->job.tool))
            continue;
        LOG(JOB_RELEASED, S("tool", s->job.tool->name), S("task", s->job.id),
            N("attempt", s->job.attempt));
        d->unanswered++;
        store_release(d->conf.store, s->partition, &held, 1, on_released, d);
    }
}

static void leave(struct drain *d)
{
    sm_move(&d->sm, LEAVING);
    d->end_at_ms = clock_mono_ms() + LAST_WORDS_MS;
    if (!store_is_ready(d->conf.store)) {
        done(d);
        return;
    }
    release_the_rest(d);
    announce_leave(d->conf.announce);
    for (unsigned p = 0; p < store_partitions(d->conf.store); p++) {
        d->unanswered++;
        store_claim(d->conf.store, p, d->conf.self, 0, on_passed_on, d);
    }
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct drain *d = arg;
    uint64_t now = clock_mono_ms();
    bool is_empty = slots_count(d->conf.slots) == 0 && !lanes_are_claiming(d->conf.lanes);

    (void)fd;
    (void)what;
    if (d->sm.state == LEAVING && now >= d->end_at_ms)
        done(d);
    else if (d->sm.state != LEAVING && (is_empty || now >= d->leave_at_ms))
        leave(d);
    else if (d->sm.state == WAITING && now >= d->stop_at_ms)
        stop_all(d);
}

struct drain *drain_begin(struct event_base *base, const struct drain_conf *conf)
{
    struct drain *d = mem_zalloc(sizeof(*d));
    struct timeval every = clock_timeval(LOOK_MS);
    uint64_t grace =
        conf->grace_ms > GRACE_MIN_MS ? conf->grace_ms - LAST_WORDS_MS : conf->grace_ms / 2;
    uint64_t part = grace / 4 < STOP_MAX_MS ? grace / 4 : STOP_MAX_MS;
    uint64_t now = clock_mono_ms();

    d->conf = *conf;
    sm_init(&d->sm, "drain", rows, WAITING);
    d->leave_at_ms = now + grace;
    d->stop_at_ms = d->leave_at_ms - part;
    lanes_drain(conf->lanes);
    lanes_kick(conf->lanes);
    d->look = event_new(base, -1, EV_PERSIST, on_look, d);
    if (d->look == NULL || event_add(d->look, &every) != 0)
        abort();
    event_active(d->look, EV_TIMEOUT, 0);
    return d;
}

void drain_free(struct drain *d)
{
    event_free(d->look);
    free(d);
}
