#include "broker/stream_inside.h"

#include "broker/sse.h"
#include "common/clock.h"
#include "common/mem.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

enum {
    RENEW_MS = 4 * 60 * 1000, /* well inside STREAM_LIVE_MS */
    AGAIN_MS = 500,
};

struct stream *stream_find(const struct streams *s, struct span id)
{
    struct map_node *node = map_find(&s->by_id, id);

    return node != NULL ? MAP_OF(node, struct stream, by_id) : NULL;
}

void streams_event(struct streams *s, const struct store_event *ev)
{
    struct stream *st = stream_find(s, ev->stream);
    struct store_stream_event e = {
        .entry = ev->entry, .is_task = ev->is_task, .data = ev->data, .task = ev->task};

    stream_expected_take(s, ev->stream, &e);
    if (st == NULL || st->ending)
        return;
    stream_take(st, &e);
    if (st->sm.state == RESERVED && !st->wanted) {
        st->wanted = true;
        st->on_wanted(st->arg);
    }
}

/* The stream is another visit's: its connection here ends, its record is not touched. */
static void let_go(struct streams *s, struct span id)
{
    struct stream *st = stream_find(s, id);
    stream_gone_fn *fn;
    void *arg;

    if (st == NULL || st->sse == NULL)
        return;
    fn = st->on_gone;
    arg = st->arg;
    sse_end(st->sse);
    st->sse = NULL;
    stream_free(st);
    if (fn != NULL)
        fn(arg);
}

static void on_kept(void *arg, enum err e, const struct span *lost, size_t count)
{
    struct streams *s = arg;

    for (size_t i = 0; e == ERR_OK && i < count; i++)
        let_go(s, lost[i]);
}

/* The message may be older than a visit that has come back here since: Redis knows who holds it. */
void streams_taken(struct streams *s, struct span id)
{
    const struct stream *st = stream_find(s, id);

    if (st != NULL && st->sse != NULL)
        store_stream_keep(s->b->store, st->partition, &id, 1, on_kept, s);
}

void streams_supersede(struct streams *s, struct span id, const char *session, const char *owner)
{
    const struct stream *st = stream_find(s, id);

    if (st != NULL && strcmp(st->session, session) == 0 && strcmp(st->owner, owner) == 0)
        let_go(s, id);
}

void streams_silent(struct streams *s, struct span id, bool silent)
{
    struct stream *st = stream_find(s, id);

    if (st != NULL)
        st->silent = silent;
}

void streams_session_ended(struct streams *s, struct span session)
{
    struct map_node *node;

    while ((node = map_find(&s->by_session, session)) != NULL)
        stream_end(MAP_OF(node, struct stream, by_session));
}

static void on_read(void *arg, enum err e, const struct store_stream *record, bool gap,
                    const struct store_stream_event *events, size_t count)
{
    struct stream_lookup *o = arg;
    struct stream *st = stream_find(o->all, span_of(o->id));

    (void)record;
    (void)gap;
    if (e == ERR_OK && st != NULL && st->sm.state == OPEN && !st->ending)
        for (size_t i = 0; i < count; i++)
            stream_take(st, &events[i]);
    free(o);
}

static void read_again(void *arg, struct map_node *node)
{
    struct streams *s = arg;
    struct stream *st = MAP_OF(node, struct stream, by_id);

    if (st->is_waiting)
        stream_open_record(st);
    else if (st->sm.state == OPEN)
        store_stream_read(s->b->store, st->partition, span_of(st->id), span_of(st->last), on_read,
                          stream_lookup_new(st));
}

static void open_again(void *arg, struct map_node *node)
{
    struct stream *st = MAP_OF(node, struct stream, by_id);

    (void)arg;
    if (st->is_waiting)
        stream_open_record(st);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    struct streams *s = arg;

    (void)fd;
    (void)what;
    map_each(&s->by_id, open_again, NULL);
}

void stream_open_later(struct stream *st)
{
    struct timeval t = clock_timeval(clock_jitter(AGAIN_MS, 20));

    st->is_waiting = true;
    if (!evtimer_pending(st->all->again, NULL))
        (void)evtimer_add(st->all->again, &t);
}

void streams_gap(struct streams *s)
{
    map_each(&s->by_id, read_again, s);
}

/* Is this the newest GET stream that we hold for its session? */
static bool is_newest(const struct stream *st)
{
    struct map_node *node = map_find(&st->all->by_session, span_of(st->session));

    for (; node != NULL; node = map_find_next(node))
        if (MAP_OF(node, struct stream, by_session)->number > st->number)
            return false;
    return true;
}

static void say_one(void *arg, struct map_node *node)
{
    struct stream *st = MAP_OF(node, struct stream, by_session);
    const struct span *message = arg;

    if (st->sse != NULL && !st->silent && is_newest(st))
        sse_send(st->sse, NULL, *message);
}

void streams_say(struct streams *s, const char *method)
{
    struct span message;
    struct buf text;

    buf_init(&text, 256);
    buf_addf(&text, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"}", method);
    message = buf_span(&text);
    map_each(&s->by_session, say_one, &message);
    buf_fini(&text);
}

static void suspend_one(void *arg, struct map_node *node)
{
    struct stream *st = MAP_OF(node, struct stream, by_session);

    (void)arg;
    if (st->sse != NULL && (st->sm.state == OPEN || st->is_waiting))
        stream_suspend(st);
}

void streams_suspend_all(struct streams *s)
{
    map_each(&s->by_session, suspend_one, NULL);
}

/* --- all that are open, some of one partition at a time --- */

struct batch {
    size_t n;
    struct span ids[STREAMS_BATCH_MAX];
};

struct batches {
    size_t max;
    streams_batch_fn *fn;
    void *arg;
    struct batch *of; /* each partition */
};

static void send_batch(const struct batches *all, unsigned partition)
{
    struct batch *b = &all->of[partition];

    if (b->n != 0)
        all->fn(all->arg, partition, b->ids, b->n);
    b->n = 0;
}

static void gather(const struct batches *all, const struct stream *st, const char *id)
{
    struct batch *b = &all->of[st->partition];

    if (st->sse == NULL)
        return;
    b->ids[b->n++] = span_of(id);
    if (b->n == all->max)
        send_batch(all, st->partition);
}

static void gather_stream(void *arg, struct map_node *node)
{
    const struct stream *st = MAP_OF(node, struct stream, by_id);

    gather(arg, st, st->id);
}

static void gather_session(void *arg, struct map_node *node)
{
    const struct stream *st = MAP_OF(node, struct stream, by_session);

    gather(arg, st, st->session);
}

static void in_batches(struct streams *s, struct map *m,
                       void (*gather_one)(void *arg, struct map_node *node), struct batches *all)
{
    unsigned partitions = store_partitions(s->b->store);

    if (m->n == 0)
        return;
    all->of = mem_zalloc(partitions * sizeof(all->of[0]));
    map_each(m, gather_one, all);
    for (unsigned p = 0; p < partitions; p++)
        send_batch(all, p);
    free(all->of);
}

void streams_each_session(struct streams *s, size_t max, streams_batch_fn *fn, void *arg)
{
    in_batches(s, &s->by_session, gather_session,
               &(struct batches){.max = max, .fn = fn, .arg = arg});
}

static void keep(void *arg, unsigned partition, const struct span *ids, size_t count)
{
    struct streams *s = arg;

    store_stream_keep(s->b->store, partition, ids, count, on_kept, s);
}

static void on_renew(evutil_socket_t fd, short what, void *arg)
{
    struct streams *s = arg;
    struct timeval t = clock_timeval(clock_jitter(RENEW_MS, 10));

    (void)fd;
    (void)what;
    in_batches(s, &s->by_id, gather_stream,
               &(struct batches){.max = STREAMS_BATCH_MAX, .fn = keep, .arg = s});
    (void)evtimer_add(s->renew, &t);
}

struct streams *streams_new(struct broker *b)
{
    struct streams *s = mem_zalloc(sizeof(*s));
    struct timeval t = clock_timeval(RENEW_MS);

    s->b = b;
    map_init(&s->by_id);
    map_init(&s->by_session);
    map_init(&s->expected);
    s->renew = evtimer_new(b->base, on_renew, s);
    s->again = evtimer_new(b->base, on_again, s);
    (void)evtimer_add(s->renew, &t);
    return s;
}

void streams_free(struct streams *s)
{
    event_free(s->renew);
    event_free(s->again);
    map_fini(&s->by_id);
    map_fini(&s->by_session);
    map_fini(&s->expected);
    free(s);
}
