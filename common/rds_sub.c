#include "common/rds_link.h"

#include "common/clock.h"
#include "common/mem.h"

#include <assert.h>
#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

static void arm(struct rds *r)
{
    struct timeval t = clock_timeval(r->conf.pulse_ms);

    if (event_add(r->sub.pulse, &t) != 0)
        abort();
}

/* A PING that brought nothing until the next one is due: lost after two intervals at most. */
static void on_pulse(evutil_socket_t fd, short what, void *arg)
{
    static const struct span ping[] = {{"PING", 4}};
    struct rds *r = arg;

    (void)fd;
    (void)what;
    rds_enter(r);
    if (r->sub.pinged) {
        rds_lose(r, "the subscriber has heard nothing");
    } else {
        r->sub.pinged = true;
        rds_write(r, 1, ping);
        arm(r);
    }
    rds_leave(r);
}

void rds_sub_init(struct rds *r)
{
    r->sub.pulse = event_new(r->base, -1, 0, on_pulse, r);
    if (r->sub.pulse == NULL)
        abort();
}

void rds_sub_fini(struct rds *r)
{
    event_free(r->sub.pulse);
    for (size_t i = 0; i < r->sub.n; i++)
        free(r->sub.channels[i].name);
    free(r->sub.channels);
}

void rds_subscribe(struct rds *r, const char *channel, rds_message_fn *fn, void *arg)
{
    struct rds_sub *sub = &r->sub;

    assert(r->bev == NULL);
    sub->channels = mem_grow(sub->channels, (sub->n + 1) * sizeof(*sub->channels));
    sub->channels[sub->n++] = (struct rds_channel){mem_strdup(channel), fn, arg};
}

void rds_sub_start(struct rds *r)
{
    struct rds_sub *sub = &r->sub;
    struct span *words = mem_alloc((sub->n + 1) * sizeof(*words));

    words[0] = SPAN("SUBSCRIBE");
    for (size_t i = 0; i < sub->n; i++)
        words[i + 1] = span_of(sub->channels[i].name);
    sub->confirmed = 0;
    sub->pinged = false;
    rds_write(r, sub->n + 1, words);
    free(words);
    arm(r);
}

void rds_sub_stop(struct rds *r)
{
    (void)event_del(r->sub.pulse);
}

void rds_sub_heard(struct rds *r)
{
    r->sub.pinged = false;
}

static struct span text(const redisReply *reply)
{
    return (struct span){reply->str, reply->str != NULL ? reply->len : 0};
}

static void deliver(struct rds *r, struct span channel, struct span payload)
{
    for (size_t i = 0; i < r->sub.n && r->sm.state == RDS_UP; i++) {
        const struct rds_channel *c = &r->sub.channels[i];

        if (span_is(channel, c->name)) {
            c->fn(c->arg, channel, payload);
            return;
        }
    }
}

bool rds_sub_take(struct rds *r, const struct redisReply *reply)
{
    struct span kind;

    /* A user who may not PING has a pulse all the same: the refusal was heard. */
    if (r->sub.n > 0 && r->sm.state == RDS_UP && reply->type == REDIS_REPLY_ERROR)
        return reply->len >= 6 && memcmp(reply->str, "NOPERM", 6) == 0;
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 2 || r->sub.n == 0)
        return false;
    kind = text(reply->element[0]);
    if (span_is(kind, "pong"))
        return true;
    if (reply->elements != 3)
        return false;
    if (span_is(kind, "message")) {
        deliver(r, text(reply->element[1]), text(reply->element[2]));
        return true;
    }
    if (!span_is(kind, "subscribe"))
        return false;
    if (++r->sub.confirmed == r->sub.n)
        rds_become_up(r);
    return true;
}
