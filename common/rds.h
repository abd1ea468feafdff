/* rds.h - one Redis connection: exactly-once replies, deadlines, reconnect.
 *
 * The link dials, greets (AUTH, SELECT, CLIENT SETNAME), and dials again with jittered back-off
 * whenever it is lost; its owner only sends. RESP2, by hiredis' reader over a bufferevent, so that
 * TCP, TLS (rediss) and unix sockets are one code path.
 *
 * Happy path: rds_new -> DIALING -> GREETING -> on_state(UP) -> replies in order.
 * Failures: refused or lost -> every outstanding command ends with ERR_UNAVAILABLE and
 * on_state(DOWN) is told; a command unanswered for the deadline closes the link, because replies
 * come in order and a late one would answer someone else. While bytes come, and while the oldest
 * command still leaves, the deadline begins anew: a large one may take its time. An answer READONLY
 * closes the link once its sender has it: this is no primary (any more), and whoever answers to the
 * same name now may be one.
 */
#pragma once

#include "common/err.h"
#include "common/span.h"
#include "common/url.h"

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct redisReply;
struct rds;

enum rds_state { RDS_DOWN, RDS_DIALING, RDS_GREETING, RDS_UP };

struct rds_conf {
    const struct url *url; /* outlives the link */
    const char *name; /* CLIENT SETNAME; [A-Za-z0-9_.:-] */
    uint64_t dial_timeout_ms; /* 0: 2000 */
    uint64_t reply_timeout_ms; /* 0: 2000; oldest unanswered command */
    size_t queued_max; /* 0: 8 MiB of unsent bytes; above, ERR_UNAVAILABLE at once */
    uint64_t pulse_ms; /* 0: 5000; a subscriber's PING, twice that silent is lost */
};

/* Told on every change into UP or DOWN, so once per failed attempt too; why is a short text,
 * static or borrowed, without secrets. Never called from inside rds_new(), rds_send() or
 * rds_free(). What was outstanding has ended before DOWN is told. */
typedef void rds_state_fn(void *arg, enum rds_state state, const char *why);

/* Called exactly once per command, never from inside rds_send(). reply is borrowed: it dies when
 * the call returns. It is NULL unless e is ERR_OK; an error reply is an ERR_OK with type
 * REDIS_REPLY_ERROR, for its meaning depends on the command. ERR_UNAVAILABLE means the outcome is
 * unknown, not that nothing happened. */
typedef void rds_fn(void *arg, enum err e, const struct redisReply *reply);

/* A message of a subscribed channel. Borrowed. */
typedef void rds_message_fn(void *arg, struct span channel, struct span payload);

struct rds *rds_new(struct event_base *base, const struct rds_conf *conf, rds_state_fn *on_state,
                    void *arg);
/* Ends what is outstanding with ERR_UNAVAILABLE inside the call: for shutdown only. Whoever sends
 * again from such a callback is ended again. May be called from inside a callback of the link. */
void rds_free(struct rds *r);
enum rds_state rds_state(const struct rds *r);

/* Sends one command, or queues its failure; fn may be NULL when nobody wants the answer. The
 * commands of one turn of the loop leave together, in order. While the link is not UP the command
 * fails with ERR_UNAVAILABLE on the next turn of the loop: callers decide whether to try again. */
void rds_send(struct rds *r, size_t argc, const struct span *argv, rds_fn *fn, void *arg);

/* The same with a command that its owner has put into its form on the wire, and keeps: it is
 * copied. See rds_command.h. */
void rds_send_command(struct rds *r, struct span command, rds_fn *fn, void *arg);

/* Turns the link into a subscriber: the channels are subscribed on every (re)connect before
 * on_state(UP), and messages are told only while UP. Such a link takes no rds_send(). A subscriber
 * checks its own pulse by a PING every few seconds and treats silence as a lost link (H3). Call
 * before the first turn of the loop, for each channel. */
void rds_subscribe(struct rds *r, const char *channel, rds_message_fn *fn, void *arg);

/* Closes the link, if there is one, and dials again: told as DOWN from inside the call. */
void rds_again(struct rds *r, const char *why);

/* For tests and metrics. */
size_t rds_in_flight(const struct rds *r);
uint64_t rds_lag_us(const struct rds *r); /* how long the last answered command took */
