#include "worker/lane.h"

#include "common/clock.h"
#include "common/event.h"
#include "common/mem.h"
#include "common/store_task.h"
#include "worker/result.h"

#include <assert.h>
#include <event2/event.h>
#include <stdlib.h>

enum {
    POLL_MS = 250,
    POLL_JITTER = 50, /* percent */
    POLL_MIN_MS = 20,
    BATCH_BYTES = 1 << 20,
};

struct lane {
    struct lanes *all;
    unsigned partition;
    struct list outbox; /* slots by out, oldest first */
    struct slot *batch[STORE_BATCH_MAX]; /* being told */
    size_t batch_n;
    bool is_busy; /* an exchange is under way */
    bool is_hot; /* there may be something ready */
    bool is_woken; /* a wake-up that nobody has acted upon */
    bool one_by_one; /* a batch was refused: find out which of it */
    bool is_unsure; /* the answer of the newest claim was lost: it may have taken jobs */
    uint64_t claim; /* its number */
    unsigned asked; /* places kept for what the exchange may bring */
    uint64_t sent_ms;
    struct event *poll;
};

struct lanes {
    struct event_base *base;
    struct store *store;
    struct slots *slots;
    const struct store_worker *self;
    struct lane *v;
    unsigned n;
    unsigned next; /* who is asked first */
    unsigned reserved;
    bool is_draining;
    struct event *kick;
};

/* --- how much to ask for --- */

static unsigned hot_lanes(const struct lanes *all, const struct lane *mine)
{
    unsigned n = 0;

    for (unsigned i = 0; i < all->n; i++)
        n += &all->v[i] == mine || (all->v[i].is_hot && !all->v[i].is_busy);
    return n;
}

/* A fair part of the free places, at least one: what one lane leaves the next will ask for. */
static unsigned share(const struct lane *l)
{
    const struct lanes *all = l->all;
    unsigned room = slots_room(all->slots);
    unsigned hot = hot_lanes(all, l);

    assert(hot > 0); /* this lane is one of them */
    if (all->is_draining || room <= all->reserved)
        return 0;
    room -= all->reserved;
    room = (room + hot - 1) / hot;
    return room < STORE_BATCH_MAX ? room : STORE_BATCH_MAX;
}

static void begin_exchange(struct lane *l, unsigned asked)
{
    l->is_busy = true;
    l->asked = asked;
    l->all->reserved += asked;
    l->sent_ms = clock_mono_ms();
    if (asked > 0)
        l->is_hot = l->is_woken = false;
}

static void end_exchange(struct lane *l, enum err e, const struct store_job *jobs, size_t n)
{
    l->is_busy = false;
    l->all->reserved -= l->asked;
    if (l->asked > 0 && (e != ERR_OK || n >= l->asked))
        l->is_hot = true;
    if (l->asked > 0 && e != ERR_OK)
        l->is_unsure = true;
    for (size_t i = 0; i < n; i++)
        slots_take(l->all->slots, &jobs[i], l->partition, l->sent_ms);
    /* After a failure the poll tries again, or the store's being ready. */
    if (e == ERR_OK)
        lanes_kick(l->all);
}

/* --- what has ended --- */

static const char *const verdict_words[] = {
    [STORE_V_OK] = "ok",       [STORE_V_DONE] = "done", [STORE_V_STALE] = "stale",
    [STORE_V_ENDED] = "ended", [STORE_V_GONE] = "gone", [STORE_V_DEAD] = "dead",
};

static void verdict_for(struct slot *s, enum store_verdict v)
{
    if (v != STORE_V_OK)
        LOG(OUTCOME_DROPPED, S("tool", s->job.tool->name), S("task", s->job.id),
            N("attempt", s->job.attempt), S("verdict", verdict_words[v]));
    slot_settled(s);
}

/* What Redis will not take, and not because it is away, it will not take later either. A batch is
 * sent again one by one; the one refused is given up: its lease lapses, and the attempts it has
 * end it as a dead letter. */
static void refused(struct lane *l, enum err e)
{
    struct slot *s = l->batch[0];

    if (l->batch_n > 1) {
        l->one_by_one = true;
        return;
    }
    l->batch_n = 0;
    LOG(OUTCOME_REFUSED, S("tool", s->job.tool->name), S("task", s->job.id),
        N("attempt", s->job.attempt), S("why", err_text(e)));
    slot_settled(s);
}

static void on_finished(void *arg, enum err e, const enum store_verdict *verdicts, size_t count,
                        const struct store_job *jobs, size_t job_count)
{
    struct lane *l = arg;

    if (e != ERR_OK && !err_may_retry(e))
        refused(l, e);
    for (size_t i = l->batch_n; e != ERR_OK && i-- > 0;) {
        list_del(&l->batch[i]->out);
        list_add_tail(l->outbox.next, &l->batch[i]->out); /* before the first */
    }
    for (size_t i = 0; e == ERR_OK && i < l->batch_n && i < count; i++)
        verdict_for(l->batch[i], verdicts[i]);
    if (e == ERR_OK)
        l->one_by_one = l->one_by_one && !list_empty(&l->outbox);
    l->batch_n = 0;
    end_exchange(l, e, jobs, job_count);
}

/* The first lines of an error, for who sees only a status. */
static void describe(struct store_outcome *o, const struct slot *s, struct buf *message)
{
    *o = (struct store_outcome){.id = span_of(s->job.id),
                                .fence = s->fence,
                                .state = s->is_rpc_error ? TASK_ERROR : TASK_RESULT,
                                .is_error = s->is_error,
                                .outcome = buf_span(&s->outcome)};
    buf_init(message, RESULT_MESSAGE_MAX + 1);
    if (s->is_rpc_error)
        result_error_message(message, buf_span(&s->outcome));
    else if (s->is_error)
        result_message(message, buf_span(&s->outcome));
    o->message = buf_span(message);
}

static void send_finish(struct lane *l, unsigned n)
{
    struct store_outcome outcomes[STORE_BATCH_MAX];
    struct buf messages[STORE_BATCH_MAX];
    size_t bytes = 0;
    size_t max = l->one_by_one ? 1 : STORE_BATCH_MAX;

    l->batch_n = 0;
    while (!list_empty(&l->outbox) && l->batch_n < max && bytes < BATCH_BYTES) {
        struct slot *s = LIST_OF(l->outbox.next, struct slot, out);

        list_del(&s->out);
        describe(&outcomes[l->batch_n], s, &messages[l->batch_n]);
        bytes += s->outcome.n;
        l->batch[l->batch_n++] = s;
    }
    begin_exchange(l, n);
    l->claim = store_finish(l->all->store, l->partition, l->all->self, outcomes, l->batch_n, n,
                            on_finished, l);
    for (size_t i = 0; i < l->batch_n; i++)
        buf_fini(&messages[i]);
}

/* --- what is ready --- */

static void on_claimed(void *arg, enum err e, const struct store_job *jobs, size_t count)
{
    end_exchange(arg, e, jobs, count);
}

static void on_unclaimed(void *arg, enum err e, uint64_t count)
{
    struct lane *l = arg;

    if (e == ERR_OK || !err_may_retry(e))
        l->is_unsure = false; /* where it is refused, their lease lapses */
    if (count > 0)
        LOG(CLAIM_RETURNED, N("jobs", count));
    end_exchange(l, e, NULL, 0);
}

static void pump(struct lane *l)
{
    unsigned n;

    if (l->is_busy)
        return;
    if (l->is_unsure) {
        begin_exchange(l, 0);
        store_unclaim(l->all->store, l->partition, l->all->self, l->claim, on_unclaimed, l);
        return;
    }
    n = share(l);
    if (!list_empty(&l->outbox)) {
        send_finish(l, n);
    } else if ((n > 0 && l->is_hot) || (n == 0 && l->is_woken)) {
        l->is_woken = false; /* n == 0 passes it on to somebody who has room */
        begin_exchange(l, n);
        l->claim = store_claim(l->all->store, l->partition, l->all->self, n, on_claimed, l);
    }
}

static void on_kick(evutil_socket_t fd, short what, void *arg)
{
    struct lanes *all = arg;

    (void)fd;
    (void)what;
    if (!store_is_ready(all->store) || all->n == 0)
        return;
    all->next = (all->next + 1) % all->n;
    for (unsigned i = 0; i < all->n; i++)
        pump(&all->v[(all->next + i) % all->n]);
}

void lanes_kick(struct lanes *all)
{
    event_active(all->kick, EV_TIMEOUT, 0);
}

/* --- looking without being told --- */

static void poll_in(struct lane *l, uint64_t ms)
{
    struct timeval in = clock_timeval(ms);

    (void)event_add(l->poll, &in);
}

static void on_ticked(void *arg, enum err e, uint64_t next_ms, unsigned done)
{
    struct lane *l = arg;
    uint64_t ms = clock_jitter(POLL_MS, POLL_JITTER);

    (void)done;
    if (e == ERR_OK && next_ms < ms)
        ms = next_ms > POLL_MIN_MS ? next_ms : POLL_MIN_MS;
    poll_in(l, ms);
    l->is_hot = true;
    lanes_kick(l->all);
}

static void on_poll(evutil_socket_t fd, short what, void *arg)
{
    struct lane *l = arg;

    (void)fd;
    (void)what;
    if (store_is_ready(l->all->store))
        store_tick(l->all->store, l->partition, on_ticked, l);
    else
        poll_in(l, clock_jitter(POLL_MS, POLL_JITTER));
}

void lanes_wake(struct lanes *all, unsigned partition)
{
    if (partition >= all->n)
        return;
    all->v[partition].is_hot = true;
    all->v[partition].is_woken = true;
    lanes_kick(all);
}

void lanes_look(struct lanes *all)
{
    for (unsigned i = 0; i < all->n; i++)
        all->v[i].is_hot = true;
    lanes_kick(all);
}

void lanes_finish(struct lanes *all, struct slot *s)
{
    list_add_tail(&all->v[s->partition].outbox, &s->out);
    lanes_kick(all);
}

static void on_left(void *arg, enum err e, const struct store_job *jobs, size_t count)
{
    (void)arg;
    (void)e;
    (void)jobs;
    (void)count;
}

/* One link keeps the order: what a claim under way says of this worker is taken back. */
void lanes_leave_pool(struct lanes *all)
{
    for (unsigned i = 0; store_is_ready(all->store) && i < all->n; i++)
        store_claim(all->store, i, all->self, 0, on_left, NULL);
}

void lanes_drain(struct lanes *all)
{
    all->is_draining = true;
}

bool lanes_are_claiming(const struct lanes *all)
{
    bool is_unsure = false;

    for (unsigned i = 0; i < all->n; i++)
        is_unsure = is_unsure || all->v[i].is_unsure;
    return is_unsure || all->reserved > 0;
}

/* --- life --- */

static void open_lane(struct lanes *all, unsigned partition)
{
    struct lane *l = &all->v[partition];

    l->all = all;
    l->partition = partition;
    list_init(&l->outbox);
    l->poll = evtimer_new(all->base, on_poll, l);
    if (l->poll == NULL)
        abort();
    poll_in(l, clock_jitter(POLL_MS, POLL_JITTER));
}

void lanes_ready(struct lanes *all)
{
    if (all->n == 0) {
        all->n = store_partitions(all->store);
        all->v = mem_zalloc(all->n * sizeof(*all->v));
        for (unsigned i = 0; i < all->n; i++)
            open_lane(all, i);
    }
    lanes_look(all);
}

struct lanes *lanes_new(struct event_base *base, struct store *store, struct slots *slots,
                        const struct store_worker *self)
{
    struct lanes *all = mem_zalloc(sizeof(*all));

    all->base = base;
    all->store = store;
    all->slots = slots;
    all->self = self;
    all->kick = event_new(base, -1, 0, on_kick, all);
    if (all->kick == NULL)
        abort();
    return all;
}

void lanes_free(struct lanes *all)
{
    for (unsigned i = 0; i < all->n; i++)
        event_free(all->v[i].poll);
    event_free(all->kick);
    free(all->v);
    free(all);
}
