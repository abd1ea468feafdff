#include "common/rds.h"

#include "common/clock.h"
#include "common/defer.h"
#include "common/dial.h"
#include "common/mem.h"
#include "common/metric.h"
#include "common/rds_command.h"
#include "common/rds_link.h"
#include "common/rds_sentinel.h"

#include <assert.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    IO_MAX = 256 * 1024, /* bytes per read and per write of the socket */
    FEED_MAX = 4 * 1024, /* hiredis moves the rest of its buffer down for each answer */
    STEADY_MS = 1000, /* up for less counts as one more failure */
};

static const struct sm_row link_rows[] = {
    [RDS_DOWN] = {"down", SM_TO(RDS_DIALING)},
    [RDS_DIALING] = {"dialing", SM_TO(RDS_GREETING) | SM_TO(RDS_DOWN)},
    [RDS_GREETING] = {"greeting", SM_TO(RDS_UP) | SM_TO(RDS_DOWN)},
    [RDS_UP] = {"up", SM_TO(RDS_DOWN)},
};

static void end(struct rds_call call, enum err e, const redisReply *reply)
{
    if (call.fn != NULL)
        call.fn(call.arg, e, reply);
}

static void destroy(struct rds *r)
{
    rds_sub_fini(r);
    event_free(r->deadline);
    event_free(r->again);
    rds_sentinel_free(r->sentinel);
    dial_free(r->dial);
    free(r->found);
    defer_free(r->defer);
    free(r->sent.p);
    free(r->failing.p);
    rds_reply_fini(&r->memory);
    free(r->name);
    free(r);
}

void rds_enter(struct rds *r)
{
    r->inside++;
}

void rds_leave(struct rds *r)
{
    if (--r->inside == 0 && r->dead)
        destroy(r);
}

/* A command that leaves is a sign of life as an answer that comes: a large one may take its time.
 * What was sent behind it is none, for it fills the buffers of a peer that has stopped. */
static void on_output(struct evbuffer *out, const struct evbuffer_cb_info *info, void *arg)
{
    struct rds *r = arg;

    (void)out;
    if (info->n_deleted > 0 && r->sent.n > 0 && r->sent.p[r->sent.head].end > r->gone)
        r->heard_us = clock_mono_us();
    r->gone += info->n_deleted;
}

static void close_connection(struct rds *r)
{
    if (r->sentinel != NULL)
        rds_sentinel_stop(r->sentinel);
    dial_stop(r->dial);
    (void)event_del(r->deadline);
    r->armed = false;
    rds_sub_stop(r);
    if (r->bev != NULL) {
        (void)evbuffer_remove_cb(bufferevent_get_output(r->bev), on_output, r);
        bufferevent_free(r->bev);
    }
    r->bev = NULL;
    if (r->reader != NULL)
        redisReaderFree(r->reader);
    r->reader = NULL;
}

void rds_lose(struct rds *r, const char *why)
{
    bool steady = r->sm.state == RDS_UP && clock_mono_ms() - r->up_ms >= STEADY_MS;
    struct rds_calls lost = r->sent;
    struct timeval t;
    char text[256];

    (void)snprintf(text, sizeof(text), "%s", why);
    r->sent = (struct rds_calls){0};
    close_connection(r);
    r->failures = steady ? 0 : r->failures + 1;
    t = clock_timeval(rds_backoff_ms(r, text));
    sm_move(&r->sm, RDS_DOWN);
    if (event_add(r->again, &t) != 0)
        abort();
    while (lost.n > 0)
        end(rds_calls_pop(&lost), ERR_UNAVAILABLE, NULL);
    free(lost.p);
    if (!r->dead)
        r->on_state(r->arg, RDS_DOWN, text);
}

void rds_become_up(struct rds *r)
{
    (void)event_del(r->deadline);
    r->armed = false;
    r->up_ms = clock_mono_ms();
    sm_move(&r->sm, RDS_UP);
    r->on_state(r->arg, RDS_UP, "");
}

/* --- commands --- */

static void arm_deadline(struct rds *r, uint64_t in_ms)
{
    struct timeval t = clock_timeval(in_ms);

    if (event_add(r->deadline, &t) != 0)
        abort();
    r->armed = true;
}

/* The timer is not moved for each command: when it fires, it looks at the oldest one. */
static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct rds *r = arg;
    uint64_t limit_us = r->conf.reply_timeout_ms * 1000U;
    uint64_t since_us;
    uint64_t age_us = 0;

    (void)fd;
    (void)what;
    r->armed = false;
    rds_enter(r);
    if (r->sm.state == RDS_GREETING) {
        rds_lose(r, "no answer to the greeting");
    } else if (r->sent.n > 0) {
        since_us = r->sent.p[r->sent.head].sent_us;
        age_us = clock_mono_us() - (r->heard_us > since_us ? r->heard_us : since_us);
        if (age_us < limit_us)
            arm_deadline(r, (limit_us - age_us) / 1000U + 1);
        else
            rds_lose(r, "no answer in time");
    }
    rds_leave(r);
}

void rds_write(struct rds *r, size_t argc, const struct span *argv)
{
    size_t n = rds_command_size(argc, argv);
    struct evbuffer *out = bufferevent_get_output(r->bev);
    struct evbuffer_iovec room;
    char *at;

    if (evbuffer_reserve_space(out, (ev_ssize_t)n, &room, 1) != 1)
        abort();
    at = rds_command_head(room.iov_base, argc);
    for (size_t i = 0; i < argc; i++)
        at = rds_command_word(at, argv[i], (struct span){NULL, 0});
    assert((size_t)(at - (char *)room.iov_base) == n);
    room.iov_len = n;
    if (evbuffer_commit_space(out, &room, 1) != 0)
        abort();
}

static void await(struct rds *r, rds_fn *fn, void *arg)
{
    uint64_t last = r->gone + evbuffer_get_length(bufferevent_get_output(r->bev));

    rds_calls_push(&r->sent, (struct rds_call){fn, arg, clock_mono_us(), last});
    if (!r->armed)
        arm_deadline(r, r->conf.reply_timeout_ms);
}

void rds_await(struct rds *r, size_t argc, const struct span *argv, rds_fn *fn, void *arg)
{
    rds_write(r, argc, argv);
    await(r, fn, arg);
}

static void on_failing(void *arg)
{
    struct rds *r = arg;
    struct rds_calls now = r->failing;

    r->failing = (struct rds_calls){0};
    rds_enter(r);
    while (now.n > 0)
        end(rds_calls_pop(&now), ERR_UNAVAILABLE, NULL);
    free(now.p);
    rds_leave(r);
}

static bool takes_commands(const struct rds *r)
{
    assert(r->sub.n == 0);
    return r->sm.state == RDS_UP &&
           evbuffer_get_length(bufferevent_get_output(r->bev)) <= r->conf.queued_max;
}

static void fail(struct rds *r, rds_fn *fn, void *arg)
{
    if (r->failing.n == 0)
        defer_call(r->defer, on_failing, r);
    rds_calls_push(&r->failing, (struct rds_call){.fn = fn, .arg = arg});
}

void rds_send(struct rds *r, size_t argc, const struct span *argv, rds_fn *fn, void *arg)
{
    if (takes_commands(r))
        rds_await(r, argc, argv, fn, arg);
    else
        fail(r, fn, arg);
}

void rds_send_command(struct rds *r, struct span command, rds_fn *fn, void *arg)
{
    if (!takes_commands(r)) {
        fail(r, fn, arg);
        return;
    }
    if (evbuffer_add(bufferevent_get_output(r->bev), command.p, command.n) != 0)
        abort();
    await(r, fn, arg);
}

/* --- answers --- */

static void take(struct rds *r, const redisReply *reply)
{
    struct rds_call call;

    if (rds_sub_take(r, reply))
        return;
    if (r->sent.n == 0) {
        rds_lose(r, reply->type == REDIS_REPLY_ERROR ? reply->str : "an answer nobody asked for");
        return;
    }
    call = rds_calls_pop(&r->sent);
    r->lag_us = clock_mono_us() - call.sent_us;
    metric_observe(METRIC_REDIS_SECONDS, NULL, r->lag_us);
    end(call, ERR_OK, reply);
    /* A primary that is none any more: the sentinels know the next, or its name leads there. */
    if (!r->dead && r->sm.state == RDS_UP && reply->type == REDIS_REPLY_ERROR &&
        strncmp(reply->str, "READONLY", 8) == 0)
        rds_lose(r, reply->str);
}

static void take_all(struct rds *r)
{
    redisReader *reader = r->reader;

    while (r->reader == reader) {
        void *reply = NULL;

        if (redisReaderGetReply(reader, &reply) != REDIS_OK) {
            rds_lose(r, reader->errstr);
            return;
        }
        if (reply == NULL)
            return;
        take(r, reply);
        rds_reply_done(&r->memory);
    }
}

static void on_read(struct bufferevent *bev, void *arg)
{
    struct rds *r = arg;
    struct evbuffer *in = bufferevent_get_input(bev);

    rds_enter(r);
    r->heard_us = clock_mono_us();
    rds_sub_heard(r);
    while (r->bev == bev && evbuffer_get_length(in) > 0) {
        struct evbuffer_iovec piece;
        size_t n;

        (void)evbuffer_peek(in, -1, NULL, &piece, 1);
        n = piece.iov_len < FEED_MAX ? piece.iov_len : FEED_MAX;
        (void)redisReaderFeed(r->reader, piece.iov_base, n);
        (void)evbuffer_drain(in, n);
        take_all(r);
    }
    rds_leave(r);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
    struct rds *r = arg;
    char why[160];

    if ((what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) == 0)
        return;
    rds_enter(r);
    dial_explain(bev, what, why, sizeof(why));
    rds_lose(r, why);
    rds_leave(r);
}

void rds_open(struct rds *r, struct bufferevent *bev)
{
    r->bev = bev;
    r->gone = 0;
    if (evbuffer_add_cb(bufferevent_get_output(bev), on_output, r) == NULL)
        abort();
    r->reader = rds_reply_reader(&r->memory);
    r->reader->maxbuf = 0; /* keep the buffer: else it is grown anew for each answer > 16 KiB */
    (void)bufferevent_set_max_single_read(bev, IO_MAX);
    (void)bufferevent_set_max_single_write(bev, IO_MAX);
    bufferevent_setcb(bev, on_read, NULL, on_event, r);
    if (bufferevent_enable(bev, EV_READ | EV_WRITE) != 0)
        abort();
}

/* --- life --- */

struct rds *rds_new(struct event_base *base, const struct rds_conf *conf, rds_state_fn *on_state,
                    void *arg)
{
    static const struct timeval at_once = {0, 0};
    struct rds *r = mem_zalloc(sizeof(*r));
    struct rds_conf *c = &r->conf;

    *c = *conf;
    c->dial_timeout_ms = c->dial_timeout_ms != 0 ? c->dial_timeout_ms : 2000;
    c->reply_timeout_ms = c->reply_timeout_ms != 0 ? c->reply_timeout_ms : 2000;
    c->queued_max = c->queued_max != 0 ? c->queued_max : (size_t)8 * 1024 * 1024;
    c->pulse_ms = c->pulse_ms != 0 ? c->pulse_ms : 5000;
    r->name = mem_strdup(conf->name);
    r->base = base;
    r->on_state = on_state;
    r->arg = arg;
    sm_init(&r->sm, "link", link_rows, RDS_DOWN);
    r->target = *c->url;
    r->dial = dial_new(base, &r->target, c->dial_timeout_ms, rds_on_dialled, r);
    if (c->url->sentinel_count > 0)
        r->sentinel =
            rds_sentinel_new(base, c->url, c->dial_timeout_ms / 2, rds_on_found, rds_on_moved, r);
    r->defer = defer_new(base);
    r->deadline = event_new(base, -1, 0, on_deadline, r);
    r->again = event_new(base, -1, 0, rds_on_again, r);
    rds_sub_init(r);
    if (r->deadline == NULL || r->again == NULL || event_add(r->again, &at_once) != 0)
        abort();
    return r;
}

void rds_free(struct rds *r)
{
    if (r == NULL)
        return;
    rds_enter(r);
    r->dead = true;
    close_connection(r);
    (void)event_del(r->again);
    r->sm.state = RDS_DOWN;
    while (r->sent.n > 0)
        end(rds_calls_pop(&r->sent), ERR_UNAVAILABLE, NULL);
    while (r->failing.n > 0)
        end(rds_calls_pop(&r->failing), ERR_UNAVAILABLE, NULL);
    rds_leave(r);
}

enum rds_state rds_state(const struct rds *r)
{
    return (enum rds_state)r->sm.state;
}

size_t rds_in_flight(const struct rds *r)
{
    return r->sent.n;
}

uint64_t rds_lag_us(const struct rds *r)
{
    return r->lag_us;
}
