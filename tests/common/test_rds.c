#include "common/rds.h"

#include "common/mem.h"
#include "tests/lib/certs.h"
#include "tests/lib/fake.h"
#include "tests/lib/probe.h"
#include "tests/lib/proc.h"
#include "tests/lib/redis.h"
#include "tests/lib/test.h"

#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char localhost[] = "localhost";

static unsigned same; /* echoes that were */

struct echo {
    struct span want;
};

static void on_echo(void *arg, enum err e, const redisReply *reply)
{
    struct echo *x = arg;

    if (e == ERR_OK && reply->len == x->want.n &&
        (x->want.n == 0 || memcmp(reply->str, x->want.p, x->want.n) == 0))
        same++;
    free(x);
}

static void send_echo(struct probe *p, struct span text)
{
    struct echo *x = mem_alloc(sizeof(*x));
    struct span words[] = {SPAN("ECHO"), text};

    *x = (struct echo){text};
    rds_send(p->link, 2, words, on_echo, x);
}

static bool is_idle(void *arg)
{
    const struct probe *p = arg;

    return rds_in_flight(p->link) == 0;
}

static const struct rds_conf patient = {.dial_timeout_ms = 30000,
                                        .reply_timeout_ms = 30000}; /* for slow tools */

/* Bytes of every kind, small and large, must come back as they were. */
static void check_echoes(struct event_base *base, struct probe *p)
{
    static const char odd[] = "a\0b%s%n\r\n$5\r\n*1\r\n\xff\xfe";
    enum { BIG = 3000000 };
    char *big = mem_alloc(BIG);

    same = 0;
    for (size_t i = 0; i < BIG; i++)
        big[i] = (char)(i * 31 + i / 256);
    send_echo(p, (struct span){odd, sizeof(odd) - 1});
    send_echo(p, (struct span){big, BIG});
    send_echo(p, (struct span){big, 10000});
    send_echo(p, (struct span){NULL, 0});
    for (size_t n = 4000; n < 4200; n++)
        send_echo(p, (struct span){big + n, n});
    CHECK(turn_until(base, 30000, is_idle, p));
    CHECK(same == 204);
    free(big);
}

TEST(a_command_is_answered_over_a_unix_socket)
{
    struct event_base *base = event_base_new();
    struct test_redis redis;
    struct probe p;

    test_redis_start(&redis, NULL);
    struct url url = {.path = redis.socket};
    probe_open(&p, base, &url, &patient);
    REQUIRE(turn_until(base, 10000, probe_is_up, &p));
    probe_say(&p, "PING");
    CHECK(rds_in_flight(p.link) == 1);
    CHECK(turn_until(base, 10000, probe_is_answered, &p));
    CHECK(strcmp(p.last, "PONG") == 0);
    CHECK(rds_in_flight(p.link) == 0);
    CHECK(rds_lag_us(p.link) > 0);
    probe_say(&p, "NOSUCH");
    rds_send(p.link, 1, (struct span[]){SPAN("PING")}, NULL, NULL);
    CHECK(turn_until(base, 10000, is_idle, &p));
    CHECK(p.errors == 1 && p.ok == 2);
    CHECK(p.ups == 1 && p.downs == 0);
    probe_close(&p);
    test_redis_stop(&redis);
    event_base_free(base);
}

TEST(H17_H21_H22_bytes_of_any_kind_and_size_come_back_as_they_were)
{
    struct event_base *base = event_base_new();
    struct test_redis redis;
    struct probe p;

    test_redis_start_tcp(&redis, NULL);
    struct url url = {.host = localhost, .port = redis.port};
    probe_open(&p, base, &url, &patient);
    REQUIRE(turn_until(base, 10000, probe_is_up, &p));
    check_echoes(base, &p);
    probe_close(&p);
    test_redis_stop(&redis);
    event_base_free(base);
}

TEST(H14_tls_carries_the_same_bytes)
{
    struct event_base *base = event_base_new();
    struct tls_redis t;
    struct probe p;

    tls_redis_start(&t, "DNS:localhost");
    struct url url = {.tls = true, .host = localhost, .port = t.port, .ca_file = t.certs.ca};
    probe_open(&p, base, &url, &patient);
    REQUIRE(turn_until(base, 30000, probe_is_up, &p));
    check_echoes(base, &p);
    test_redis_kill(&t.redis);
    CHECK(turn_until(base, 10000, probe_was_down, &p));
    test_redis_restart(&t.redis);
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    probe_close(&p);
    tls_redis_stop(&t);
    event_base_free(base);
}

TEST(H9_H10_each_of_1000_commands_in_flight_ends_once_when_redis_is_killed)
{
    struct event_base *base = event_base_new();
    struct test_redis redis;
    struct probe p;

    test_redis_start(&redis, NULL);
    struct url url = {.path = redis.socket};
    probe_open(&p, base, &url, NULL);
    REQUIRE(turn_until(base, 10000, probe_is_up, &p));
    (void)kill(redis.pid, SIGSTOP);
    for (int i = 0; i < 1000; i++)
        probe_say(&p, "PING");
    turn_for(base, 20);
    p.resend = 500; /* H10: whoever tries again from inside is told too, later */
    test_redis_kill(&redis);
    CHECK(turn_until(base, 10000, probe_was_down, &p));
    CHECK(turn_until(base, 10000, probe_is_answered, &p));
    CHECK(p.sent == 1500 && p.unavailable == 1500);
    test_redis_restart(&redis);
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    probe_say(&p, "PING");
    CHECK(turn_until(base, 10000, probe_is_answered, &p));
    CHECK(p.ok == 1 && p.ups == 2);
    probe_close(&p);
    test_redis_stop(&redis);
    event_base_free(base);
}

TEST(a_command_while_the_link_is_down_fails_on_the_next_turn)
{
    struct event_base *base = event_base_new();
    struct url url = {.host = localhost, .port = free_port()};
    struct probe p;

    probe_open(&p, base, &url, NULL);
    for (int i = 0; i < 100; i++)
        probe_say(&p, "PING");
    CHECK(p.unavailable == 0);
    (void)event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    CHECK(turn_until(base, 10000, probe_is_answered, &p));
    CHECK(p.unavailable == 100);
    probe_close(&p);
    event_base_free(base);
}

TEST(H12_the_link_may_be_freed_from_inside_a_failure_and_ends_the_rest_first)
{
    struct event_base *base = event_base_new();
    struct fake fake;
    struct probe p;

    fake_start(&fake, base);
    probe_open(&p, base, &fake.url, NULL);
    REQUIRE(turn_until(base, 10000, probe_is_up, &p));
    fake_deafen(fake.peer);
    for (int i = 0; i < 100; i++)
        probe_say(&p, "GET");
    p.free_on_failure = true;
    fake_close(fake.peer);
    CHECK(turn_until(base, 10000, probe_is_answered, &p));
    CHECK(p.link == NULL && p.unavailable == 100 && p.downs == 0);

    probe_open(&p, base, &fake.url, NULL); /* the same while failures wait for their turn */
    for (int i = 0; i < 10; i++)
        probe_say(&p, "GET");
    p.free_on_failure = true;
    CHECK(turn_until(base, 10000, probe_is_answered, &p));
    CHECK(p.link == NULL && p.unavailable == 10);

    probe_open(&p, base, &fake.url, NULL); /* and from outside */
    REQUIRE(turn_until(base, 10000, probe_is_up, &p));
    fake_deafen(fake.peer);
    for (int i = 0; i < 10; i++)
        probe_say(&p, "GET");
    probe_close(&p);
    CHECK(p.unavailable == 10);
    fake_stop(&fake);
    event_base_free(base);
}

TEST(the_commands_of_one_turn_leave_in_one_piece)
{
    struct event_base *base = event_base_new();
    struct fake fake;
    struct probe p;
    unsigned before;

    fake_start(&fake, base);
    probe_open(&p, base, &fake.url, NULL);
    REQUIRE(turn_until(base, 10000, probe_is_up, &p));
    before = fake.reads;
    for (int i = 0; i < 100; i++)
        probe_say(&p, "GET");
    CHECK(turn_until(base, 10000, probe_is_answered, &p));
    CHECK(p.ok == 100 && fake.commands == 100);
    CHECK(fake.reads == before + 1);
    probe_close(&p);
    fake_stop(&fake);
    event_base_free(base);
}

static unsigned order;

static void on_ordered(void *arg, enum err e, const redisReply *reply)
{
    CHECK(e == ERR_OK && reply->type == REDIS_REPLY_INTEGER);
    CHECK(reply->integer == (long long)order && *(unsigned *)arg == order);
    order++;
}

TEST(answers_come_in_order_to_whoever_asked)
{
    enum { COUNT = 20000 };
    struct event_base *base = event_base_new();
    struct test_redis redis;
    struct probe p;
    unsigned *numbers = mem_zalloc(COUNT * sizeof(*numbers));
    struct span words[] = {SPAN("INCR"), SPAN("n")};

    test_redis_start(&redis, NULL);
    struct url url = {.path = redis.socket};
    probe_open(&p, base, &url, &patient);
    REQUIRE(turn_until(base, 10000, probe_is_up, &p));
    order = 1;
    for (unsigned i = 0; i < COUNT; i++) {
        numbers[i] = i + 1;
        rds_send(p.link, 2, words, on_ordered, &numbers[i]);
        if (i % 700 == 0)
            (void)event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    }
    CHECK(turn_until(base, 30000, is_idle, &p));
    CHECK(order == COUNT + 1);
    probe_close(&p);
    test_redis_stop(&redis);
    event_base_free(base);
    free(numbers);
}
