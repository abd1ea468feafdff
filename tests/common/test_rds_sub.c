#include "common/clock.h"
#include "tests/lib/fake.h"
#include "tests/lib/probe.h"
#include "tests/lib/proc.h"
#include "tests/lib/redis.h"
#include "tests/lib/test.h"

#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct heard {
    unsigned a;
    unsigned b;
    char last[64];
    size_t last_n;
    struct probe *free_it;
};

static void on_a(void *arg, struct span channel, struct span payload)
{
    struct heard *h = arg;

    CHECK(span_is(channel, "a"));
    h->a++;
    h->last_n = payload.n;
    if (payload.n < sizeof(h->last))
        memcpy(h->last, payload.p, payload.n);
    if (h->free_it != NULL)
        rds_free(h->free_it->link);
}

static void on_b(void *arg, struct span channel, struct span payload)
{
    struct heard *h = arg;

    (void)payload;
    CHECK(span_is(channel, "b"));
    h->b++;
}

static void open_subscriber(struct probe *p, struct event_base *base, const struct url *url,
                            const struct rds_conf *conf, struct heard *h)
{
    memset(h, 0, sizeof(*h));
    probe_open(p, base, url, conf);
    rds_subscribe(p->link, "a", on_a, h);
    rds_subscribe(p->link, "b", on_b, h);
}

static bool has_both(void *arg)
{
    const struct heard *h = arg;

    return h->a == 1 && h->b == 2;
}

static void publish(struct test_redis *r, const char *channel, const char *p, size_t n)
{
    redisReply *reply = redisCommand(r->c, "PUBLISH %s %b", channel, p, n);

    CHECK(reply->integer == 1);
    freeReplyObject(reply);
}

TEST(messages_are_heard_as_soon_as_the_link_is_up_and_after_each_reconnect)
{
    struct event_base *base = event_base_new();
    struct test_redis redis;
    struct heard h;
    struct probe p;

    test_redis_start(&redis, NULL);
    struct url url = {.path = redis.socket};
    open_subscriber(&p, base, &url, NULL, &h);
    for (unsigned i = 0; i < 3; i++) {
        REQUIRE(turn_until(base, 10000, probe_is_up, &p));
        h.a = h.b = 0;
        publish(&redis, "a", "x\0\r\ny", 5);
        publish(&redis, "b", "", 0);
        publish(&redis, "b", "z", 1);
        CHECK(turn_until(base, 10000, has_both, &h));
        CHECK(h.last_n == 5 && memcmp(h.last, "x\0\r\ny", 5) == 0);
        p.downs = 0;
        test_redis_restart(&redis);
        CHECK(turn_until(base, 10000, probe_was_down, &p));
    }
    probe_close(&p);
    test_redis_stop(&redis);
    event_base_free(base);
}

static bool is_noticed_within_two_pulses(void)
{
    struct event_base *base = event_base_new();
    struct rds_conf conf = {.pulse_ms = 500};
    struct test_redis redis;
    struct heard h;
    struct probe p;
    uint64_t begun;
    bool lived;
    bool in_two;

    test_redis_start(&redis, NULL);
    struct url url = {.path = redis.socket};
    open_subscriber(&p, base, &url, &conf, &h);
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    turn_for(base, 1800); /* a healthy one lives through several */
    lived = p.downs == 0 && p.ups == 1;
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    p.downs = 0;
    (void)kill(redis.pid, SIGSTOP);
    begun = clock_mono_ms();
    CHECK(turn_until(base, 10000, probe_was_down, &p));
    in_two = clock_mono_ms() - begun < 1500;
    CHECK(!lived || strcmp(p.why, "the subscriber has heard nothing") == 0);
    (void)kill(redis.pid, SIGCONT);
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    probe_close(&p);
    test_redis_stop(&redis);
    event_base_free(base);
    return lived && in_two;
}

TEST(H3_a_stopped_redis_is_noticed_within_two_pulses)
{
    CHECK(in_time(is_noticed_within_two_pulses));
}

static bool lives_without_ping(void)
{
    struct event_base *base = event_base_new();
    struct rds_conf conf = {.pulse_ms = 300};
    struct test_redis redis;
    struct heard h;
    struct probe p;
    redisReply *reply;
    bool lived;

    test_redis_start(&redis, NULL);
    reply = redisCommand(redis.c, "ACL SETUSER ada on >x &* +subscribe");
    CHECK(reply->type == REDIS_REPLY_STATUS);
    freeReplyObject(reply);
    struct url url = {.path = redis.socket, .user = (char[]){"ada"}, .password = (char[]){"x"}};
    open_subscriber(&p, base, &url, &conf, &h);
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    turn_for(base, 1200);
    lived = p.ups == 1 && p.downs == 0;
    probe_close(&p);
    test_redis_stop(&redis);
    event_base_free(base);
    return lived;
}

TEST(a_user_who_may_not_ping_has_a_pulse_all_the_same)
{
    CHECK(in_time(lives_without_ping));
}

static void confirm(struct fake_peer *p)
{
    fake_say(
        p, "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n");
}

static void say_in_one_piece(struct fake_peer *p, const redisReply *command)
{
    if (fake_greet(p, command))
        return;
    confirm(p);
    fake_say(p, "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$2\r\nhi\r\n*2\r\n$4\r\npong\r\n$0\r\n\r\n");
}

static bool has_a(void *arg)
{
    return ((const struct heard *)arg)->a > 0;
}

TEST(H4_a_message_and_a_pong_in_one_piece_are_one_message)
{
    struct event_base *base = event_base_new();
    struct fake fake;
    struct heard h;
    struct probe p;

    fake_start(&fake, base);
    fake.on_command = say_in_one_piece;
    open_subscriber(&p, base, &fake.url, NULL, &h);
    CHECK(turn_until(base, 10000, has_a, &h));
    turn_for(base, 50);
    CHECK(h.a == 1 && h.b == 0 && h.last_n == 2);
    CHECK(p.ups == 1 && p.downs == 0);
    probe_close(&p);

    open_subscriber(&p, base, &fake.url, NULL, &h); /* freed from inside a message */
    h.free_it = &p;
    CHECK(turn_until(base, 10000, has_a, &h));
    p.link = NULL;
    fake_stop(&fake);
    event_base_free(base);
}

static void say_something_else(struct fake_peer *p, const redisReply *command)
{
    if (fake_greet(p, command))
        return;
    if (fake_of(p)->accepted == 1)
        fake_say(p, "-NOPERM this user has no permissions to access one of the channels\r\n");
    else if (fake_of(p)->accepted == 2)
        fake_say(p, "*3\r\n$3\r\nodd\r\n$1\r\na\r\n:1\r\n");
    else /* one of two */
        fake_say(p, "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n");
}

static bool was_down_thrice(void *arg)
{
    return ((const struct probe *)arg)->downs == 3;
}

TEST(a_subscription_refused_garbled_or_half_confirmed_is_no_link)
{
    struct event_base *base = event_base_new();
    struct rds_conf conf = {.reply_timeout_ms = 1500};
    struct fake fake;
    struct heard h;
    struct probe p;

    fake_start(&fake, base);
    fake.on_command = say_something_else;
    open_subscriber(&p, base, &fake.url, &conf, &h);
    CHECK(turn_until(base, 10000, probe_was_down, &p));
    CHECK(strncmp(p.why, "NOPERM", 6) == 0);
    CHECK(turn_until(base, 10000, was_down_thrice, &p));
    CHECK(strcmp(p.why, "no answer to the greeting") == 0);
    CHECK(p.ups == 0);
    probe_close(&p);
    fake_stop(&fake);
    event_base_free(base);
}
