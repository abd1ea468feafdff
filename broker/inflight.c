#include "broker/inflight.h"

#include "broker/stream.h"
#include "common/clock.h"
#include "common/mem.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

/* A client that takes event streams sees the first byte of a slow answer within 200 ms. */
enum { STREAM_AFTER_MS = 150, SHORT_ID = 128 };

struct inflight {
    struct broker *b;
    struct map by_id;
    struct list soon; /* in order of arrival, hence of due time */
    struct event *timer;
};

/* What brokers call a request when they speak of it: its raw id, or the digest of a long one. */
static struct span name_of(struct span raw_id, char digest[static 23])
{
    if (raw_id.n <= SHORT_ID)
        return raw_id;
    id_digest(digest, &raw_id, 1);
    return span_of(digest);
}

static char *key_of(struct span session, struct span name)
{
    char *key = mem_alloc(session.n + name.n + 2);

    memcpy(key, session.p, session.n);
    key[session.n] = ' ';
    memcpy(key + session.n + 1, name.p, name.n);
    key[session.n + 1 + name.n] = '\0';
    return key;
}

static void arm(struct inflight *f)
{
    struct timeval t = clock_timeval(STREAM_AFTER_MS);

    if (!list_empty(&f->soon) && !evtimer_pending(f->timer, NULL))
        (void)evtimer_add(f->timer, &t);
}

static struct stream_use use_of(const struct req *q)
{
    return (struct stream_use){.kind = q->hidden ? STREAM_CALL : STREAM_RESULT,
                               .session = q->session,
                               .owner = q->who.owner,
                               .partition = q->who.partition,
                               .task = q->wait.id,
                               .request = req_id(q)};
}

static void become_stream(struct req *q)
{
    struct stream_use use = use_of(q);
    struct http_req *http = q->http;

    list_del(&q->soon);
    q->http = NULL;
    if (q->stream != NULL)
        stream_start(q->stream, http, req_on_stream_gone, q);
    else
        q->stream = stream_open(q->b->streams, &use, http, req_on_stream_gone, q);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct inflight *f = arg;
    uint64_t now = clock_mono_ms();

    (void)fd;
    (void)what;
    while (!list_empty(&f->soon)) {
        struct req *q = LIST_OF(f->soon.next, struct req, soon);
        struct timeval t;

        if (q->stream_at_ms > now) {
            t = clock_timeval(q->stream_at_ms - now);
            (void)evtimer_add(f->timer, &t);
            return;
        }
        become_stream(q);
    }
}

struct inflight *inflight_new(struct broker *b)
{
    struct inflight *f = mem_zalloc(sizeof(*f));

    f->b = b;
    map_init(&f->by_id);
    list_init(&f->soon);
    f->timer = evtimer_new(b->base, on_timer, f);
    return f;
}

void inflight_free(struct inflight *f)
{
    event_free(f->timer);
    map_fini(&f->by_id);
    free(f);
}

size_t inflight_count(const struct inflight *f)
{
    return f->by_id.n;
}

static void leave(struct req *q)
{
    map_del(&q->b->inflight->by_id, &q->inflight);
    list_del(&q->soon);
    free(q->inflight_key);
    q->inflight_key = NULL;
    q->leave = NULL;
}

void inflight_pause(struct req *q)
{
    wait_del(q->b->waits, &q->wait);
    if (q->timer != NULL)
        (void)evtimer_del(q->timer);
    if (q->leave != NULL)
        leave(q);
}

/* Only a client that names event streams gets one: a wildcard may be a plain script (H-06). */
static bool takes_stream(const struct http_req *r)
{
    return http_names(r, "text/event-stream") && http_streams(r);
}

static void on_wanted(void *arg)
{
    struct req *q = arg;

    if (q->inflight_key != NULL)
        become_stream(q);
    else
        q->stream_now = true; /* once the call is made */
}

struct span inflight_reserve(struct req *q)
{
    struct stream_use use = use_of(q);

    if (!takes_stream(q->http))
        return (struct span){NULL, 0};
    q->stream = stream_reserve(q->b->streams, &use, on_wanted, q);
    return span_of(stream_id(q->stream));
}

static void join(struct inflight *f, struct req *q)
{
    char digest[23];

    q->inflight_key = key_of(span_of(q->session), name_of(req_id(q), digest));
    map_add(&f->by_id, &q->inflight, span_of(q->inflight_key));
    if (q->http == NULL || !takes_stream(q->http))
        return;
    if (q->stream_now) {
        become_stream(q);
    } else {
        q->stream_at_ms = clock_mono_ms() + STREAM_AFTER_MS;
        list_add_tail(&f->soon, &q->soon);
        arm(f);
    }
}

void inflight_wait(struct req *q, uint64_t expires_ms, waiter_fn *fn)
{
    /* One whose stream was taken up again is sent on by the next look of the drain. */
    if (q->b->draining && !q->hidden && q->http != NULL && !takes_stream(q->http)) {
        req_fail_why(q, ERR_UNAVAILABLE, "this server is restarting; ask again");
        return;
    }
    if (q->id == NULL)
        q->id = mem_dup(q->rpc.id.p, q->rpc.id.n);
    q->leave = leave;
    join(q->b->inflight, q);
    wait_start(q->b->waits, &q->wait, expires_ms, fn, q);
}

/* The job of a plain call has no other handle than this request. */
static void on_job_cancelled(void *arg, enum err e, const struct store_result *r)
{
    (void)arg;
    (void)e;
    (void)r;
}

static void give_up(struct req *q)
{
    if (q->hidden && !q->is_guest)
        store_cancel(q->b->store, span_of(q->wait.id), span_of(q->wait.owner), 0, true,
                     on_job_cancelled, NULL);
    req_quiet(q);
}

void inflight_tell_cancel(struct inflight *f, struct span session, struct span raw_id)
{
    char digest[23];

    store_tell_all(f->b->store, "Q", session, name_of(raw_id, digest));
}

void inflight_cancel(struct inflight *f, struct span session, struct span name)
{
    char *key = key_of(session, name);
    struct map_node *node = map_find(&f->by_id, span_of(key));

    /* Two of the same id at once are the client's own confusion (J-09): neither is touched. */
    if (node != NULL && map_find_next(node) == NULL)
        give_up(MAP_OF(node, struct req, inflight));
    free(key);
}

struct drain {
    bool all;
};

/* Not one that can be resumed yet, but by the time of a later look. */
static bool becomes_stream(const struct req *q)
{
    if (q->http != NULL)
        return takes_stream(q->http);
    return q->stream != NULL && !stream_is_open(q->stream);
}

static bool is_resumable(const struct req *q)
{
    return q->session[0] != '\0' && q->stream != NULL && stream_is_started(q->stream);
}

static void send_elsewhere(void *arg, struct map_node *node)
{
    const struct drain *d = arg;
    struct req *q = MAP_OF(node, struct req, inflight);

    if (!d->all && (q->hidden || becomes_stream(q)))
        return;
    if (is_resumable(q)) {
        req_suspend(q);
        return;
    }
    /* Asked again it is another job, unless a key says that it is the same. */
    if (q->abandon != NULL && !q->has_key)
        q->abandon(q);
    req_fail_why(q, ERR_UNAVAILABLE, "this server is restarting; ask again");
}

void inflight_drain(struct inflight *f, bool all)
{
    struct drain d = {.all = all};

    map_each(&f->by_id, send_elsewhere, &d);
}
