#include "common/rds_sentinel.h"

#include "tests/lib/fake.h"
#include "tests/lib/probe.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

static char loopback[] = "127.0.0.1";
static char name[] = "prime";
static char password[] = "s3cret";

/* What a sentinel says where the primary is: a port, 0 for not known, or nothing at all. */
struct says {
    int port;
    bool is_silent;
    unsigned asked;
};

static void answer_as_sentinel(struct fake_peer *p, const redisReply *command)
{
    struct says *says = fake_of(p)->arg;
    char text[96];

    if (fake_is(command, "AUTH")) {
        fake_say(p, "-ERR AUTH called without any password configured\r\n");
        return;
    }
    says->asked += fake_is(command, "SENTINEL");
    if (says->is_silent || !fake_is(command, "SENTINEL") || command->elements != 3 ||
        strcmp(command->element[2]->str, name) != 0)
        return;
    (void)snprintf(text, sizeof(text), "*2\r\n$9\r\n127.0.0.1\r\n$%d\r\n%d\r\n",
                   snprintf(NULL, 0, "%d", says->port), says->port);
    fake_say(p, says->port != 0 ? text : "*-1\r\n");
}

static void start_sentinel(struct fake *f, struct event_base *base, struct says *says)
{
    fake_start(f, base);
    f->on_command = answer_as_sentinel;
    f->arg = says;
}

struct found {
    unsigned moved;
    char host[64];
    uint16_t port;
    char why[512];
    unsigned told;
};

static void on_found(void *arg, const char *host, uint16_t port, const char *why)
{
    struct found *f = arg;

    (void)snprintf(f->host, sizeof(f->host), "%s", host != NULL ? host : "");
    (void)snprintf(f->why, sizeof(f->why), "%s", why);
    f->port = port;
    f->told++;
}

static void on_moved(void *arg)
{
    ((struct found *)arg)->moved++;
}

static bool has_moved(void *arg)
{
    return ((const struct found *)arg)->moved > 0;
}

static bool is_told(void *arg)
{
    return ((const struct found *)arg)->told > 0;
}

TEST(R11_sentinels_are_asked_in_turn_until_one_knows)
{
    struct event_base *base = event_base_new();
    struct says unsure = {.port = 0};
    struct says silent = {.is_silent = true};
    struct says knows = {.port = 7777};
    struct fake fakes[3];
    struct found found = {.told = 0};

    start_sentinel(&fakes[0], base, &unsure);
    start_sentinel(&fakes[1], base, &silent);
    start_sentinel(&fakes[2], base, &knows);
    struct url_host hosts[] = {{loopback, free_port()},
                               {loopback, fakes[0].port},
                               {loopback, fakes[1].port},
                               {loopback, fakes[2].port}};
    struct url url = {
        .sentinels = hosts, .sentinel_count = 4, .master = name, .password = password};
    struct rds_sentinel *s = rds_sentinel_new(base, &url, 2000, on_found, on_moved, &found);

    rds_sentinel_ask(s);
    CHECK(found.told == 0);
    CHECK(turn_until(base, 10000, is_told, &found));
    CHECK(strcmp(found.host, loopback) == 0 && found.port == 7777);
    CHECK(unsure.asked == 1 && silent.asked == 1 && knows.asked == 1);
    knows.port = 0;
    unsure.port = 7778; /* comes after the first, which is not there */
    found.told = 0;
    rds_sentinel_ask(s);
    CHECK(turn_until(base, 10000, is_told, &found));
    CHECK(found.port == 7778 && knows.asked == 1);
    rds_sentinel_ask(s);
    rds_sentinel_stop(s);
    found.told = 0;
    turn_for(base, 50);
    CHECK(found.told == 0);
    rds_sentinel_free(s);
    for (int i = 0; i < 3; i++)
        fake_stop(&fakes[i]);
    event_base_free(base);
}

static bool is_asked(void *arg)
{
    return ((const struct says *)arg)->asked > 0;
}

TEST(R10_a_move_is_heard_and_found_out_when_the_one_listened_to_went_away)
{
    struct event_base *base = event_base_new();
    struct says one = {.port = 7777};
    struct says two = {.port = 7777};
    struct fake fakes[2];
    struct found found = {.told = 0};

    start_sentinel(&fakes[0], base, &one);
    start_sentinel(&fakes[1], base, &two);
    struct url_host hosts[] = {{loopback, fakes[0].port}, {loopback, fakes[1].port}};
    struct url url = {.sentinels = hosts, .sentinel_count = 2, .master = name};
    struct rds_sentinel *s = rds_sentinel_new(base, &url, 20000, on_found, on_moved, &found);

    rds_sentinel_ask(s);
    REQUIRE(turn_until(base, 10000, is_told, &found));
    REQUIRE(fakes[0].peer != NULL);
    fake_say(fakes[0].peer, "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$35\r\n"
                            "prime2 127.0.0.1 7777 127.0.0.1 777\r\n");
    turn_for(base, 50);
    CHECK(found.moved == 0);
    fake_say(fakes[0].peer, "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$35\r\n"
                            "prime 127.0.0.1 7777 127.0.0.1 7778\r\n");
    CHECK(turn_until(base, 10000, has_moved, &found));

    found = (struct found){.told = 0};
    rds_sentinel_ask(s); /* the second, now */
    REQUIRE(turn_until(base, 10000, is_told, &found));
    one.asked = 0;
    fake_close(fakes[1].peer);
    CHECK(turn_until(base, 10000, is_asked, &one));
    turn_for(base, 50);
    CHECK(found.moved == 0 && found.told == 1);
    one.asked = 0;
    two.port = 7779;
    fake_close(fakes[0].peer);
    CHECK(turn_until(base, 10000, has_moved, &found));
    CHECK(found.told == 1);
    rds_sentinel_free(s);
    fake_stop(&fakes[0]);
    fake_stop(&fakes[1]);
    event_base_free(base);
}

TEST(when_no_sentinel_knows_the_reason_of_each_is_told)
{
    struct event_base *base = event_base_new();
    struct says unsure = {.port = 0};
    struct fake fake;
    struct found found = {.told = 0};

    start_sentinel(&fake, base, &unsure);
    struct url_host hosts[] = {{loopback, free_port()}, {loopback, fake.port}};
    struct url url = {.sentinels = hosts, .sentinel_count = 2, .master = name};
    struct rds_sentinel *s = rds_sentinel_new(base, &url, 20000, on_found, on_moved, &found);

    rds_sentinel_ask(s);
    CHECK(turn_until(base, 10000, is_told, &found));
    CHECK(found.host[0] == '\0' && found.told == 1);
    CHECK(strstr(found.why, "refused") != NULL);
    CHECK(strstr(found.why, "it knows no primary of that name") != NULL);
    rds_sentinel_free(s);
    fake_stop(&fake);
    event_base_free(base);
}

/* A server with a role. */
static void answer_as_replica(struct fake_peer *p, const redisReply *command)
{
    if (fake_is(command, "ROLE"))
        fake_say(p, "*1\r\n$5\r\nslave\r\n");
    else
        (void)fake_greet(p, command);
}

static void answer_as_primary(struct fake_peer *p, const redisReply *command)
{
    if (fake_is(command, "ROLE"))
        fake_say(p, "*1\r\n$6\r\nmaster\r\n");
    else if (!fake_greet(p, command))
        fake_say(p, "-READONLY You can't write against a read only replica.\r\n");
}

TEST(R10_a_link_is_up_with_a_primary_only_and_asks_again_when_it_is_none_any_more)
{
    struct event_base *base = event_base_new();
    struct rds_conf conf = {.dial_timeout_ms = 20000, .reply_timeout_ms = 20000};
    struct says says;
    struct fake sentinel;
    struct fake replica;
    struct fake primary;
    struct probe p;

    fake_start(&replica, base);
    fake_start(&primary, base);
    replica.on_command = answer_as_replica;
    primary.on_command = answer_as_primary;
    says = (struct says){.port = replica.port};
    start_sentinel(&sentinel, base, &says);
    struct url_host hosts[] = {{loopback, sentinel.port}};
    struct url url = {.sentinels = hosts, .sentinel_count = 1, .master = name};

    probe_open(&p, base, &url, &conf);
    CHECK(turn_until(base, 10000, probe_was_down, &p));
    CHECK(strstr(p.why, "not the primary") != NULL);
    CHECK(p.ups == 0 && says.asked >= 1);
    says.port = primary.port;
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    CHECK(primary.accepted == 1);
    says.asked = 0;
    p.downs = 0;
    probe_say(&p, "WRITE");
    CHECK(turn_until(base, 10000, probe_is_answered, &p));
    CHECK(p.errors == 1); /* its sender is told first */
    CHECK(turn_until(base, 10000, probe_was_down, &p));
    CHECK(strncmp(p.why, "READONLY", 8) == 0);
    CHECK(turn_until(base, 10000, probe_is_up, &p));
    CHECK(says.asked >= 1);
    probe_close(&p);
    fake_stop(&sentinel);
    fake_stop(&replica);
    fake_stop(&primary);
    event_base_free(base);
}
