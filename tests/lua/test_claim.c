#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hand usual = {.wid = "w1"};

TEST(a_job_is_handed_out_whole_and_leased)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1),
                                              .params = "{\"n\":9007199254740993}",
                                              .token = "\"tok\"",
                                              .caller = "{\"name\":\"x\"}",
                                              .trace = "00-a",
                                              .caps = "{}",
                                              .hidden = true,
                                              .dialect = 'M',
                                              .ask_ms = 90000,
                                              .attempts = 5}));
    REQUIRE(move_claim(l, &usual, 3));
    REQUIRE(lua_count(l, "") == 1);
    CHECK(lua_count(l, "0") == 16);
    CHECK(lua_is(l, "0.0", ID(1)));
    CHECK(lua_is(l, "0.1", "1"));
    CHECK(lua_is(l, "0.2", "1"));
    CHECK(lua_is(l, "0.3", "5"));
    CHECK(strtol(lua_at(l, "0.4"), NULL, 10) > 50000);
    CHECK(strtol(lua_at(l, "0.4"), NULL, 10) <= 60000);
    CHECK(lua_is(l, "0.5", "t"));
    CHECK(lua_is(l, "0.6", "{\"n\":9007199254740993}"));
    CHECK(lua_is(l, "0.7", "{\"name\":\"x\"}"));
    CHECK(lua_is(l, "0.8", "00-a"));
    CHECK(lua_is(l, "0.9", "\"tok\""));
    CHECK(lua_is(l, "0.10", ""));
    CHECK(lua_is(l, "0.11", "{}"));
    CHECK(lua_is(l, "0.12", "c"));
    CHECK(lua_is(l, "0.13", "M"));
    CHECK(lua_is(l, "0.14", "90000"));
    CHECK(is_at(l, ID(1), "running"));
    CHECK(field_is(l, ID(1), "wk", "w1"));
}

TEST(the_oldest_of_the_best_class_comes_first)
{
    static const char *const order[] = {ID(3), ID(4), ID(1), ID(2)};
    struct lua *l = lua_fresh();
    char path[8];

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .priority = 2}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(2), .priority = 3}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(3), .priority = 0}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(4), .priority = 0}));
    REQUIRE(move_claim(l, &usual, 4));
    for (int i = 0; i < 4; i++) {
        (void)snprintf(path, sizeof(path), "%d.0", i);
        CHECK(lua_is(l, path, order[i]));
    }
}

TEST(reversed_the_last_class_comes_first)
{
    struct lua *l = lua_fresh();
    struct hand h = {.reversed = true};

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .priority = 0}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(2), .priority = 3}));
    REQUIRE(move_claim(l, &h, 1));
    CHECK(lua_is(l, "0.0", ID(2)));
}

enum { MANY_TOOLS = 200 };

/* By a worker of many tools: t0 to t199. */
static bool claim_of_many(struct lua *l, unsigned n)
{
    lua_fn(l, "claim");
    lua_key(l, "ls");
    lua_key(l, "il:p");
    lua_key(l, "lc:w1");
    for (unsigned c = 0; c < 4; c++)
        for (unsigned i = 0; i < MANY_TOOLS; i++)
            lua_key(l, "rq:t%u:%u", i, c);
    lua_arg(l, "w1");
    lua_arg(l, "p");
    lua_arg(l, "%u", n);
    lua_arg(l, "60000");
    lua_arg(l, "0");
    lua_arg(l, "1");
    lua_arg(l, "%d", MANY_TOOLS);
    for (unsigned i = 0; i < MANY_TOOLS; i++)
        lua_arg(l, "t%u", i);
    return lua_go(l);
}

TEST(of_many_tools_each_is_found_class_by_class)
{
    static const unsigned tools[] = {0, 1, 2, 98, 99, 100, 101, 150, 198, 199};
    enum { N = sizeof(tools) / sizeof(tools[0]) };
    struct lua *l = lua_fresh();
    char tool[8];
    char path[8];

    for (unsigned i = 0; i < N; i++) {
        char *id = strdup(ID(1));

        (void)snprintf(id + strlen(id) - 2, 3, "%02u", i);
        (void)snprintf(tool, sizeof(tool), "t%u", tools[i]);
        REQUIRE(move_create(
            l, &(struct new_task){.id = id, .tool = tool, .priority = i % 2 == 0 ? 3 : 1}));
        free(id);
    }
    for (unsigned round = 0; round < 2; round++) {
        REQUIRE(claim_of_many(l, N / 2));
        REQUIRE(lua_count(l, "") == N / 2);
        for (unsigned i = 0; i < N / 2; i++) {
            const char *id;

            (void)snprintf(path, sizeof(path), "%u.0", i);
            id = lua_at(l, path);
            CHECK((strtoul(id + strlen(id) - 2, NULL, 10) % 2 == 0) == (round == 1));
            (void)snprintf(tool, sizeof(tool), "t%u",
                           tools[strtoul(id + strlen(id) - 2, NULL, 10)]);
            (void)snprintf(path, sizeof(path), "%u.5", i);
            CHECK(lua_is(l, path, tool));
        }
    }
    REQUIRE(claim_of_many(l, 1));
    CHECK(lua_count(l, "") == 0);
}

TEST(only_the_tools_that_are_named_are_served)
{
    struct lua *l = lua_fresh();
    struct hand h = {.tools = {"a", "b"}};

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .tool = "c"}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(2), .tool = "b", .priority = 3}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(3), .tool = "a", .priority = 1}));
    REQUIRE(move_claim(l, &h, 9));
    CHECK(lua_count(l, "") == 2);
    CHECK(lua_is(l, "0.0", ID(3)));
    CHECK(lua_is(l, "1.0", ID(2)));
}

/* Which tool is first changes with the clock, so both come to it soon. */
TEST(no_tool_of_several_is_always_last)
{
    struct lua *l = lua_fresh();
    struct hand h = {.tools = {"a", "b"}};
    int first[2] = {0, 0};

    for (int i = 0; i < 2000 && (first[0] == 0 || first[1] == 0); i++) {
        (void)lua_redis(l, "FLUSHALL");
        REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .tool = "a"}));
        REQUIRE(move_create(l, &(struct new_task){.id = ID(2), .tool = "b"}));
        REQUIRE(move_claim(l, &h, 1));
        first[strcmp(lua_at(l, "0.5"), "b") == 0]++;
    }
    CHECK(first[0] > 0 && first[1] > 0);
}

TEST(what_has_ended_or_expired_is_dropped_on_the_way)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(2)}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(3)}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(4)}));
    REQUIRE(move_cancel(l, ID(1), OWNER));
    expire(l, ID(2), OWNER);
    (void)lua_redis(l, "DEL %st:%s", l->T, ID(3));
    (void)lua_redis(l, "SET %st:%s x", l->T, ID(3));
    REQUIRE(move_claim(l, &usual, 1));
    CHECK(lua_count(l, "") == 1);
    CHECK(lua_is(l, "0.0", ID(4)));
    CHECK(lua_int(l, "EXISTS %srq:t:0", l->T) == 0);
}

TEST(behind_many_that_have_ended_what_is_ready_is_looked_for_at_once)
{
    enum { ENDED = 600 };
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    for (int i = 0; i < ENDED; i++)
        (void)lua_redis(l, "RPUSH %srq:t:0 gone%d", l->T, i);
    lua_listen(l, "w1");
    REQUIRE(move_claim(l, &usual, 1));
    CHECK(lua_count(l, "") == 0);
    REQUIRE(lua_hear(l) == 1);
    CHECK(lua_message(l, 0)[0] == 'K');
    CHECK(lua_int(l, "LLEN %sil:p", l->T) == 0);
    REQUIRE(move_claim(l, &usual, 1));
    CHECK(lua_is(l, "0.0", ID(1)));
    lua_deafen(l, "w1");
}

TEST(one_who_gets_less_than_asked_is_idle_and_one_who_gets_all_is_not)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_claim(l, &usual, 2));
    REQUIRE(move_claim(l, &usual, 2));
    CHECK(lua_int(l, "LLEN %sil:p", l->T) == 1);
    CHECK(lua_int(l, "PTTL %sil:p", l->T) > 3500000);
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    REQUIRE(move_claim(l, &usual, 1));
    CHECK(lua_count(l, "") == 1);
    CHECK(lua_int(l, "LLEN %sil:p", l->T) == 0);
}

TEST(at_most_1024_workers_of_a_pool_are_idle)
{
    struct lua *l = lua_fresh();
    char wid[16];
    struct hand h = {.wid = wid};

    for (int i = 0; i < 1030; i++) {
        (void)snprintf(wid, sizeof(wid), "w%d", i);
        REQUIRE(move_claim(l, &h, 1));
    }
    CHECK(lua_int(l, "LLEN %sil:p", l->T) == 1024);
    CHECK(lua_int(l, "LPOS %sil:p w1029", l->T) == 0);
    CHECK(lua_int(l, "LPOS %sil:p w0", l->T) == -1);
}

TEST(a_wake_up_that_comes_to_a_busy_worker_is_passed_on)
{
    struct lua *l = lua_fresh();
    struct hand other = {.wid = "w2"};

    REQUIRE(move_claim(l, &usual, 1));
    REQUIRE(move_claim(l, &other, 1));
    lua_listen(l, "w2");
    REQUIRE(move_claim(l, &usual, 0));
    CHECK(lua_count(l, "") == 0);
    CHECK(lua_hear(l) == 0);
    CHECK(lua_int(l, "LPOS %sil:p w1", l->T) == -1);
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    REQUIRE(move_claim(l, &usual, 0));
    CHECK(lua_hear(l) == 1);
    CHECK(lua_int(l, "LLEN %sil:p", l->T) == 0);
    lua_deafen(l, "w2");
}

TEST(no_call_takes_more_than_128)
{
    struct lua *l = lua_fresh();
    char id[32];

    for (int i = 0; i < 130; i++) {
        (void)snprintf(id, sizeof(id), "AA%022d", i);
        REQUIRE(move_create(l, &(struct new_task){.id = id}));
    }
    REQUIRE(move_claim(l, &usual, 10000));
    CHECK(lua_count(l, "") == 128);
    CHECK(lua_int(l, "ZCARD %sls", l->T) == 128);
}

TEST(R5_a_fence_beyond_14_digits_stays_exact)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    (void)lua_redis(l, "HSET %st:%s n 123456789012344", l->T, ID(1));
    REQUIRE(move_claim(l, &usual, 1));
    CHECK(lua_is(l, "0.1", "123456789012345"));
    CHECK(field_is(l, ID(1), "n", "123456789012345"));
}

TEST(R1_a_wrong_type_loses_no_task)
{
    static const char *const keys[] = {"ls", "il:p"};
    struct lua *l = lua_fresh();

    for (size_t i = 0; i < 2; i++) {
        lua_flush(l);
        REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
        (void)lua_redis(l, "SET %s%s x", l->T, keys[i]);
        CHECK(!move_claim(l, &usual, 2));
        CHECK(is_at(l, ID(1), "ready"));
        CHECK(field_is(l, ID(1), "n", "nil"));
    }
    lua_flush(l);
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .priority = 3}));
    (void)lua_redis(l, "SET %srq:t:1 x", l->T);
    REQUIRE(move_claim(l, &usual, 2));
    CHECK(lua_count(l, "") == 1);
}
