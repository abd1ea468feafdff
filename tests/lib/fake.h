/* fake.h - a server that speaks as the test tells it to, on the test's own loop.
 *
 * It reads commands as Redis does and gives each to `on_command`, which says what it likes, or
 * nothing. Without one it answers PING with +PONG and all else with +OK.
 */
#pragma once

#include "common/url.h"

#include <stddef.h>
#include <stdint.h>

struct event_base;
struct evconnlistener;
struct fake;
struct fake_peer; /* one connection */
struct redisReply;

/* command is an array of strings. */
typedef void fake_fn(struct fake_peer *p, const struct redisReply *command);

struct fake {
    struct event_base *base;
    struct evconnlistener *listener;
    uint16_t port;
    struct url url; /* points here */
    fake_fn *on_command;
    void (*on_accept)(struct fake_peer *p);
    void *arg; /* the test's */
    unsigned accepted; /* connections so far */
    unsigned commands; /* besides PING and CLIENT */
    unsigned reads; /* pieces in which they came */
    size_t bytes; /* that came */
    struct fake_peer *peer; /* the newest connection, or NULL */
};

void fake_start(struct fake *f, struct event_base *base);
void fake_start_at(struct fake *f, struct event_base *base, const char *address, uint16_t port);
void fake_stop(struct fake *f); /* closes all */

struct fake *fake_of(struct fake_peer *p);
void fake_say(struct fake_peer *p, const char *text);
/* The answers of a healthy Redis to AUTH, SELECT, CLIENT and PING; false for anything else. */
bool fake_greet(struct fake_peer *p, const struct redisReply *command);
bool fake_is(const struct redisReply *command, const char *name);
void fake_deafen(struct fake_peer *p); /* reads no more */
void fake_listen(struct fake_peer *p); /* reads again */
void fake_close(struct fake_peer *p);
void fake_reset(struct fake_peer *p); /* RST */
