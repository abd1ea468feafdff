#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

TEST(the_oldest_task_that_a_worker_holds_comes_first)
{
    struct lua *l = lua_fresh();

    for (int i = 0; i < 2; i++) {
        REQUIRE(move_create(l, &(struct new_task){.id = i == 0 ? ID(1) : ID(2)}));
        REQUIRE(move_take(l, i == 0 ? ID(1) : ID(2)) > 0);
    }
    REQUIRE(move_create(l, &(struct new_task){.id = ID(3)})); /* waits */
    (void)lua_redis(l, "HINCRBY %st:%s ct -5000", l->T, ID(2));
    REQUIRE(lua_do(l, "running", "ls : 10"));
    CHECK(lua_count(l, "") == 14);
    CHECK(lua_is(l, "0", ID(2)));
    CHECK(lua_is(l, "1", "t"));
    CHECK(strtol(lua_at(l, "3"), NULL, 10) >= 5000);
    CHECK(lua_is(l, "4", "1"));
    CHECK(lua_is(l, "5", "0"));
    CHECK(lua_is(l, "6", ""));
    CHECK(lua_is(l, "7", ID(1)));
    REQUIRE(lua_do(l, "running", "ls : 1"));
    CHECK(lua_count(l, "") == 7);
}

TEST(what_has_ended_or_expired_is_not_running)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    fence = move_take(l, ID(1));
    REQUIRE(fence > 0);
    (void)lua_redis(l, "DEL %st:%s", l->T, ID(1));
    REQUIRE(lua_do(l, "running", "ls : 10"));
    CHECK(lua_count(l, "") == 0);
}
