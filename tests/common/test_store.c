#include "common/store.h"

#include "common/event.h"
#include "common/id.h"
#include "common/mem.h"
#include "common/store_args.h"
#include "tests/lib/kit.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kit kit;

struct got {
    struct kit_answer a;
    char text[KIT_TEXT];
};

static void on_reply(void *arg, enum err e, const struct redisReply *r)
{
    struct got *g = arg;

    g->a.calls++;
    g->a.e = e;
    if (r != NULL && r->type == REDIS_REPLY_STRING)
        kit_copy(g->text, (struct span){r->str, (size_t)r->len});
}

/* Any function will do: this one counts against a limit that is not there. */
static void call(struct store *s, struct got *g)
{
    struct store_args *a = store_args(s, "throttle", 0);

    args_key(a, "rl:", SPAN("abcdefghijklmnop"), "");
    args_add(a, SPAN("abcdefghijklmnop"));
    args_u64(a, 0);
    store_args_send(a, on_reply, g);
}

/* One that creates something. */
static void call_creator(struct store *s, struct got *g)
{
    struct store_args *a = store_args(s, "session_create", 0);

    args_key(a, "se:", SPAN("00aaaaaaaaaaaaaaaaaaaaaa"), "");
    args_key(a, "so:", SPAN("abcdefghijklmnop"), "");
    args_key(a, "rl:", SPAN("abcdefghijklmnop"), "");
    args_add(a, SPAN("00aaaaaaaaaaaaaaaaaaaaaa"));
    for (unsigned i = 0; i < 4; i++)
        args_add(a, SPAN("abcdefghijklmnop"));
    args_u64(a, 60000);
    args_u64(a, 0);
    args_u64(a, 100);
    store_args_send(a, on_reply, g);
}

static bool is_told_down(void *arg)
{
    struct kit_store *p = arg;

    return p->down > 0 && !store_is_ready(p->s);
}

static bool is_ready_again(void *arg)
{
    struct kit_store *p = arg;

    return p->ready > 1 && store_is_ready(p->s) && store_is_listening(p->s);
}

static bool is_told_gap(void *arg)
{
    struct kit_store *p = arg;

    return p->gap > 0;
}

static bool redis_says(const char *want, char *text)
{
    bool same = strcmp(text, want) == 0;

    if (!same)
        (void)fprintf(stderr, "redis says: %s\n", text);
    free(text);
    return same;
}

/* --- the installation --- */

TEST(a_fresh_redis_becomes_an_installation)
{
    struct kit_store p;

    kit_start(&kit, NULL);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.url = NULL}));
    CHECK(p.ready == 1 && p.refused == 0 && p.gap <= 1);
    CHECK(store_partitions(p.s) == 1);
    CHECK(store_secret(p.s) != NULL);
    CHECK(strlen(store_self(p.s)) == 8);
    CHECK(redis_says("1", kit_redis(&kit, "HGET errand:{g}:conf partitions")));
    CHECK(redis_says("43", kit_redis(&kit, "HSTRLEN errand:{g}:conf secret")));
    CHECK(span_is(store_prefix(p.s, 0), "errand:{0}:"));
    CHECK(span_is(store_prefix(p.s, STORE_GLOBAL), "errand:{g}:"));
    kit_store_free(&p);
    kit_stop(&kit);
}

TEST(a_second_process_takes_what_the_first_one_made)
{
    struct kit_store p;
    struct kit_store q;

    kit_start(&kit, NULL);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.partitions = 4}));
    REQUIRE(kit_store_open(&q, &kit, (struct store_conf){.partitions = 0}));
    CHECK(store_partitions(p.s) == 4 && store_partitions(q.s) == 4);
    CHECK(memcmp(store_secret(p.s), store_secret(q.s), 32) == 0);
    CHECK(store_partition_of_owner(p.s, SPAN("abcdefghijklmnop")) ==
          store_partition_of_owner(q.s, SPAN("abcdefghijklmnop")));
    kit_store_free(&p);
    kit_store_free(&q);
    kit_stop(&kit);
}

TEST(other_partitions_are_refused_with_a_sentence)
{
    struct kit_store p;
    struct kit_store q;

    kit_start(&kit, NULL);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.partitions = 4}));
    CHECK(!kit_store_open(&q, &kit, (struct store_conf){.partitions = 2}));
    CHECK(q.refused == 1 && q.ready == 0);
    CHECK(strstr(q.why, "4 partitions, not 2") != NULL);
    kit_store_free(&p);
    kit_store_free(&q);
    kit_stop(&kit);
}

TEST(two_prefixes_are_two_installations)
{
    struct kit_store p;
    struct kit_store q;

    kit_start(&kit, NULL);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.partitions = 4}));
    REQUIRE(kit_store_open(&q, &kit, (struct store_conf){.partitions = 2, .prefix = "other"}));
    CHECK(memcmp(store_secret(p.s), store_secret(q.s), 32) != 0);
    kit_store_free(&p);
    kit_store_free(&q);
    kit_stop(&kit);
}

TEST(a_secret_from_a_file_is_never_in_redis)
{
    unsigned char secret[32];
    unsigned char other[32];
    struct kit_store p;

    memset(secret, 'S', sizeof(secret));
    memset(other, 'O', sizeof(other));
    kit_start(&kit, NULL);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.secret = secret}));
    CHECK(memcmp(store_secret(p.s), secret, 32) == 0);
    kit_store_free(&p);
    CHECK(redis_says("27", kit_redis(&kit, "HSTRLEN errand:{g}:conf secret")));
    /* The same file again, another file, no file. */
    CHECK(kit_store_open(&p, &kit, (struct store_conf){.secret = secret}));
    kit_store_free(&p);
    CHECK(!kit_store_open(&p, &kit, (struct store_conf){.secret = other}));
    CHECK(p.refused == 1 && strstr(p.why, "another secret") != NULL);
    kit_store_free(&p);
    CHECK(!kit_store_open(&p, &kit, (struct store_conf){.secret = NULL}));
    CHECK(p.refused == 1 && strstr(p.why, "in a file") != NULL);
    kit_store_free(&p);
    kit_stop(&kit);
}

TEST(a_secret_file_that_holds_what_redis_keeps_is_welcome)
{
    unsigned char secret[32];
    struct kit_store p;

    kit_start(&kit, NULL);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.secret = NULL}));
    memcpy(secret, store_secret(p.s), 32);
    kit_store_free(&p);
    CHECK(kit_store_open(&p, &kit, (struct store_conf){.secret = secret}));
    kit_store_free(&p);
    secret[0] ^= 1;
    CHECK(!kit_store_open(&p, &kit, (struct store_conf){.secret = secret}));
    kit_store_free(&p);
    kit_stop(&kit);
}

TEST(an_onlooker_makes_nothing)
{
    struct kit_store p;

    kit_start(&kit, NULL);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.observe = true}));
    CHECK(store_partitions(p.s) == 1 && store_secret(p.s) == NULL);
    CHECK(redis_says("0", kit_redis(&kit, "DBSIZE")));
    kit_store_free(&p);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.partitions = 4}));
    kit_store_free(&p);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.observe = true}));
    CHECK(store_partitions(p.s) == 4 && store_secret(p.s) != NULL);
    kit_store_free(&p);
    kit_stop(&kit);
}

TEST(something_else_under_our_keys_is_refused)
{
    struct kit_store p;

    kit_start(&kit, NULL);
    free(kit_redis(&kit, "SET errand:{g}:conf mine"));
    CHECK(!kit_store_open(&p, &kit, (struct store_conf){.url = NULL}));
    CHECK(p.refused == 1 && strstr(p.why, "another prefix") != NULL);
    kit_store_free(&p);
    CHECK(!kit_store_open(&p, &kit, (struct store_conf){.prefix = "a{b}"}));
    CHECK(p.refused == 1 && strstr(p.why, "prefix") != NULL);
    kit_store_free(&p);
    kit_stop(&kit);
}

/* --- calls --- */

TEST(a_call_before_ready_ends_later_and_once)
{
    struct got g = {.text = ""};
    struct kit_store p;

    kit_start(&kit, NULL);
    kit_store_new(&p, &kit, (struct store_conf){.url = NULL});
    call(p.s, &g);
    CHECK(g.a.calls == 0);
    REQUIRE(kit_wait(&kit, &g.a, 1));
    CHECK(g.a.e == ERR_UNAVAILABLE);
    turn_for(kit.base, 50);
    CHECK(g.a.calls == 1);
    kit_store_free(&p);
    kit_stop(&kit);
}

TEST(a_call_too_big_is_not_sent)
{
    struct got g = {.text = ""};
    struct store_args *a;
    struct kit_store p;

    kit_start(&kit, NULL);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.url = NULL}));
    a = store_args(p.s, "throttle", 0);
    for (unsigned i = 0; i <= STORE_ARGS_MAX; i++)
        args_u64(a, i);
    store_args_send(a, on_reply, &g);
    REQUIRE(kit_wait(&kit, &g.a, 1));
    CHECK(g.a.e == ERR_TOO_BIG);
    kit_store_free(&p);
    kit_stop(&kit);
}

TEST(a_library_flushed_under_our_feet_is_loaded_again)
{
    struct got g = {.text = ""};
    struct kit_store p;

    kit_start(&kit, NULL);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.url = NULL}));
    free(kit_redis(&kit, "FUNCTION FLUSH"));
    for (unsigned i = 0; i < 300; i++)
        call(p.s, &g);
    REQUIRE(kit_wait(&kit, &g.a, 300));
    CHECK(g.a.e == ERR_OK);
    CHECK(p.down == 0);
    kit_store_free(&p);
    kit_stop(&kit);
}

TEST(redis_errors_are_told_apart)
{
    struct got g = {.text = ""};
    uint64_t logged = event_count(EVENT_REDIS_REFUSES);
    struct kit_store p;

    kit_start(&kit, NULL);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.url = NULL}));
    free(kit_redis(&kit, "CONFIG SET maxmemory 1"));
    call_creator(p.s, &g);
    REQUIRE(kit_wait(&kit, &g.a, 1));
    CHECK(g.a.e == ERR_OUT_OF_SPACE);
    CHECK(event_count(EVENT_REDIS_REFUSES) == logged + 1);
    free(kit_redis(&kit, "CONFIG SET maxmemory 0"));
    free(kit_redis(&kit, "CONFIG SET min-replicas-to-write 1"));
    call_creator(p.s, &g);
    REQUIRE(kit_wait(&kit, &g.a, 2));
    CHECK(g.a.e == ERR_UNAVAILABLE);
    free(kit_redis(&kit, "CONFIG SET min-replicas-to-write 0"));
    free(kit_redis(&kit, "REPLICAOF 127.0.0.1 1"));
    call_creator(p.s, &g);
    REQUIRE(kit_wait(&kit, &g.a, 3));
    CHECK(g.a.e == ERR_UNAVAILABLE);
    CHECK(event_count(EVENT_REDIS_REFUSES) == logged + 3);
    free(kit_redis(&kit, "REPLICAOF NO ONE"));
    CHECK(turn_until(kit.base, 10000, is_ready_again, &p)); /* READONLY closes links */
    call_creator(p.s, &g);
    REQUIRE(kit_wait(&kit, &g.a, 4));
    CHECK(g.a.e == ERR_OK);
    kit_store_free(&p);
    kit_stop(&kit);
}

TEST(a_plain_command_is_answered)
{
    const struct span argv[] = {SPAN("ECHO"), SPAN("hello")};
    const struct span bad[] = {SPAN("NOSUCH")};
    struct got g = {.text = ""};
    struct kit_store p;

    kit_start(&kit, NULL);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.url = NULL}));
    store_command(p.s, 2, argv, on_reply, &g);
    REQUIRE(kit_wait(&kit, &g.a, 1));
    CHECK(g.a.e == ERR_OK && strcmp(g.text, "hello") == 0);
    store_command(p.s, 1, bad, on_reply, &g);
    REQUIRE(kit_wait(&kit, &g.a, 2));
    CHECK(g.a.e == ERR_INTERNAL);
    kit_store_free(&p);
    kit_stop(&kit);
}

TEST(freeing_a_store_ends_what_is_outstanding)
{
    struct got g = {.text = ""};
    struct kit_store p;

    kit_start(&kit, NULL);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.url = NULL}));
    for (unsigned i = 0; i < 10; i++)
        call(p.s, &g);
    kit_store_free(&p);
    CHECK(g.a.calls == 10 && g.a.e == ERR_UNAVAILABLE);
    kit_store_new(&p, &kit, (struct store_conf){.url = NULL});
    call(p.s, &g);
    kit_store_free(&p);
    CHECK(g.a.calls == 11);
    kit_stop(&kit);
}

/* --- Redis comes and goes --- */

TEST(redis_killed_in_flight_ends_every_call_once_and_comes_back)
{
    static const char *const durable[] = {"--appendonly", "yes", "--appendfsync", "always", NULL};
    struct got g = {.text = ""};
    struct kit_store p;

    kit_start(&kit, durable);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.url = NULL}));
    for (unsigned i = 0; i < 500; i++)
        call(p.s, &g);
    test_redis_kill(&kit.redis);
    for (unsigned i = 0; i < 500; i++)
        call(p.s, &g);
    REQUIRE(kit_wait(&kit, &g.a, 1000));
    CHECK(g.a.e == ERR_UNAVAILABLE);
    CHECK(turn_until(kit.base, 10000, is_told_down, &p));
    CHECK(!store_is_listening(p.s));
    p.gap = 0;
    test_redis_restart(&kit.redis);
    REQUIRE(turn_until(kit.base, 10000, is_ready_again, &p));
    CHECK(turn_until(kit.base, 10000, is_told_gap, &p));
    call(p.s, &g);
    REQUIRE(kit_wait(&kit, &g.a, 1001));
    CHECK(g.a.e == ERR_OK);
    turn_for(kit.base, 50);
    CHECK(g.a.calls == 1001 && p.gap == 1 && p.ready == 2);
    kit_store_free(&p);
    kit_stop(&kit);
}

TEST(a_redis_that_lost_everything_goes_on_as_the_same_installation)
{
    unsigned char secret[32];
    struct kit_store p;

    kit_start(&kit, NULL);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.partitions = 4}));
    memcpy(secret, store_secret(p.s), 32);
    test_redis_kill(&kit.redis);
    test_redis_restart(&kit.redis);
    REQUIRE(turn_until(kit.base, 10000, is_ready_again, &p));
    CHECK(redis_says("4", kit_redis(&kit, "HGET errand:{g}:conf partitions")));
    CHECK(memcmp(secret, store_secret(p.s), 32) == 0);
    kit_store_free(&p);
    kit_stop(&kit);
}

static bool is_deaf(void *arg)
{
    const struct kit_store *p = arg;

    return !store_is_listening(p->s);
}

TEST(a_lost_subscriber_link_is_a_gap_and_calls_go_on)
{
    struct got g = {.text = ""};
    struct kit_store p;

    kit_start(&kit, NULL);
    REQUIRE(kit_store_open(&p, &kit, (struct store_conf){.url = NULL}));
    p.gap = 0;
    CHECK(redis_says("1", kit_redis(&kit, "CLIENT KILL TYPE pubsub")));
    REQUIRE(turn_until(kit.base, 10000, is_deaf, &p));
    call(p.s, &g);
    REQUIRE(kit_wait(&kit, &g.a, 1));
    CHECK(g.a.e == ERR_OK && p.down == 0);
    REQUIRE(turn_until(kit.base, 10000, is_told_gap, &p));
    CHECK(store_is_listening(p.s));
    kit_store_free(&p);
    kit_stop(&kit);
}

static bool why_says(struct kit_store *p, const char *text)
{
    return p->down > 0 && strstr(p->why, text) != NULL;
}

static bool why_is_auth(void *arg)
{
    return why_says(arg, "WRONGPASS");
}

static bool why_is_perm(void *arg)
{
    return why_says(arg, "NOPERM");
}

static bool is_ready(void *arg)
{
    const struct kit_store *p = arg;

    return store_is_ready(p->s);
}

TEST(a_user_without_rights_is_told_and_welcome_once_it_has_them)
{
    struct url url = kit.url;
    struct kit_store p;

    kit_start(&kit, NULL);
    free(kit_redis(&kit, "ACL SETUSER app on >pw ~* &* +ping +client +info +subscribe"));
    url = kit.url;
    url.user = mem_strdup("app");
    url.password = mem_strdup("no");
    kit_store_new(&p, &kit, (struct store_conf){.url = &url});
    REQUIRE(turn_until(kit.base, 10000, why_is_auth, &p));
    free(kit_redis(&kit, "ACL SETUSER app >no"));
    REQUIRE(turn_until(kit.base, 10000, why_is_perm, &p));
    CHECK(p.down == 2); /* once for each reason */
    free(kit_redis(&kit, "ACL SETUSER app +@all"));
    REQUIRE(turn_until(kit.base, 10000, is_ready, &p));
    CHECK(p.refused == 0);
    kit_store_free(&p);
    free(url.user);
    free(url.password);
    kit_stop(&kit);
}
