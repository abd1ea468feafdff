#include "worker/report.h"

#include "common/clock.h"
#include "common/event.h"
#include "common/id.h"
#include "common/json.h"
#include "common/mem.h"
#include "worker/result.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

enum {
    TELL_EVERY_MS = 100,
    BACKOFF_MAX_MS = 3600 * 1000,
    ERROR_MAX = 64 << 10,
    ERROR_CODE = -32603,
};

struct report {
    struct store *store;
    struct slots *slots;
    struct list waiting; /* slots by out that Redis has not taken yet */
    struct event *later;
};

/* A report under way. The slot may be gone when it is answered. */
struct told {
    struct report *r;
    char id[ID_LEN + 1];
    uint64_t fence;
};

/* A slot that is SETTLING stays until it is settled. */
struct settling {
    struct report *r;
    struct slot *slot;
};

uint64_t report_backoff(uint64_t base_ms, unsigned attempt)
{
    uint64_t ms = base_ms < BACKOFF_MAX_MS ? base_ms : BACKOFF_MAX_MS;

    for (unsigned i = 1; i < attempt && ms < BACKOFF_MAX_MS; i++)
        ms = ms * 2 < BACKOFF_MAX_MS ? ms * 2 : BACKOFF_MAX_MS;
    /* A jitter of a third around three quarters: from a half to the whole. */
    return clock_jitter(ms - ms / 4, 33);
}

/* --- what jobs say --- */

static void tell_later(struct report *r)
{
    struct timeval in = clock_timeval(TELL_EVERY_MS);

    if (!event_pending(r->later, EV_TIMEOUT, NULL))
        (void)event_add(r->later, &in);
}

static void on_told(void *arg, enum err e, enum store_verdict v)
{
    struct told *t = arg;
    struct slot *s = slots_find(t->r->slots, span_of(t->id), t->fence);

    if (s != NULL) {
        s->is_telling = false;
        if (s->has_news)
            tell_later(t->r);
    }
    if (s != NULL && e == ERR_OK && v != STORE_V_OK && s->hold.state == SLOT_HELD) {
        LOG(JOB_LOST, S("tool", s->job.tool->name), S("task", s->job.id),
            N("attempt", s->job.attempt), S("why", "another attempt holds it, or it has ended"));
        slot_drop(s, v == STORE_V_STALE ? RUN_PASSED_ON : RUN_UNWANTED);
    }
    free(t);
}

static struct span news(const struct buf *b)
{
    return b->n > 0 ? buf_span(b) : (struct span){NULL, 0};
}

static void tell(struct report *r, struct slot *s)
{
    struct told *t = mem_zalloc(sizeof(*t));
    struct store_held held = slot_held(s);

    t->r = r;
    t->fence = s->fence;
    memcpy(t->id, held.id.p, held.id.n < ID_LEN ? held.id.n : ID_LEN);
    s->is_telling = true;
    s->has_news = false;
    s->told_ms = clock_mono_ms();
    store_report(r->store, &held, news(&s->message), news(&s->progress),
                 json_get(buf_span(&s->progress), "progress"), on_told, t);
    buf_reset(&s->message);
    buf_reset(&s->progress);
}

static void settle_again(struct report *r);

static void on_later(evutil_socket_t fd, short what, void *arg)
{
    struct report *r = arg;
    uint64_t now = clock_mono_ms();

    (void)fd;
    (void)what;
    if (!store_is_ready(r->store))
        return; /* report_ready() comes */
    LIST_EACH(slots_list(r->slots), it)
    {
        struct slot *s = LIST_OF(it, struct slot, node);

        if (!s->has_news || s->is_telling || s->hold.state != SLOT_HELD)
            continue;
        if (now >= s->told_ms + TELL_EVERY_MS)
            tell(r, s);
        else
            tell_later(r);
    }
    settle_again(r);
}

/* Only what is more than before is progress (U-10). */
static bool grows(struct slot *s, struct span progress)
{
    double v;

    if (!json_number(json_get(progress, "progress"), &v) ||
        (s->has_told_progress && v <= s->told_progress))
        return false;
    s->told_progress = v;
    s->has_told_progress = true;
    return true;
}

void report_said(struct report *r, struct slot *s, struct span message, struct span progress)
{
    if (progress.p != NULL && !grows(s, progress))
        progress = (struct span){NULL, 0};
    if (message.p == NULL && progress.p == NULL)
        return;
    if (message.p != NULL) {
        buf_reset(&s->message);
        buf_add_span(&s->message, message);
    }
    if (progress.p != NULL) {
        buf_reset(&s->progress);
        buf_add_span(&s->progress, progress);
    }
    s->has_news = true;
    if (!s->is_telling && clock_mono_ms() >= s->told_ms + TELL_EVERY_MS && store_is_ready(r->store))
        tell(r, s);
    else
        tell_later(r);
}

void report_flush(struct report *r, struct slot *s)
{
    if (s->has_news && store_is_ready(r->store))
        tell(r, s);
}

/* --- ends that are no results --- */

static void wait_for_store(struct report *r, struct slot *s)
{
    list_del(&s->out);
    list_add_tail(&r->waiting, &s->out);
}

static void on_settled(void *arg, enum err e, enum store_verdict v)
{
    struct settling *t = arg;
    struct slot *s = t->slot;
    struct report *r = t->r;

    free(t);
    s->is_ending = false;
    if (e != ERR_OK && err_may_retry(e)) {
        tell_later(r); /* it stands in waiting */
        return;
    }
    if (e != ERR_OK)
        LOG(OUTCOME_REFUSED, S("tool", s->job.tool->name), S("task", s->job.id),
            N("attempt", s->job.attempt), S("why", err_text(e)));
    else if (v == STORE_V_DEAD)
        LOG(JOB_DEAD, S("tool", s->job.tool->name), S("task", s->job.id),
            N("attempt", s->job.attempt), SP("why", buf_span(&s->outcome)));
    slot_settled(s);
}

static struct settling *settling_new(struct report *r, struct slot *s)
{
    struct settling *t = mem_zalloc(sizeof(*t));

    t->r = r;
    t->slot = s;
    return t;
}

static void send_retry(struct report *r, struct slot *s)
{
    struct store_held held = slot_held(s);
    uint64_t delay = report_backoff(s->job.tool->backoff_ms, s->job.attempt);
    struct span why = buf_span(&s->outcome);
    struct buf error;

    if (s->job.attempt < s->attempts)
        LOG(JOB_RETRIED, S("tool", s->job.tool->name), S("task", s->job.id),
            N("attempt", s->job.attempt), N("delay_ms", delay), SP("why", why));
    buf_init(&error, ERROR_MAX);
    result_rpc_error(&error, ERROR_CODE, why);
    store_retry(r->store, &held, delay, result_cut(why, RESULT_MESSAGE_MAX), buf_span(&error),
                on_settled, settling_new(r, s));
    buf_fini(&error);
}

static void send_release(struct report *r, struct slot *s)
{
    struct store_held held = slot_held(s);

    LOG(JOB_RELEASED, S("tool", s->job.tool->name), S("task", s->job.id),
        N("attempt", s->job.attempt));
    store_release(r->store, s->partition, &held, 1, on_settled, settling_new(r, s));
}

void report_settle(struct report *r, struct slot *s)
{
    wait_for_store(r, s);
    if (!store_is_ready(r->store))
        return;
    s->is_ending = true;
    if (s->verb == SLOT_RETRY)
        send_retry(r, s);
    else
        send_release(r, s);
}

static void settle_again(struct report *r)
{
    struct list again;

    list_init(&again);
    list_splice(&again, &r->waiting);
    LIST_EACH(&again, it)
    {
        struct slot *s = LIST_OF(it, struct slot, out);

        if (s->is_ending)
            wait_for_store(r, s);
        else
            report_settle(r, s);
    }
}

void report_ready(struct report *r)
{
    settle_again(r);
    tell_later(r);
}

struct report *report_new(struct event_base *base, struct store *store, struct slots *slots)
{
    struct report *r = mem_zalloc(sizeof(*r));

    r->store = store;
    r->slots = slots;
    list_init(&r->waiting);
    r->later = evtimer_new(base, on_later, r);
    if (r->later == NULL)
        abort();
    return r;
}

void report_free(struct report *r)
{
    event_free(r->later);
    free(r);
}
