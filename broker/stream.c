#include "broker/stream_inside.h"

#include "broker/l/render.h"
#include "broker/rpc.h"
#include "broker/sse.h"
#include "common/mem.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ANSWERED_MS = 2 * 60 * 1000, /* a lost answer can be fetched again this long */
    COME_BACK_MS = 500,
    MESSAGE_MAX = 1 << 20,
};

static const struct sm_row rows[] = {
    [RESERVED] = {"reserved", SM_TO(OPENING)},
    [OPENING] = {"opening", SM_TO(OPEN)},
    [OPEN] = {"open", 0},
};

static void put_text(char *out, size_t room, const char *text)
{
    (void)snprintf(out, room, "%s", text);
}

struct stream *stream_new(struct streams *s, const struct stream_use *use, const char *id)
{
    struct stream *st = mem_zalloc(sizeof(*st));

    st->all = s;
    st->kind = use->kind;
    st->partition = use->partition;
    st->tasks = use->tasks;
    st->number = ++s->last;
    put_text(st->session, sizeof(st->session), use->session);
    put_text(st->owner, sizeof(st->owner), use->owner);
    put_text(st->task, sizeof(st->task), use->task);
    st->request = mem_dup(use->request.p, use->request.n);
    if (id != NULL)
        put_text(st->id, sizeof(st->id), id);
    else
        id_short(st->id);
    list_init(&st->held);
    put_text(st->last, sizeof(st->last), "0");
    sm_init(&st->sm, "stream", rows, RESERVED);
    map_add(&s->by_id, &st->by_id, span_of(st->id));
    if (st->kind == STREAM_GET)
        map_add(&s->by_session, &st->by_session, span_of(st->session));
    return st;
}

void stream_free(struct stream *st)
{
    map_del(&st->all->by_id, &st->by_id);
    if (st->kind == STREAM_GET)
        map_del(&st->all->by_session, &st->by_session);
    LIST_EACH(&st->held, it)
    free(LIST_OF(it, struct held, node));
    free(st->request);
    free(st);
}

static void drop_record(const struct stream *st, uint64_t ttl_ms)
{
    if (st->session[0] != '\0')
        store_stream_drop(st->all->b->store, st->partition, span_of(st->id), ttl_ms);
    else
        store_stream_drop(st->all->b->store, st->partition, span_of(st->id), 1);
}

void stream_on_gone(void *arg)
{
    struct stream *st = arg;
    stream_gone_fn *fn = st->on_gone;
    void *fn_arg = st->arg;

    st->sse = NULL;
    drop_record(st, STREAM_DROPPED_MS);
    stream_free(st);
    if (fn != NULL)
        fn(fn_arg);
}

const char *stream_id(const struct stream *st)
{
    return st->id;
}

bool stream_is_started(const struct stream *st)
{
    return st->sse != NULL;
}

bool stream_is_open(const struct stream *st)
{
    return st->sm.state == OPEN;
}

void stream_cancel(struct stream *st)
{
    stream_free(st);
}

/* Entries are "<ms>-<n>"; both grow. */
static bool is_after(struct span entry, const char *last)
{
    char text[STREAM_ENTRY_MAX];
    unsigned long long a[2] = {0, 0};
    unsigned long long b[2] = {0, 0};
    char *rest;

    (void)snprintf(text, sizeof(text), "%.*s", (int)entry.n, entry.p);
    a[0] = strtoull(text, &rest, 10);
    a[1] = *rest == '-' ? strtoull(rest + 1, NULL, 10) : 0;
    b[0] = strtoull(last, &rest, 10);
    b[1] = *rest == '-' ? strtoull(rest + 1, NULL, 10) : 0;
    return a[0] > b[0] || (a[0] == b[0] && a[1] > b[1]);
}

static void write_event(struct stream *st, struct span entry, struct span message)
{
    char id[ID_SHORT_LEN + STREAM_ENTRY_MAX + 2];

    if (!is_after(entry, st->last) || entry.n >= STREAM_ENTRY_MAX)
        return; /* it came twice: by a read and by a message */
    (void)snprintf(st->last, sizeof(st->last), "%.*s", (int)entry.n, entry.p);
    (void)snprintf(id, sizeof(id), "%s.%s", st->id, st->last);
    sse_send(st->sse, st->session[0] != '\0' ? id : NULL, message);
}

void stream_prime(struct stream *st)
{
    char id[ID_SHORT_LEN + 4];

    if (st->session[0] == '\0')
        return;
    (void)snprintf(id, sizeof(id), "%s.0", st->id);
    sse_send(st->sse, id, SPAN("")); /* H-11 */
}

/* The message of an event; for a task's status rendered into out. */
static struct span message_of(const struct streams *s, const struct store_stream_event *e,
                              struct buf *out)
{
    struct buf params;

    if (!e->is_task)
        return e->data;
    buf_init(&params, MESSAGE_MAX);
    l_task(&params, &e->task, span_is(span_of(s->b->conf->iserror_status), "failed"));
    rpc_write_notification(out, "notifications/tasks/status", buf_span(&params));
    buf_fini(&params);
    return buf_span(out);
}

static void hold(struct list *held, struct span entry, struct span message)
{
    struct held *h = mem_zalloc(sizeof(*h) + message.n + 1);

    (void)snprintf(h->entry, sizeof(h->entry), "%.*s", (int)entry.n, entry.p);
    h->n = message.n;
    memcpy(h->message, message.p, message.n);
    list_add_tail(held, &h->node);
}

void stream_hold(const struct streams *s, struct list *held, bool tasks,
                 const struct store_stream_event *e)
{
    struct buf out;

    if (e->is_task && !tasks)
        return;
    buf_init(&out, MESSAGE_MAX);
    hold(held, e->entry, message_of(s, e, &out));
    buf_fini(&out);
}

void stream_take(struct stream *st, const struct store_stream_event *e)
{
    struct buf out;

    if (st->sm.state != OPEN) {
        stream_hold(st->all, &st->held, st->tasks, e);
        return;
    }
    if (e->is_task && !st->tasks)
        return;
    buf_init(&out, MESSAGE_MAX);
    write_event(st, e->entry, message_of(st->all, e, &out));
    buf_fini(&out);
}

static void write_answer(struct stream *st, struct span message)
{
    char id[ID_SHORT_LEN + 8];

    (void)snprintf(id, sizeof(id), "%s.end", st->id);
    sse_send(st->sse, st->session[0] != '\0' ? id : NULL, message);
    sse_end(st->sse);
    st->sse = NULL;
    drop_record(st, ANSWERED_MS);
    stream_free(st);
}

void stream_answer(struct stream *st, struct span message)
{
    if (st->sm.state == OPEN) {
        write_answer(st, message);
        return;
    }
    /* What its job said before must come first. */
    hold(&st->held, SPAN("end"), message);
    st->ending = true;
    st->on_gone = NULL;
    if (st->is_waiting)
        stream_open_without(st);
}

void stream_end(struct stream *st)
{
    if (st->sse != NULL)
        sse_end(st->sse);
    st->sse = NULL;
    drop_record(st, 1);
    stream_free(st);
}

void stream_suspend(struct stream *st)
{
    sse_retry(st->sse, COME_BACK_MS);
    sse_end(st->sse);
    st->sse = NULL;
    drop_record(st, STREAM_DROPPED_MS);
    stream_free(st);
}

/* Writes what was held; the answer, if it is there, is the last of it and ends the stream. */
void stream_flush(struct stream *st)
{
    LIST_EACH(&st->held, it)
    {
        struct held *h = LIST_OF(it, struct held, node);
        struct span message = {h->message, h->n};

        if (strcmp(h->entry, "end") == 0) {
            write_answer(st, message);
            return;
        }
        write_event(st, span_of(h->entry), message);
        list_del(&h->node);
        free(h);
    }
}
