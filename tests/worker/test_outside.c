#include "worker/outside.h"

#include "tests/lib/hand.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>

static struct bench b;
static struct hand h;
static struct outside *o;

static void on_keep(void *arg, struct slot *s, struct span handle)
{
    outside_keep(arg, s, handle);
}

static bool is_one(void *arg)
{
    return *(unsigned *)arg == 1;
}

/* A task in hand, claimed for real. */
static const char *begin(void)
{
    const char *id;

    bench_start(&b, 0);
    hand_open(&h, 1, "");
    o = outside_new(b.base, b.store, h.slots);
    h.on_keep = on_keep;
    h.arg = o;
    id = bench_call(&b, "run", "{}");
    CHECK(hand_claim(&h, &b, 0, 1) == 1);
    return id;
}

static void finish(void)
{
    store_free(b.store);
    b.store = NULL;
    hand_close(&h);
    outside_free(o);
    bench_stop(&b);
}

static void set(const char *option, const char *value)
{
    redisReply *r = redisCommand(b.redis.c, "CONFIG SET %s %s", option, value);

    CHECK(r != NULL && r->type == REDIS_REPLY_STATUS);
    freeReplyObject(r);
}

TEST(a_handle_is_kept_before_the_job_goes_on)
{
    const char *id = begin();

    slots_sink.keep(h.jobs[0], SPAN("\"j-1\""));
    CHECK(h.kept == 0);
    CHECK(turn_until(b.base, 10000, is_one, &h.kept));
    CHECK(strcmp(bench_field(&b, id, "hd"), "\"j-1\"") == 0);
    finish();
}

TEST(B7_a_handle_that_redis_refuses_for_a_while_is_sent_again_though_the_link_stays_up)
{
    const char *id = begin();

    set("min-replicas-to-write", "1");
    slots_sink.keep(h.jobs[0], SPAN("\"j-1\""));
    turn_for(b.base, 200);
    CHECK(h.kept == 0 && strcmp(bench_field(&b, id, "hd"), "") == 0);
    set("min-replicas-to-write", "0");
    CHECK(turn_until(b.base, 10000, is_one, &h.kept));
    CHECK(strcmp(bench_field(&b, id, "hd"), "\"j-1\"") == 0);
    finish();
}
