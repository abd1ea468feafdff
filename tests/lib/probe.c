#include "tests/lib/probe.h"

#include "tests/lib/test.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

static void on_state(void *arg, enum rds_state state, const char *why)
{
    struct probe *p = arg;

    CHECK(!p->inside);
    CHECK(state == RDS_UP || state == RDS_DOWN);
    if (state == RDS_UP) {
        p->ups++;
        return;
    }
    CHECK(rds_in_flight(p->link) == 0);
    p->downs++;
    (void)snprintf(p->why, sizeof(p->why), "%s", why);
}

static void on_failed(struct probe *p)
{
    p->unavailable++;
    if (p->resend > 0) {
        p->resend--;
        probe_say(p, "PING");
    }
    if (p->free_on_failure) {
        p->free_on_failure = false;
        rds_free(p->link);
        p->link = NULL;
    }
}

static void on_answer(void *arg, enum err e, const redisReply *reply)
{
    struct probe *p = arg;

    CHECK(!p->inside);
    CHECK((e == ERR_OK) == (reply != NULL));
    if (e != ERR_OK) {
        CHECK(e == ERR_UNAVAILABLE);
        on_failed(p);
        return;
    }
    p->ok++;
    p->errors += reply->type == REDIS_REPLY_ERROR;
    (void)snprintf(p->last, sizeof(p->last), "%s", reply->str != NULL ? reply->str : "");
}

void probe_open(struct probe *p, struct event_base *base, const struct url *url,
                const struct rds_conf *more)
{
    struct rds_conf conf = more != NULL ? *more : (struct rds_conf){0};

    memset(p, 0, sizeof(*p));
    p->base = base;
    conf.url = url;
    conf.name = "test";
    p->link = rds_new(base, &conf, on_state, p);
    CHECK(p->ups + p->downs == 0);
    CHECK(rds_state(p->link) == RDS_DOWN);
}

void probe_close(struct probe *p)
{
    rds_free(p->link);
    p->link = NULL;
    CHECK(probe_is_answered(p));
}

void probe_send(struct probe *p, size_t n, const struct span *words)
{
    bool nested = p->inside;

    p->sent++;
    p->inside = true;
    rds_send(p->link, n, words, on_answer, p);
    p->inside = nested;
}

void probe_say(struct probe *p, const char *word)
{
    struct span words[] = {span_of(word)};

    probe_send(p, 1, words);
}

bool probe_is_up(void *arg)
{
    const struct probe *p = arg;

    return rds_state(p->link) == RDS_UP;
}

bool probe_was_down(void *arg)
{
    const struct probe *p = arg;

    return p->downs > 0;
}

bool probe_is_answered(void *arg)
{
    const struct probe *p = arg;

    CHECK(p->ok + p->unavailable <= p->sent);
    return p->ok + p->unavailable == p->sent;
}
