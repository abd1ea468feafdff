#include "common/clock.h"
#include "tests/lib/fake.h"
#include "tests/lib/probe.h"
#include "tests/lib/proc.h"
#include "tests/lib/redis.h"
#include "tests/lib/test.h"

#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char loopback[] = "127.0.0.1";
static char secret[] = "s3cret";
static char wrong[] = "wr0ng";
static char ada[] = "ada";

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static void configure(struct test_redis *redis, const char *command)
{
    redisReply *reply = redisCommand(redis->c, command);

    CHECK(reply != NULL && reply->type == REDIS_REPLY_STATUS);
    freeReplyObject(reply);
}

TEST(H6_a_link_begun_before_redis_comes_up_with_it)
{
    struct event_base *base = event_base_new();
    struct test_redis redis;
    struct probe p;

    test_redis_start_tcp(&redis, NULL);
    test_redis_kill(&redis);
    struct url url = {.host = loopback, .port = redis.port};
    probe_open(&p, base, &url, NULL);
    REQUIRE(turn_until(base, 10000, probe_was_down, &p));
    CHECK(strstr(p.why, "refused") != NULL);
    test_redis_restart(&redis);
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    probe_say(&p, "PING");
    CHECK(turn_until(base, 10000, probe_is_answered, &p));
    CHECK(p.ok == 1);
    probe_close(&p);
    test_redis_stop(&redis);
    event_base_free(base);
}

TEST(a_link_that_never_came_up_is_freed_at_any_moment)
{
    struct event_base *base = event_base_new();
    struct url url = {.host = loopback, .port = free_port()};
    struct probe p;

    probe_open(&p, base, &url, NULL);
    probe_close(&p);
    probe_open(&p, base, &url, NULL);
    REQUIRE(turn_until(base, 10000, probe_was_down, &p));
    probe_close(&p);
    event_base_free(base);
}

TEST(the_greeting_logs_in_selects_and_names)
{
    struct event_base *base = event_base_new();
    struct test_redis redis;
    struct probe p;

    test_redis_start_tcp(&redis, NULL);
    configure(&redis, "ACL SETUSER ada on >s3cret ~* +@all");
    configure(&redis, "CONFIG SET requirepass other");
    struct url url = {
        .host = loopback, .port = redis.port, .user = ada, .password = secret, .db = 3};
    probe_open(&p, base, &url, NULL);
    REQUIRE(turn_until(base, 10000, probe_is_up, &p));
    probe_send(&p, 2, (struct span[]){SPAN("ACL"), SPAN("WHOAMI")});
    CHECK(turn_until(base, 10000, probe_is_answered, &p) && strcmp(p.last, "ada") == 0);
    probe_send(&p, 2, (struct span[]){SPAN("CLIENT"), SPAN("INFO")});
    CHECK(turn_until(base, 10000, probe_is_answered, &p) && strstr(p.last, " name=test ") != NULL);
    probe_send(&p, 3, (struct span[]){SPAN("SET"), SPAN("k"), SPAN("v")});
    probe_send(&p, 2, (struct span[]){SPAN("SELECT"), SPAN("3")});
    probe_send(&p, 2, (struct span[]){SPAN("GET"), SPAN("k")});
    CHECK(turn_until(base, 10000, probe_is_answered, &p) && strcmp(p.last, "v") == 0);
    probe_close(&p);
    test_redis_stop(&redis);
    event_base_free(base);
}

/* What a wrong url is told, and that it does not try again soon. */
static const struct {
    const char *what;
    char *user;
    char *password;
    unsigned db;
    const char *why;
} refused[] = {
    {"no password", NULL, NULL, 0, "NOAUTH"},
    {"wrong password", NULL, wrong, 0, "WRONGPASS"},
    {"wrong user", ada, wrong, 0, "WRONGPASS"},
    {"no such database", NULL, secret, 4000, "ERR DB index is out of range"},
};

TEST(a_refused_greeting_says_why_and_leaves_redis_alone_for_longer)
{
    struct event_base *base = event_base_new();
    struct test_redis redis;
    struct probe p;

    test_redis_start_tcp(&redis, NULL);
    configure(&redis, "CONFIG SET requirepass s3cret");
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct url url = {.host = loopback,
                          .port = redis.port,
                          .user = refused[i].user,
                          .password = refused[i].password,
                          .db = refused[i].db};

        uint64_t begun = clock_mono_ms();

        probe_open(&p, base, &url, NULL);
        CHECK(turn_until(base, 10000, probe_was_down, &p));
        CHECK(begins(p.why, refused[i].why));
        turn_for(base, 400);
        CHECK(p.downs <= 1 + (clock_mono_ms() - begun) / 2000 && p.ups == 0);
        probe_close(&p);
    }
    test_redis_stop(&redis);
    event_base_free(base);
}

TEST(a_user_who_may_not_ping_or_set_a_name_is_welcome)
{
    struct event_base *base = event_base_new();
    struct test_redis redis;
    struct probe p;

    test_redis_start_tcp(&redis, NULL);
    configure(&redis, "ACL SETUSER ada on >s3cret ~* +get");
    struct url url = {.host = loopback, .port = redis.port, .user = ada, .password = secret};
    probe_open(&p, base, &url, NULL);
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    CHECK(p.downs == 0);
    probe_close(&p);
    test_redis_stop(&redis);
    event_base_free(base);
}

static long long count_rejected(struct test_redis *redis)
{
    redisReply *reply = redisCommand(redis->c, "INFO stats");
    const char *at = strstr(reply->str, "rejected_connections:");
    long long n = at != NULL ? strtoll(at + strlen("rejected_connections:"), NULL, 10) : -1;

    freeReplyObject(reply);
    return n;
}

TEST(H23_a_full_redis_is_tried_seldom_and_used_once_there_is_room)
{
    struct event_base *base = event_base_new();
    struct test_redis redis;
    struct probe p;
    long long rejected;

    test_redis_start_tcp(&redis, NULL);
    configure(&redis, "CONFIG SET maxclients 1");
    struct url url = {.host = loopback, .port = redis.port};
    uint64_t begun = clock_mono_ms();

    probe_open(&p, base, &url, NULL);
    CHECK(turn_until(base, 10000, probe_was_down, &p));
    CHECK(begins(p.why, "ERR max number of clients") || strstr(p.why, "reset") != NULL);
    turn_for(base, 900);
    rejected = count_rejected(&redis);
    CHECK(rejected >= 1 && rejected <= 3 + (long long)(clock_mono_ms() - begun) / 1000);
    configure(&redis, "CONFIG SET maxclients 100");
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    probe_close(&p);
    test_redis_stop(&redis);
    event_base_free(base);
}

static void still_loading(struct fake_peer *p, const redisReply *command)
{
    if (fake_is(command, "PING") && fake_of(p)->accepted < 4)
        fake_say(p, "-LOADING Redis is loading the dataset in memory\r\n");
    else
        (void)fake_greet(p, command);
}

TEST(H23_a_redis_that_loads_its_data_is_not_up_yet)
{
    struct event_base *base = event_base_new();
    struct fake fake;
    struct probe p;

    fake_start(&fake, base);
    fake.on_command = still_loading;
    probe_open(&p, base, &fake.url, NULL);
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    CHECK(p.downs == 3 && p.ups == 1 && fake.accepted == 4);
    CHECK(begins(p.why, "LOADING"));
    probe_close(&p);
    fake_stop(&fake);
    event_base_free(base);
}

static void say_nothing(struct fake_peer *p, const redisReply *command)
{
    (void)p;
    (void)command;
}

static bool fails_within_the_deadline(void)
{
    struct event_base *base = event_base_new();
    struct rds_conf conf = {.reply_timeout_ms = 150};
    struct fake fake;
    struct probe p;
    uint64_t begun = clock_mono_ms();
    uint64_t took;

    fake_start(&fake, base);
    fake.on_command = say_nothing;
    probe_open(&p, base, &fake.url, &conf);
    probe_say(&p, "PING");
    CHECK(turn_until(base, 10000, probe_was_down, &p));
    took = clock_mono_ms() - begun;
    CHECK(strcmp(p.why, "no answer to the greeting") == 0);
    probe_close(&p);
    fake_stop(&fake);
    event_base_free(base);
    return took >= 145 && took < 1900;
}

TEST(a_server_silent_from_the_start_fails_within_the_deadline)
{
    CHECK(in_time(fails_within_the_deadline));
}

static void note_command(struct fake_peer *p, const redisReply *command)
{
    char *seen = fake_of(p)->arg;

    (void)strncat(seen, command->element[0]->str, 200 - strlen(seen));
    (void)strncat(seen, " ", 200 - strlen(seen));
    (void)fake_greet(p, command);
}

TEST(H13_no_hello_is_said)
{
    struct event_base *base = event_base_new();
    char seen[256] = "";
    struct fake fake;
    struct probe p;

    fake_start(&fake, base);
    fake.on_command = note_command;
    fake.arg = seen;
    fake.url.user = ada;
    fake.url.password = secret;
    fake.url.db = 1;
    probe_open(&p, base, &fake.url, NULL);
    REQUIRE(turn_until(base, 10000, probe_is_up, &p));
    CHECK(strcmp(seen, "AUTH SELECT CLIENT PING ") == 0);
    CHECK(fake.reads == 1);
    probe_close(&p);
    fake_stop(&fake);
    event_base_free(base);
}

static void close_it(struct fake_peer *p)
{
    fake_close(p);
}

static bool was_accepted_twice(void *arg)
{
    return ((const struct fake *)arg)->accepted >= 2;
}

TEST(H24_a_server_that_keeps_hanging_up_is_not_stormed)
{
    struct event_base *base = event_base_new();
    struct fake fake;
    struct probe p;

    fake_start(&fake, base);
    fake.on_accept = close_it;
    probe_open(&p, base, &fake.url, NULL);
    turn_for(base, 2000);
    CHECK(turn_until(base, 10000, was_accepted_twice, &fake));
    CHECK(fake.accepted <= 25);
    CHECK(p.downs == fake.accepted || p.downs + 1 == fake.accepted);
    probe_close(&p);
    fake_stop(&fake);
    event_base_free(base);
}

static void hang_up(struct fake_peer *p, const redisReply *command)
{
    if (!fake_greet(p, command))
        fake_close(p);
}

static void say_quit(void *arg)
{
    struct probe *p = arg;

    if (probe_is_up(p) && probe_is_answered(p))
        probe_say(p, "GET");
}

TEST(H24_nor_one_that_hangs_up_whenever_the_link_is_up)
{
    struct event_base *base = event_base_new();
    struct fake fake;
    struct probe p;
    uint64_t begun = clock_mono_ms();

    fake_start(&fake, base);
    fake.on_command = hang_up;
    probe_open(&p, base, &fake.url, NULL);
    while (clock_mono_ms() - begun < (p.ups < 2 ? 10000 : 2000)) {
        say_quit(&p);
        turn_for(base, 5);
    }
    CHECK(p.ups >= 2 && fake.accepted <= 25);
    probe_close(&p);
    fake_stop(&fake);
    event_base_free(base);
}
