#include "broker/stream_inside.h"

#include "broker/sse.h"
#include "common/mem.h"

#include <stdio.h>
#include <stdlib.h>

void stream_become_open(struct stream *st, const struct store_stream_event *events, size_t count)
{
    sm_move(&st->sm, OPEN);
    for (size_t i = 0; i < count; i++)
        stream_take(st, &events[i]);
    stream_flush(st);
}

static void on_opened(void *arg, enum err e, const struct store_stream *record, bool gap,
                      const struct store_stream_event *events, size_t count)
{
    struct stream_lookup *o = arg;
    struct stream *st = stream_find(o->all, span_of(o->id));

    (void)record;
    (void)gap;
    if (st != NULL && st->sm.state == OPENING) {
        if (e != ERR_OK && err_may_retry(e) && !st->ending) {
            stream_open_later(st);
        } else if (e == ERR_NOT_FOUND && st->kind == STREAM_GET) {
            stream_end(st); /* its session has ended */
        } else {
            /* Only now: whoever has an id may come back with it anywhere. Without a record the
             * stream still serves its one client; it only cannot be resumed. */
            if (e == ERR_OK)
                stream_prime(st);
            stream_become_open(st, events, e == ERR_OK ? count : 0);
        }
    }
    free(o);
}

struct stream_lookup *stream_lookup_new(const struct stream *st)
{
    struct stream_lookup *l = mem_zalloc(sizeof(*l));

    l->all = st->all;
    memcpy(l->id, st->id, sizeof(l->id));
    return l;
}

struct stream *stream_reserve(struct streams *s, const struct stream_use *use,
                              stream_wanted_fn *on_wanted, void *arg)
{
    struct stream *st = stream_new(s, use, NULL);

    st->on_wanted = on_wanted;
    st->arg = arg;
    return st;
}

void stream_open_record(struct stream *st)
{
    struct store_stream record = {
        .id = span_of(st->id),
        .kind = st->kind,
        .session = span_of(st->session),
        .owner = span_of(st->owner),
        .task = span_of(st->task),
        .request = span_of(st->request),
    };

    st->is_waiting = false;
    store_stream_open(st->all->b->store, &record, on_opened, stream_lookup_new(st));
}

void stream_start(struct stream *st, struct http_req *http, stream_gone_fn *on_gone, void *arg)
{
    st->on_gone = on_gone;
    st->arg = arg;
    st->sse = sse_start(http, stream_on_gone, st);
    sm_move(&st->sm, OPENING);
    stream_open_record(st);
}

struct stream *stream_open(struct streams *s, const struct stream_use *use, struct http_req *http,
                           stream_gone_fn *on_gone, void *arg)
{
    struct stream *st = stream_new(s, use, NULL);

    stream_start(st, http, on_gone, arg);
    return st;
}

struct stream *stream_resume(struct streams *s, const struct store_stream *record,
                             const char *owner, unsigned partition, bool tasks,
                             struct http_req *http, stream_gone_fn *on_gone, void *arg)
{
    char session[ID_LEN + 1];
    char task[ID_LEN + 1];
    char id[ID_SHORT_LEN + 1];
    struct stream_use use = {.kind = record->kind,
                             .session = session,
                             .owner = owner,
                             .partition = partition,
                             .task = task,
                             .request = record->request,
                             .tasks = tasks};
    struct stream *st;

    (void)snprintf(session, sizeof(session), "%.*s", (int)record->session.n, record->session.p);
    (void)snprintf(task, sizeof(task), "%.*s", (int)record->task.n, record->task.p);
    (void)snprintf(id, sizeof(id), "%.*s", (int)record->id.n, record->id.p);
    st = stream_new(s, &use, id);
    st->on_gone = on_gone;
    st->arg = arg;
    st->sse = sse_start(http, stream_on_gone, st);
    sm_move(&st->sm, OPENING);
    return st;
}

void stream_open_without(struct stream *st)
{
    stream_become_open(st, NULL, 0);
}
