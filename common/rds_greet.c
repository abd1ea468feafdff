#include "common/rds_link.h"

#include "common/dial.h"
#include "common/mem.h"
#include "common/rds_sentinel.h"

#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BACKOFF_MIN_MS = 50, BACKOFF_MAX_MS = 2000, FAILOVER_MAX_MS = 1000 };

/* Refusals that time or an operator must cure: how long to leave Redis alone, at least. */
static const struct {
    const char *prefix;
    uint64_t wait_ms;
} refusals[] = {
    {"LOADING", 100}, {"BUSY", 100},       {"MASTERDOWN", 500}, {"ERR max number", 1000},
    {"NOAUTH", 2000}, {"WRONGPASS", 2000}, {"NOPERM", 2000},    {"ERR ", 2000},
};

/* Full jitter: anything between at once and a ceiling that doubles, above what a refusal asks. */
uint64_t rds_backoff_ms(const struct rds *r, const char *why)
{
    uint64_t ceiling = (uint64_t)BACKOFF_MIN_MS << (r->failures < 7 ? r->failures : 7);
    uint64_t wait = 0;
    uint32_t draw;

    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]) && wait == 0; i++) {
        if (strncmp(why, refusals[i].prefix, strlen(refusals[i].prefix)) == 0)
            wait = refusals[i].wait_ms;
    }
    if (ceiling > (r->sentinel != NULL ? FAILOVER_MAX_MS : BACKOFF_MAX_MS))
        ceiling = r->sentinel != NULL ? FAILOVER_MAX_MS : BACKOFF_MAX_MS;
    evutil_secure_rng_get_bytes(&draw, sizeof(draw));
    return wait + draw % (ceiling + 1);
}

/* AUTH and SELECT must succeed. */
static void on_must(void *arg, enum err e, const redisReply *reply)
{
    struct rds *r = arg;

    if (e == ERR_OK && reply->type == REDIS_REPLY_ERROR)
        rds_lose(r, reply->str);
}

/* A user who may do everything but this command is welcome. */
static bool is_refused(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "NOPERM", 6) != 0;
}

/* The name is for the operator's CLIENT LIST, but the answer may be about the connection. */
static void on_named(void *arg, enum err e, const redisReply *reply)
{
    struct rds *r = arg;

    if (e == ERR_OK && is_refused(reply))
        rds_lose(r, reply->str);
}

/* What a sentinel named must be a primary by its own account: the sentinel may not know better yet.
 */
static void on_role(void *arg, enum err e, const redisReply *reply)
{
    struct rds *r = arg;

    if (e != ERR_OK)
        return;
    if (is_refused(reply))
        rds_lose(r, reply->str);
    else if (reply->type == REDIS_REPLY_ARRAY && reply->elements > 0 &&
             reply->element[0]->type == REDIS_REPLY_STRING &&
             strcmp(reply->element[0]->str, "master") != 0)
        rds_lose(r, "the sentinel named a server that is not the primary (any more, or yet)");
}

/* The last of the greeting: PING fails while Redis loads its data. */
static void on_greeted(void *arg, enum err e, const redisReply *reply)
{
    struct rds *r = arg;

    if (e != ERR_OK)
        return;
    if (is_refused(reply))
        rds_lose(r, reply->str);
    else if (r->sub.n > 0)
        rds_sub_start(r);
    else
        rds_become_up(r);
}

static void greet(struct rds *r)
{
    const struct url *url = r->conf.url;
    char db[16];

    if (url->password != NULL && url->user != NULL) {
        const struct span auth[] = {SPAN("AUTH"), span_of(url->user), span_of(url->password)};
        rds_await(r, 3, auth, on_must, r);
    } else if (url->password != NULL) {
        const struct span auth[] = {SPAN("AUTH"), span_of(url->password)};
        rds_await(r, 2, auth, on_must, r);
    }
    if (url->db != 0) {
        (void)snprintf(db, sizeof(db), "%u", url->db);
        const struct span select[] = {SPAN("SELECT"), span_of(db)};
        rds_await(r, 2, select, on_must, r);
    }
    const struct span name[] = {SPAN("CLIENT"), SPAN("SETNAME"), span_of(r->name)};
    rds_await(r, 3, name, on_named, r);
    if (r->sentinel != NULL) {
        const struct span role[] = {SPAN("ROLE")};
        rds_await(r, 1, role, on_role, r);
    }
    const struct span ping[] = {SPAN("PING")};
    rds_await(r, 1, ping, on_greeted, r);
}

void rds_on_dialled(void *arg, struct bufferevent *bev, const char *why)
{
    struct rds *r = arg;

    rds_enter(r);
    if (bev == NULL) {
        rds_lose(r, why);
        rds_leave(r);
        return;
    }
    rds_open(r, bev);
    sm_move(&r->sm, RDS_GREETING);
    greet(r);
    rds_leave(r);
}

void rds_on_again(int fd, short what, void *arg)
{
    struct rds *r = arg;

    (void)fd;
    (void)what;
    rds_enter(r);
    sm_move(&r->sm, RDS_DIALING);
    if (r->sentinel != NULL)
        rds_sentinel_ask(r->sentinel);
    else
        dial_start(r->dial);
    rds_leave(r);
}

void rds_again(struct rds *r, const char *why)
{
    rds_enter(r);
    if (r->sm.state != RDS_DOWN)
        rds_lose(r, why);
    rds_leave(r);
}

void rds_on_moved(void *arg)
{
    rds_again(arg, "the sentinels have made another server the primary");
}

void rds_on_found(void *arg, const char *host, uint16_t port, const char *why)
{
    struct rds *r = arg;

    rds_enter(r);
    if (host == NULL) {
        rds_lose(r, why);
    } else {
        free(r->found);
        r->found = mem_strdup(host);
        r->target.host = r->found;
        r->target.port = port;
        dial_start(r->dial);
    }
    rds_leave(r);
}
