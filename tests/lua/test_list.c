#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void make(struct lua *l, int n)
{
    char id[32];

    for (int i = 1; i <= n; i++) {
        (void)snprintf(id, sizeof(id), "AA%022d", i);
        (void)move_create(l, &(struct new_task){.id = id});
    }
}

TEST(T_list_pages_are_in_the_order_of_creation_and_say_whether_more_follows)
{
    struct lua *l = lua_fresh();

    make(l, 5);
    REQUIRE(move_list(l, OWNER, 0, 2));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(lua_is(l, "1", "1"));
    CHECK(lua_count(l, "") == 4);
    CHECK(lua_count(l, "2") == 16);
    CHECK(lua_is(l, "2.10", "1"));
    CHECK(lua_is(l, "3.10", "2"));
    REQUIRE(move_list(l, OWNER, 2, 2));
    CHECK(lua_is(l, "1", "1"));
    CHECK(lua_is(l, "3.10", "4"));
    REQUIRE(move_list(l, OWNER, 4, 2));
    CHECK(lua_is(l, "1", "0"));
    CHECK(lua_count(l, "") == 3);
    REQUIRE(move_list(l, OWNER, 5, 2));
    CHECK(lua_is(l, "1", "0"));
    CHECK(lua_count(l, "") == 2);
}

TEST(a_full_last_page_says_that_nothing_follows)
{
    struct lua *l = lua_fresh();

    make(l, 4);
    REQUIRE(move_list(l, OWNER, 2, 2));
    CHECK(lua_is(l, "1", "0"));
    CHECK(lua_count(l, "") == 4);
}

TEST(hidden_and_foreign_tasks_are_not_listed)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .hidden = true}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(2), .owner = OTHER}));
    REQUIRE(move_list(l, OWNER, 0, 9));
    CHECK(lua_count(l, "") == 2);
}

TEST(expired_tasks_are_skipped_and_removed_and_outcomes_left_out)
{
    struct lua *l = lua_fresh();
    char id[32];

    make(l, 300);
    for (int i = 2; i <= 299; i++) {
        (void)snprintf(id, sizeof(id), "AA%022d", i);
        (void)lua_redis(l, "DEL %st:%s", l->T, id);
    }
    (void)lua_redis(l, "HSET %st:AA%s s r r 1", l->T, "0000000000000000000300");
    REQUIRE(move_list(l, OWNER, 0, 2));
    CHECK(lua_count(l, "") == 4);
    CHECK(lua_is(l, "1", "0"));
    CHECK(lua_is(l, "3.10", "300"));
    CHECK(lua_is(l, "3.15", "nil"));
    CHECK(lua_int(l, "ZCARD %so:%s", l->T, OWNER) == 2);
}

TEST(very_many_expired_in_a_row_end_the_page_early_without_an_end)
{
    struct lua *l = lua_fresh();
    int calls = 0;

    for (int i = 1; i <= 3000; i++)
        (void)lua_redis(l, "ZADD %so:%s %d AA%022d", l->T, OWNER, i, i);
    (void)lua_redis(l, "SET %ssq 3000", l->T);
    make(l, 0);
    REQUIRE(move_create(l, &(struct new_task){.id = ID(z)}));
    do
        REQUIRE(move_list(l, OWNER, 0, 50));
    while (lua_is(l, "0", "OK") && strcmp(lua_at(l, "1"), "1") == 0 && ++calls < 10);
    CHECK(calls > 0 && calls < 5);
    CHECK(lua_count(l, "") == 3);
    CHECK(lua_is(l, "2.0", ID(z)));
    CHECK(lua_int(l, "ZCARD %so:%s", l->T, OWNER) == 1);
}

TEST(R1_listing_counts_against_the_rate_and_a_wrong_type_is_an_error)
{
    struct lua *l = lua_fresh();

    make(l, 1);
    REQUIRE(lua_do(l, "list", "o:%s rl:%s : %s|0|5|10", OWNER, OWNER, OWNER));
    CHECK(lua_is(l, "0", "OK"));
    REQUIRE(lua_do(l, "list", "o:%s rl:%s : %s|0|5|10", OWNER, OWNER, OWNER));
    CHECK(lua_is(l, "0", "RATE"));
    (void)lua_redis(l, "SET %so:%s x", l->T, OTHER);
    CHECK(!move_list(l, OTHER, 0, 5));
}
