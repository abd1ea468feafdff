#include "worker/log.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/mem.h"

#include <event2/event.h>
#include <stdlib.h>

enum { SECOND_MS = 1000 };

struct logs {
    struct store *store;
    struct slots *slots;
    struct event *later;
};

static void on_sent(void *arg, enum err e, enum store_verdict v)
{
    (void)arg;
    (void)e;
    (void)v; /* the heartbeat learns of a job that is lost */
}

static void send_line(struct logs *l, const struct slot *s, struct span level, struct span logger,
                      struct span data)
{
    struct store_held held = slot_held(s);

    store_log(l->store, &held, level, logger, data, on_sent, NULL);
}

static void tell_dropped(struct logs *l, struct slot *s)
{
    struct buf data;

    if (s->logs_dropped == 0 || !store_is_ready(l->store))
        return;
    buf_init(&data, 128);
    buf_addf(&data, "\"%u log lines were dropped here\"", s->logs_dropped);
    s->logs_dropped = 0;
    send_line(l, s, SPAN("warning"), SPAN("\"errand\""), buf_span(&data));
    buf_fini(&data);
}

static void begin_second(struct logs *l, struct slot *s, uint64_t now)
{
    s->logs_since_ms = now;
    s->logs = 0;
    tell_dropped(l, s);
}

static void look_later(struct logs *l)
{
    struct timeval in = clock_timeval(SECOND_MS);

    if (!event_pending(l->later, EV_TIMEOUT, NULL))
        (void)event_add(l->later, &in);
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
    struct logs *l = arg;
    uint64_t now = clock_mono_ms();

    (void)fd;
    (void)what;
    LIST_EACH(slots_list(l->slots), it)
    {
        struct slot *s = LIST_OF(it, struct slot, node);

        if (s->logs_dropped == 0 || s->hold.state != SLOT_HELD)
            continue;
        if (now >= s->logs_since_ms + SECOND_MS)
            begin_second(l, s, now);
        if (s->logs_dropped > 0)
            look_later(l);
    }
}

static struct span known(struct span level)
{
    static const char *const levels[] = {"debug", "info",     "notice", "warning",
                                         "error", "critical", "alert",  "emergency"};

    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (span_is(level, levels[i]))
            return level;
    return SPAN("info");
}

void logs_logged(struct logs *l, struct slot *s, struct span level, struct span logger,
                 struct span data)
{
    uint64_t now = clock_mono_ms();

    if (now >= s->logs_since_ms + SECOND_MS)
        begin_second(l, s, now);
    if (s->logs >= LOGS_A_SECOND || !store_is_ready(l->store)) {
        s->logs_dropped++;
        look_later(l);
        return;
    }
    s->logs++;
    send_line(l, s, known(level), logger, data);
}

void logs_flush(struct logs *l, struct slot *s)
{
    tell_dropped(l, s);
}

struct logs *logs_new(struct event_base *base, struct store *store, struct slots *slots)
{
    struct logs *l = mem_zalloc(sizeof(*l));

    l->store = store;
    l->slots = slots;
    l->later = evtimer_new(base, on_later, l);
    if (l->later == NULL)
        abort();
    return l;
}

void logs_free(struct logs *l)
{
    event_free(l->later);
    free(l);
}
