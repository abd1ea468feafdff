#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned started(struct lua *l, const char *id)
{
    return move_create(l, &(struct new_task){.id = id}) ? move_take(l, id) : 0;
}

static long answer(struct lua *l, const char *path)
{
    return strtol(lua_at(l, path), NULL, 10);
}

TEST(with_nothing_due_it_says_when_to_come_again)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_tick(l));
    CHECK(lua_is(l, "0", "1000"));
    CHECK(lua_is(l, "1", "0"));
    (void)started(l, ID(1));
    REQUIRE(lua_redis(l, "MULTI")); /* at one time, whatever the machine does meanwhile */
    REQUIRE(move_beat(l, ID(1), 1, 700));
    REQUIRE(move_tick(l));
    REQUIRE(lua_redis(l, "EXEC"));
    CHECK(answer(l, "1.0") <= 700 && answer(l, "1.0") > 0);
    CHECK(lua_is(l, "1.1", "0"));
}

TEST(delayed_tasks_go_to_the_head_the_longest_due_first)
{
    struct lua *l = lua_fresh();
    unsigned one = started(l, ID(1));
    unsigned two = started(l, ID(2));

    REQUIRE(move_create(l, &(struct new_task){.id = ID(3)}));
    REQUIRE(move_retry(l, ID(1), one, 50000));
    REQUIRE(move_retry(l, ID(2), two, 50000));
    (void)lua_redis(l, "ZADD %sdl 2 %s 1 %s", l->T, ID(1), ID(2));
    REQUIRE(move_tick(l));
    CHECK(lua_is(l, "1", "2"));
    REQUIRE(move_claim(l, &(struct hand){.wid = "w1"}, 3));
    CHECK(lua_is(l, "0.0", ID(2)));
    CHECK(lua_is(l, "1.0", ID(1)));
    CHECK(lua_is(l, "2.0", ID(3)));
}

TEST(a_lapsed_lease_is_charged_and_comes_back_within_a_quarter_second)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));
    int64_t due;

    lapse(l, ID(1));
    REQUIRE(move_tick(l));
    CHECK(lua_is(l, "1", "1"));
    CHECK(answer(l, "0") <= 250);
    CHECK(is_at(l, ID(1), "delayed"));
    due = lua_int(l, "ZSCORE %sdl %s", l->T, ID(1)) - lua_int(l, "HGET %st:%s ut", l->T, ID(1));
    CHECK(due >= 0 && due <= 250);
    CHECK(field_is(l, ID(1), "tr", "1"));
    CHECK(field_is(l, ID(1), "m", "the worker was lost"));
    CHECK(lua_int(l, "HGET %sst l", l->T) == 1);
    CHECK(strcmp(move_end(l, ID(1), fence, "1"), "STALE") == 0);
}

TEST(what_one_worker_lost_comes_back_spread)
{
    struct lua *l = lua_fresh();
    char id[32];

    for (int i = 0; i < 100; i++) {
        (void)snprintf(id, sizeof(id), "AA%022d", i);
        (void)started(l, id);
        lapse(l, id);
    }
    REQUIRE(move_tick(l));
    CHECK(lua_is(l, "1", "100"));
    (void)lua_redis(l, "ZRANGE %sdl 0 0 WITHSCORES", l->T);
    {
        int64_t first = strtoll(lua_at(l, "1"), NULL, 10);

        (void)lua_redis(l, "ZRANGE %sdl -1 -1 WITHSCORES", l->T);
        CHECK(strtoll(lua_at(l, "1"), NULL, 10) - first > 150);
        CHECK(lua_int(l, "ZCOUNT %sdl %lld %lld", l->T, (long long)first, (long long)first + 125) >
              25);
    }
}

TEST(after_the_last_attempt_a_lapsed_task_fails_as_a_dead_letter)
{
    struct lua *l = lua_fresh();

    lua_listen(l, "b1");
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .attempts = 2, .bid = "b1"}));
    for (int i = 0; i < 2; i++) {
        REQUIRE(move_take(l, ID(1)) > 0);
        lapse(l, ID(1));
        REQUIRE(move_tick(l));
        come_due(l, ID(1));
        REQUIRE(move_tick(l));
    }
    CHECK(is_at(l, ID(1), "ended"));
    CHECK(field_is(l, ID(1), "s", "e"));
    CHECK(strstr(field(l, ID(1), "r"), "\"code\":-32603") != NULL);
    CHECK(lua_int(l, "XLEN %sdq", l->T) == 1);
    CHECK(lua_int(l, "EXISTS %sls %sdl %soa:%s", l->T, l->T, l->T, OWNER) == 0);
    CHECK(lua_hear(l) == 2);
    CHECK(strncmp(lua_message(l, 1), "T e ", 4) == 0);
    lua_deafen(l, "b1");
}

static void make_one_of_each(struct lua *l)
{
    struct new_task t = {.max_running = 2, .idem = "k", .digest = "d"};
    unsigned fence;

    t.id = ID(1);
    (void)move_create(l, &t);
    fence = move_take(l, ID(1));
    (void)move_retry(l, ID(1), fence, 60000);
    t.idem = NULL;
    t.id = ID(2);
    (void)move_create(l, &t);
    (void)move_take(l, ID(2));
    t.id = ID(3);
    (void)move_create(l, &t);
}

TEST(P5_an_expired_task_leaves_nothing_wherever_it_stood)
{
    struct lua *l = lua_fresh();

    make_one_of_each(l);
    CHECK(is_at(l, ID(1), "delayed") && is_at(l, ID(2), "running") && is_at(l, ID(3), "parked"));
    expire(l, ID(1), OWNER);
    expire(l, ID(2), OWNER);
    expire(l, ID(3), OWNER);
    REQUIRE(move_tick(l));
    CHECK(lua_is(l, "1", "3"));
    (void)lua_redis(l, "DEL %sim:%s:k", l->T, OWNER); /* has the task's own ttl */
    (void)lua_redis(l, "DEL %slc:w1", l->T); /* has the lease's */
    (void)lua_redis(l, "KEYS *");
    CHECK(lua_count(l, "") == 1);
    CHECK(lua_is(l, "0", "errand:{0}:sq"));
}

TEST(an_expired_task_frees_its_slot_for_a_parked_one)
{
    struct lua *l = lua_fresh();

    make_one_of_each(l);
    expire(l, ID(2), OWNER);
    REQUIRE(move_tick(l));
    CHECK(is_at(l, ID(3), "ready"));
}

TEST(a_task_whose_end_has_come_is_gone_even_if_its_hash_were_not)
{
    struct lua *l = lua_fresh();

    (void)started(l, ID(1));
    (void)lua_redis(l, "ZADD %six 1 %s%s", l->T, ID(1), OWNER);
    REQUIRE(move_tick(l));
    CHECK(lua_int(l, "EXISTS %st:%s %sls %soa:%s %so:%s", l->T, ID(1), l->T, l->T, OWNER, l->T,
                  OWNER) == 0);
}

TEST(a_parked_task_is_not_stuck_when_those_before_it_are_gone)
{
    struct lua *l = lua_fresh();

    make_one_of_each(l);
    (void)lua_redis(l, "ZREM %soa:%s %s %s", l->T, OWNER, ID(1), ID(2));
    expire(l, ID(2), OWNER);
    REQUIRE(move_tick(l));
    CHECK(is_at(l, ID(3), "ready"));
}

TEST(no_call_does_more_than_its_limit_and_it_says_that_more_is_due)
{
    struct lua *l = lua_fresh();
    char id[32];

    for (int i = 0; i < 10; i++) {
        (void)snprintf(id, sizeof(id), "AA%022d", i);
        (void)move_create(l, &(struct new_task){.id = id});
        expire(l, id, OWNER);
    }
    REQUIRE(lua_do(l, "tick", "ls dl ix dq st : 4|1"));
    CHECK(lua_is(l, "0", "0"));
    CHECK(lua_is(l, "1", "4"));
    CHECK(lua_int(l, "ZCARD %six", l->T) == 6);
}

TEST(a_stray_lease_of_what_has_ended_is_dropped)
{
    struct lua *l = lua_fresh();

    (void)started(l, ID(1));
    REQUIRE(move_cancel(l, ID(1), OWNER));
    (void)lua_redis(l, "ZADD %sls 1 %s 1 %s", l->T, ID(1), ID(2));
    (void)lua_redis(l, "ZADD %sdl 1 %s 1 %s", l->T, ID(1), ID(2));
    REQUIRE(move_tick(l));
    CHECK(lua_int(l, "EXISTS %sls %sdl %srq:t:0", l->T, l->T, l->T) == 0);
    CHECK(field_is(l, ID(1), "s", "x"));
}

TEST(R1_a_wrong_type_changes_nothing)
{
    static const char *const keys[] = {"ls", "dl", "ix", "dq"};
    struct lua *l = lua_fresh();

    for (size_t i = 0; i < 4; i++) {
        lua_flush(l);
        make_one_of_each(l);
        lapse(l, ID(2));
        come_due(l, ID(1));
        (void)lua_redis(l, "DEL %s%s", l->T, keys[i]);
        (void)lua_redis(l, "SET %s%s x", l->T, keys[i]);
        CHECK(!move_tick(l));
        CHECK(field_is(l, ID(2), "n", "1"));
        CHECK(lua_int(l, "EXISTS %srq:t:0", l->T) == 0);
    }
}

TEST(R1_a_delayed_task_whose_queue_cannot_be_written_waits_on)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    REQUIRE(move_retry(l, ID(1), fence, 0));
    come_due(l, ID(1));
    (void)lua_redis(l, "SET %srq:t:0 x", l->T);
    REQUIRE(move_tick(l));
    CHECK(is_at(l, ID(1), "delayed"));
    (void)lua_redis(l, "DEL %srq:t:0", l->T);
    come_due(l, ID(1));
    REQUIRE(move_tick(l));
    CHECK(is_at(l, ID(1), "ready"));
}
