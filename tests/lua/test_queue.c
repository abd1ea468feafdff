#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(everything_is_counted_where_it_stands)
{
    static const char *const want[] = {"1", "1", "1", "5", "7", "1", "1", "1", "0"};
    struct lua *l = lua_fresh();
    unsigned fence;
    char path[8];

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    CHECK(strcmp(move_end(l, ID(1), move_take(l, ID(1)), "1"), "OK") == 0);
    REQUIRE(move_create(l, &(struct new_task){.id = ID(2), .attempts = 1}));
    fence = move_take(l, ID(2));
    REQUIRE(move_retry(l, ID(2), fence, 0));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(3)}));
    fence = move_take(l, ID(3));
    REQUIRE(move_retry(l, ID(3), fence, 60000));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(4)}));
    CHECK(move_take(l, ID(4)) > 0);
    REQUIRE(move_create(l, &(struct new_task){.id = ID(5), .owner = OTHER, .priority = 3}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(6), .owner = OTHER, .max_running = 1}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(7), .tool = "u", .priority = 1}));
    (void)lua_redis(l, "HINCRBY %st:%s ct -5000", l->T, ID(7));
    REQUIRE(lua_do(l, "queue", "ls dl ix dq st : t|u|none"));
    CHECK(lua_count(l, "") == 16 + 3 * 5);
    for (int i = 0; i < 9; i++) {
        (void)snprintf(path, sizeof(path), "%d", i);
        CHECK(lua_is(l, path, want[i]));
    }
    CHECK(strtol(lua_at(l, "9"), NULL, 10) >= 5000);
    CHECK(lua_is(l, "10", "1"));
    CHECK(lua_is(l, "11", "0"));
    CHECK(strtol(lua_at(l, "13"), NULL, 10) >= 5000);
    CHECK(strtol(lua_at(l, "15"), NULL, 10) < 5000);
    CHECK(lua_is(l, "12", "0"));
    CHECK(lua_is(l, "16", "t"));
    CHECK(lua_is(l, "17", "0"));
    CHECK(lua_is(l, "20", "1"));
    CHECK(lua_is(l, "21", "u"));
    CHECK(lua_is(l, "23", "1"));
    CHECK(lua_is(l, "26", "none"));
    CHECK(lua_is(l, "27", "0"));
}

TEST(an_empty_installation_is_all_noughts)
{
    struct lua *l = lua_fresh();

    REQUIRE(lua_do(l, "queue", "ls dl ix dq st"));
    CHECK(lua_count(l, "") == 16);
    CHECK(lua_is(l, "0", "0"));
    CHECK(lua_is(l, "9", "0"));
}

TEST(what_has_ended_at_the_head_of_a_queue_is_not_the_oldest)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    (void)lua_redis(l, "HINCRBY %st:%s ct -5000", l->T, ID(1));
    REQUIRE(move_cancel(l, ID(1), OWNER));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(2)}));
    REQUIRE(lua_do(l, "queue", "ls dl ix dq st : t"));
    CHECK(strtol(lua_at(l, "9"), NULL, 10) < 5000);
}
