/* A link whose peer stops, stalls, resets or talks nonsense. */
#include "common/clock.h"
#include "common/mem.h"
#include "tests/lib/fake.h"
#include "tests/lib/probe.h"
#include "tests/lib/proc.h"
#include "tests/lib/redis.h"
#include "tests/lib/test.h"

#include <event2/event.h>
#include <event2/listener.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static bool costs_the_deadline(void)
{
    struct event_base *base = event_base_new();
    struct test_redis redis;
    struct probe p;
    uint64_t begun;
    uint64_t took;

    test_redis_start(&redis, NULL);
    struct url url = {.path = redis.socket};
    probe_open(&p, base, &url, NULL);
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    p.downs = 0;
    (void)kill(redis.pid, SIGSTOP);
    begun = clock_mono_ms();
    probe_say(&p, "PING");
    CHECK(turn_until(base, 10000, probe_is_answered, &p));
    took = clock_mono_ms() - begun;
    CHECK(p.unavailable == 1);
    CHECK(strcmp(p.why, "no answer in time") == 0);
    (void)kill(redis.pid, SIGCONT);
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    probe_close(&p);
    test_redis_stop(&redis);
    event_base_free(base);
    return took >= 1990 && took < 5000;
}

TEST(H5_a_stopped_redis_costs_callers_the_deadline_and_no_more)
{
    CHECK(in_time(costs_the_deadline));
}

static void answer_late(struct fake_peer *p, const redisReply *command)
{
    if (!fake_greet(p, command) && !fake_is(command, "LOSE"))
        fake_say(p, "+OK\r\n");
}

/* False when the machine stood still for so long that even what is answered came too late. */
static bool oldest_counts(void)
{
    struct event_base *base = event_base_new();
    struct rds_conf conf = {.reply_timeout_ms = 200};
    struct fake fake;
    struct probe p;
    uint64_t begun;
    uint64_t took;
    bool lived;

    fake_start(&fake, base);
    fake.on_command = answer_late;
    probe_open(&p, base, &fake.url, &conf);
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    probe_say(&p, "GET");
    CHECK(turn_until(base, 10000, probe_is_answered, &p));
    lived = p.ok == 1 && p.downs == 0;
    turn_for(base, 150); /* the timer runs already: it must not be taken for the next command's */
    begun = clock_mono_ms();
    probe_say(&p, "LOSE");
    CHECK(turn_until(base, 10000, probe_was_down, &p));
    took = clock_mono_ms() - begun;
    CHECK(!lived || (p.ok == 1 && p.unavailable == 1));
    probe_close(&p);
    fake_stop(&fake);
    event_base_free(base);
    return lived && took >= 195 && took < 1900;
}

TEST(H5_the_oldest_command_counts_however_many_came_after_it)
{
    CHECK(in_time(oldest_counts));
}

/* All of it takes longer than the deadline, and each piece far less. */
enum { SLOW_DEADLINE_MS = 3000, LARGE = 1000000, PIECES = 8, PIECE_MS = 450 };

static void begin_large(struct fake_peer *p, const redisReply *command)
{
    if (!fake_greet(p, command))
        fake_say(p, "$1000000\r\n");
}

TEST(B21_a_large_answer_may_take_longer_than_the_deadline_while_it_comes)
{
    static char piece[LARGE / PIECES + 1];
    struct event_base *base = event_base_new();
    struct rds_conf conf = {.reply_timeout_ms = SLOW_DEADLINE_MS};
    struct fake fake;
    struct probe p;

    memset(piece, 'x', sizeof(piece) - 1);
    fake_start(&fake, base);
    fake.on_command = begin_large;
    probe_open(&p, base, &fake.url, &conf);
    REQUIRE(turn_until(base, 10000, probe_is_up, &p));
    probe_say(&p, "GET");
    for (int i = 0; i < PIECES; i++) {
        turn_for(base, PIECE_MS);
        REQUIRE(p.downs == 0);
        fake_say(fake.peer, piece);
    }
    fake_say(fake.peer, "\r\n");
    CHECK(turn_until(base, 10000, probe_is_answered, &p));
    CHECK(p.ok == 1 && p.unavailable == 0);
    probe_say(&p, "GET"); /* and one that stops in the middle does not */
    turn_for(base, PIECE_MS);
    REQUIRE(p.downs == 0);
    fake_say(fake.peer, piece);
    CHECK(turn_until(base, 10000, probe_was_down, &p));
    CHECK(strcmp(p.why, "no answer in time") == 0);
    probe_close(&p);
    fake_stop(&fake);
    event_base_free(base);
}

static void take_large(struct fake_peer *p, const redisReply *command)
{
    if (!fake_greet(p, command) && command->elements == 2)
        fake_say(p, "+OK\r\n");
}

enum { SLOW_WORD = 12 << 20, SLOW_PIECE = 512 << 10, SLOW_MS = 250 };

/* A piece at a time, until all has come. */
static void read_slowly(struct event_base *base, struct fake *f, struct probe *p)
{
    while (p->downs == 0 && !probe_is_answered(p)) {
        size_t before = f->bytes;

        fake_deafen(f->peer);
        turn_for(base, SLOW_MS);
        if (p->downs == 0)
            fake_listen(f->peer);
        while (p->downs == 0 && !probe_is_answered(p) && f->bytes - before < SLOW_PIECE)
            turn_for(base, 1);
    }
}

TEST(B21_a_large_command_may_take_longer_than_the_deadline_while_it_leaves)
{
    static const int room = 64 << 10;
    struct event_base *base = event_base_new();
    struct rds_conf conf = {.reply_timeout_ms = SLOW_DEADLINE_MS};
    struct fake fake;
    struct probe p;
    char *big = mem_zalloc(SLOW_WORD);
    struct span words[] = {SPAN("SET"), {big, SLOW_WORD}};
    uint64_t begun;

    fake_start(&fake, base);
    fake.on_command = take_large;
    REQUIRE(setsockopt(evconnlistener_get_fd(fake.listener), SOL_SOCKET, SO_RCVBUF, &room,
                       sizeof(room)) == 0);
    probe_open(&p, base, &fake.url, &conf);
    REQUIRE(turn_until(base, 10000, probe_is_up, &p));
    begun = clock_mono_ms();
    probe_send(&p, 2, words);
    read_slowly(base, &fake, &p);
    CHECK(p.ok == 1 && p.downs == 0);
    CHECK(clock_mono_ms() - begun > SLOW_DEADLINE_MS);
    fake_deafen(fake.peer); /* and one that stops in the middle does not */
    probe_send(&p, 2, words);
    CHECK(turn_until(base, 10000, probe_was_down, &p));
    CHECK(strcmp(p.why, "no answer in time") == 0);
    probe_close(&p);
    fake_stop(&fake);
    event_base_free(base);
    free(big);
}

static void say_twice(struct fake_peer *p, const redisReply *command)
{
    if (!fake_greet(p, command))
        fake_say(p, "+OK\r\n+x\r\n");
}

TEST(H2_an_answer_nobody_asked_for_closes_the_link)
{
    struct event_base *base = event_base_new();
    struct fake fake;
    struct probe p;

    fake_start(&fake, base);
    fake.on_command = say_twice;
    probe_open(&p, base, &fake.url, NULL);
    REQUIRE(turn_until(base, 10000, probe_is_up, &p));
    probe_say(&p, "GET");
    CHECK(turn_until(base, 10000, probe_was_down, &p));
    CHECK(p.ok == 1 && strcmp(p.why, "an answer nobody asked for") == 0);
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    probe_close(&p);
    fake_stop(&fake);
    event_base_free(base);
}

static void say_junk(struct fake_peer *p, const redisReply *command)
{
    if (!fake_greet(p, command))
        fake_say(p, fake_of(p)->arg);
}

TEST(H18_what_is_no_answer_closes_the_link)
{
    static const char *junk[] = {
        "HTTP/1.1 400 Bad Request\r\n\r\n",
#if HIREDIS_MAJOR < 1 /* later ones read any depth */
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
#endif
        "$-7\r\n",
    };
    struct event_base *base = event_base_new();
    struct fake fake;
    struct probe p;

    fake_start(&fake, base);
    fake.on_command = say_junk;
    for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++) {
        char text[128];

        (void)snprintf(text, sizeof(text), "%s", junk[i]);
        fake.arg = text;
        probe_open(&p, base, &fake.url, NULL);
        REQUIRE(turn_until(base, 10000, probe_is_up, &p));
        probe_say(&p, "GET");
        CHECK(turn_until(base, 10000, probe_was_down, &p));
        CHECK(p.unavailable == 1 && p.why[0] != '\0');
        probe_close(&p);
    }
    fake_stop(&fake);
    event_base_free(base);
}

TEST(H19_unsent_bytes_are_bounded_and_what_comes_above_fails_fast)
{
    enum { WORD = 100000, CAP = 1000000 };
    struct event_base *base = event_base_new();
    struct rds_conf conf = {.queued_max = CAP, .reply_timeout_ms = 60000};
    struct fake fake;
    struct probe p;
    char *big = mem_zalloc(WORD);
    struct span words[] = {SPAN("SET"), {big, WORD}};

    fake_start(&fake, base);
    probe_open(&p, base, &fake.url, &conf);
    REQUIRE(turn_until(base, 10000, probe_is_up, &p));
    fake_deafen(fake.peer);
    for (int i = 0; i < 400; i++) {
        probe_send(&p, 2, words);
        turn_for(base, 1); /* what fits goes into the sockets' own buffers */
    }
    turn_for(base, 20);
    CHECK(p.unavailable > 0 && p.unavailable + rds_in_flight(p.link) == 400);
    CHECK(p.downs == 0);
    fake_deafen(fake.peer);
    for (int i = 0; i < 400; i++)
        probe_send(&p, 2, words);
    CHECK(turn_until(base, 1000, probe_is_answered, &p) == false);
    CHECK(p.unavailable >= 400);
    probe_close(&p);
    CHECK(p.unavailable == 800);
    fake_stop(&fake);
    event_base_free(base);
    free(big);
}

TEST(H20_a_peer_that_resets_while_we_write_costs_the_link_only)
{
    enum { WORD = 4000000 };
    struct event_base *base = event_base_new();
    struct fake fake;
    struct probe p;
    char *big = mem_zalloc(WORD);
    struct span words[] = {SPAN("SET"), {big, WORD}};

    fake_start(&fake, base);
    probe_open(&p, base, &fake.url, NULL);
    REQUIRE(turn_until(base, 10000, probe_is_up, &p));
    fake_deafen(fake.peer);
    probe_send(&p, 2, words);
    turn_for(base, 10);
    fake_reset(fake.peer);
    CHECK(turn_until(base, 10000, probe_was_down, &p));
    CHECK(p.unavailable == 1);
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    probe_close(&p);
    fake_stop(&fake);
    event_base_free(base);
    free(big);
}
