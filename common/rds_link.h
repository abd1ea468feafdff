/* rds_link.h - the inside of a link, for rds.c (states, commands, answers),
 * rds_greet.c (from a dial to UP, and back-off) and rds_sub.c (subscriber).
 */
#pragma once

#include "common/mem.h"
#include "common/rds.h"
#include "common/rds_reply.h"
#include "common/sm.h"

#include <stdlib.h>

struct bufferevent;
struct event;

struct rds_call {
    rds_fn *fn;
    void *arg;
    uint64_t sent_us;
    uint64_t end; /* its last byte, among those of the connection */
};

/* First in, first out; room is a power of two, so that the ring needs no division. */
struct rds_calls {
    struct rds_call *p;
    size_t head;
    size_t n;
    size_t room;
};

static inline void rds_calls_push(struct rds_calls *q, struct rds_call call)
{
    if (q->n == q->room) {
        size_t room = q->room == 0 ? 64 : q->room * 2;
        struct rds_call *p = mem_alloc(room * sizeof(*p));

        for (size_t i = 0; i < q->n; i++)
            p[i] = q->p[(q->head + i) & (q->room - 1)];
        free(q->p);
        *q = (struct rds_calls){.p = p, .n = q->n, .room = room};
    }
    q->p[(q->head + q->n++) & (q->room - 1)] = call;
}

static inline struct rds_call rds_calls_pop(struct rds_calls *q)
{
    struct rds_call call = q->p[q->head];

    q->head = (q->head + 1) & (q->room - 1);
    q->n--;
    return call;
}

struct rds_channel {
    char *name;
    rds_message_fn *fn;
    void *arg;
};

struct rds_sub {
    struct rds_channel *channels;
    size_t n; /* more than none: the link is a subscriber */
    size_t confirmed;
    struct event *pulse;
    bool pinged; /* and nothing heard since */
};

struct rds {
    struct event_base *base;
    struct rds_conf conf;
    char *name;
    rds_state_fn *on_state;
    void *arg;
    struct sm sm;
    struct url
        target; /* what is dialled: conf.url, or what the sentinels named, its texts theirs */
    char *found; /* target.host, when a sentinel named it */
    struct rds_sentinel *sentinel; /* NULL: the url says where Redis is */
    struct dial *dial;
    struct bufferevent *bev; /* GREETING and UP */
    struct redisReader *reader; /* the same */
    struct rds_memory memory; /* of the answer being told */
    struct rds_calls sent; /* and not answered, in order */
    struct rds_calls failing; /* end on the next turn */
    struct defer *defer;
    struct event *deadline; /* of the greeting, then of the oldest unanswered command */
    bool armed;
    uint64_t heard_us; /* when bytes came last, or some of the oldest unanswered command left */
    uint64_t gone; /* bytes that have left on this connection */
    struct event *again; /* the next attempt */
    unsigned failures; /* attempts since the link was last up for a while */
    uint64_t up_ms; /* when it came up */
    uint64_t lag_us;
    struct rds_sub sub;
    unsigned inside; /* our own callbacks on the stack */
    bool dead; /* rds_free() was called from one of them */
};

/* Writes a command; the answer is not recorded as awaited. */
void rds_write(struct rds *r, size_t argc, const struct span *argv);
void rds_await(struct rds *r, size_t argc, const struct span *argv, rds_fn *fn, void *arg);
/* Takes a connection into use. */
void rds_open(struct rds *r, struct bufferevent *bev);
/* Closes the connection and dials again later; why may lie in what is closed. */
void rds_lose(struct rds *r, const char *why);
void rds_become_up(struct rds *r);
/* Every callback of libevent is between these two: rds_leave() may free the link. */
void rds_enter(struct rds *r);
void rds_leave(struct rds *r);

void rds_on_again(int fd, short what, void *arg);
/* Where the primary is, by a sentinel. */
void rds_on_found(void *arg, const char *host, uint16_t port, const char *why);
void rds_on_moved(void *arg);
void rds_on_dialled(void *arg, struct bufferevent *bev, const char *why);
/* How long to wait after a failure, by its text and by how many there were before. */
uint64_t rds_backoff_ms(const struct rds *r, const char *why);

void rds_sub_init(struct rds *r);
void rds_sub_fini(struct rds *r);
/* Sends SUBSCRIBE: the link is UP once all channels are confirmed. */
void rds_sub_start(struct rds *r);
void rds_sub_stop(struct rds *r);
void rds_sub_heard(struct rds *r); /* any bytes */
/* True when the reply was the subscriber's: a confirmation, a message or a pulse. */
bool rds_sub_take(struct rds *r, const struct redisReply *reply);
