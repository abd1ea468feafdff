#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned started(struct lua *l, const char *id)
{
    return move_create(l, &(struct new_task){.id = id}) ? move_take(l, id) : 0;
}

TEST(a_task_is_read_with_its_outcome_when_that_is_asked_for)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    REQUIRE(move_get(l, ID(1), OWNER, ""));
    CHECK(lua_count(l, "") == 16);
    CHECK(lua_is(l, "15", "nil"));
    CHECK(strcmp(move_end(l, ID(1), fence, "{\"big\":9007199254740993}"), "OK") == 0);
    REQUIRE(move_get(l, ID(1), OWNER, ""));
    CHECK(lua_is(l, "1", "r"));
    CHECK(lua_is(l, "15", "{\"big\":9007199254740993}"));
    REQUIRE(lua_do(l, "get", "t:%s rl:%s : %s|%s|0||0|0", ID(1), OWNER, ID(1), OWNER));
    CHECK(lua_is(l, "15", "nil"));
}

TEST(who_waits_for_the_end_is_told_little_before_it_and_all_after_it)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    REQUIRE(lua_do(l, "get", "t:%s rl:%s : %s|%s|0|b1|2|0", ID(1), OWNER, ID(1), OWNER));
    CHECK(lua_count(l, "") == 16);
    CHECK(lua_is(l, "0", ID(1)) && lua_is(l, "1", "w"));
    CHECK(lua_is(l, "3", "t") && lua_is(l, "4", "L"));
    CHECK(strtoull(lua_at(l, "7"), NULL, 10) > 0);
    CHECK(lua_is(l, "5", "") && lua_is(l, "9", "") && lua_is(l, "13", "") &&
          lua_is(l, "15", "nil"));
    CHECK(field_is(l, ID(1), "wb", "b1"));
    REQUIRE(lua_do(l, "get", "t:%s rl:%s : %s|%s|0|b1|2|0", ID(1), OWNER, ID(1), OTHER));
    CHECK(lua_is(l, "", "nil"));
    CHECK(strcmp(move_end(l, ID(1), fence, "{\"x\":1}"), "OK") == 0);
    REQUIRE(lua_do(l, "get", "t:%s rl:%s : %s|%s|0|b1|2|0", ID(1), OWNER, ID(1), OWNER));
    CHECK(lua_is(l, "1", "r") && lua_is(l, "13", "t") && lua_is(l, "15", "{\"x\":1}"));
    REQUIRE(lua_do(l, "get", "t:%s rl:%s : %s|%s|0|b1|2|0", ID(2), OWNER, ID(2), OWNER));
    CHECK(lua_is(l, "", "nil"));
}

TEST(who_waits_for_a_hidden_task_must_be_its_own_broker)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .hidden = true}));
    REQUIRE(lua_do(l, "get", "t:%s rl:%s : %s|%s|0|b1|2|0", ID(1), OWNER, ID(1), OWNER));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(lua_do(l, "get", "t:%s rl:%s : %s|%s|0|b1|2|1", ID(1), OWNER, ID(1), OWNER));
    CHECK(lua_is(l, "3", "c"));
}

TEST(a_foreign_a_hidden_and_no_task_are_the_same_answer)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .hidden = true}));
    REQUIRE(move_get(l, ID(1), OWNER, "b1"));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_get(l, ID(1), OTHER, "b1"));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_get(l, ID(2), OWNER, "b1"));
    CHECK(lua_is(l, "", "nil"));
    CHECK(field_is(l, ID(1), "wb", "nil"));
    REQUIRE(lua_do(l, "get", "t:%s rl:%s : %s|%s|0|b1|1|1", ID(1), OWNER, ID(1), OWNER));
    CHECK(lua_is(l, "3", "c"));
    CHECK(field_is(l, ID(1), "wb", "b1"));
}

TEST(interest_is_noted_once_and_the_oldest_of_more_than_8_goes_and_is_told)
{
    struct lua *l = lua_fresh();
    char bid[8];

    (void)started(l, ID(1));
    lua_listen(l, "b1");
    lua_listen(l, "b2");
    for (int i = 0; i < 10; i++) {
        (void)snprintf(bid, sizeof(bid), "b%d", i);
        REQUIRE(move_get(l, ID(1), OWNER, bid));
    }
    REQUIRE(move_get(l, ID(1), OWNER, "b5"));
    CHECK(field_is(l, ID(1), "wb", "b2,b3,b4,b5,b6,b7,b8,b9"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "O " ID(1)) == 0 && strcmp(lua_channel(l, 0), "b1") == 0);
    REQUIRE(move_get(l, ID(1), OWNER, "b"));
    CHECK(field_is(l, ID(1), "wb", "b3,b4,b5,b6,b7,b8,b9,b"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "O " ID(1)) == 0 && strcmp(lua_channel(l, 0), "b2") == 0);
    lua_deafen(l, "b1");
    lua_deafen(l, "b2");
}

TEST(interest_in_what_has_ended_is_not_noted)
{
    struct lua *l = lua_fresh();

    (void)started(l, ID(1));
    REQUIRE(move_cancel(l, ID(1), OWNER));
    REQUIRE(move_get(l, ID(1), OWNER, "b1"));
    CHECK(lua_is(l, "1", "x"));
    CHECK(field_is(l, ID(1), "wb", "nil"));
}

TEST(reading_counts_against_the_rate_whether_or_not_there_is_a_task)
{
    struct lua *l = lua_fresh();

    REQUIRE(lua_redis(l, "MULTI")); /* all at one time, whatever the machine does meanwhile */
    for (int i = 0; i < 3; i++)
        REQUIRE(lua_do(l, "get", "t:%s rl:%s : %s|%s|2000||1|0", ID(1), OWNER, ID(1), OWNER));
    REQUIRE(lua_redis(l, "EXEC"));
    CHECK(lua_is(l, "0", "nil") && lua_is(l, "1", "nil"));
    CHECK(lua_is(l, "2.0", "RATE"));
}
