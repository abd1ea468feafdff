#include "worker/outside.h"

#include "common/clock.h"
#include "common/event.h"
#include "common/id.h"
#include "common/mem.h"
#include "common/store_hook.h"

#include <event2/event.h>
#include <stdlib.h>

enum { AGAIN_MS = 1000 }; /* after what Redis did not take, though it is there */

struct outside {
    struct store *store;
    struct slots *slots;
    struct event *again;
};

/* A call under way. The slot may be gone when it is answered. */
struct call {
    struct outside *o;
    char id[ID_LEN + 1];
    uint64_t fence;
};

static struct call *call_new(struct outside *o, const struct slot *s)
{
    struct call *c = mem_zalloc(sizeof(*c));
    struct store_held held = slot_held(s);

    c->o = o;
    c->fence = s->fence;
    memcpy(c->id, held.id.p, held.id.n < ID_LEN ? held.id.n : ID_LEN);
    return c;
}

static struct slot *slot_of(struct call *c)
{
    struct slot *s = slots_find(c->o->slots, span_of(c->id), c->fence);

    free(c);
    return s;
}

static bool is_lost(struct slot *s, enum err e, enum store_verdict v)
{
    if (e != ERR_OK || v == STORE_V_OK)
        return false;
    if (s->hold.state == SLOT_HELD) {
        LOG(JOB_LOST, S("tool", s->job.tool->name), S("task", s->job.id),
            N("attempt", s->job.attempt), S("why", "another attempt holds it, or it has ended"));
        slot_drop(s, v == STORE_V_STALE ? RUN_PASSED_ON : RUN_UNWANTED);
    }
    return true;
}

/* --- handles --- */

static void look_later(struct outside *o)
{
    struct timeval in = clock_timeval(AGAIN_MS);

    if (!event_pending(o->again, EV_TIMEOUT, NULL))
        (void)event_add(o->again, &in);
}

static void on_kept(void *arg, enum err e, enum store_verdict v)
{
    struct outside *o = ((struct call *)arg)->o;
    struct slot *s = slot_of(arg);

    if (s == NULL)
        return;
    s->keeping = SLOT_UNKEPT;
    if (e != ERR_OK)
        look_later(o);
    if (is_lost(s, e, v))
        return;
    if (e == ERR_OK) {
        s->keeping = SLOT_KEPT;
        slot_kept(s);
    }
}

static void send_handle(struct outside *o, struct slot *s)
{
    struct store_held held = slot_held(s);

    if (s->keeping != SLOT_UNKEPT || s->hold.state != SLOT_HELD || !store_is_ready(o->store))
        return;
    s->keeping = SLOT_KEEPING;
    store_handle(o->store, &held, buf_span(&s->handle), on_kept, call_new(o, s));
}

void outside_keep(struct outside *o, struct slot *s, struct span handle)
{
    buf_reset(&s->handle);
    buf_add_span(&s->handle, handle);
    s->keeping = SLOT_UNKEPT;
    send_handle(o, s);
}

/* --- callbacks --- */

static void look(struct outside *o, struct slot *s);

/* True: one of them has decided. */
static bool deliver(struct slot *s, struct span calls)
{
    struct span body;

    while (store_hook_next(&calls, &body))
        if (slot_called(s, body))
            return true;
    return false;
}

static void on_heard(void *arg, enum err e, enum store_verdict v, struct span calls, uint64_t at)
{
    struct outside *o = ((struct call *)arg)->o;
    struct slot *s = slot_of(arg);

    if (s == NULL)
        return;
    s->is_looking = false;
    if (is_lost(s, e, v) || e != ERR_OK || s->hold.state != SLOT_HELD)
        return;
    s->heard = at + calls.n;
    if (deliver(s, calls))
        s->is_listening = false;
    else if (calls.n > 0 || s->looks_again)
        look(o, s);
}

static void look(struct outside *o, struct slot *s)
{
    struct store_held held = slot_held(s);

    s->looks_again = s->is_looking;
    if (!s->is_listening || s->is_looking || s->hold.state != SLOT_HELD ||
        !store_is_ready(o->store))
        return;
    s->is_looking = true;
    store_heard(o->store, &held, s->heard, on_heard, call_new(o, s));
}

void outside_listen(struct outside *o, struct slot *s)
{
    s->is_listening = true;
    look(o, s);
}

void outside_called(struct outside *o, struct span task)
{
    struct slot *s = slots_find_id(o->slots, task);

    if (s != NULL)
        look(o, s);
}

void outside_look(struct outside *o)
{
    LIST_EACH(slots_list(o->slots), it)
    {
        struct slot *s = LIST_OF(it, struct slot, node);

        send_handle(o, s);
        look(o, s);
    }
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    outside_look(arg);
}

struct outside *outside_new(struct event_base *base, struct store *store, struct slots *slots)
{
    struct outside *o = mem_zalloc(sizeof(*o));

    o->store = store;
    o->slots = slots;
    o->again = evtimer_new(base, on_again, o);
    if (o->again == NULL)
        abort();
    return o;
}

void outside_free(struct outside *o)
{
    event_free(o->again);
    free(o);
}
