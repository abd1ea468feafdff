#include "tests/lib/moves.h"
#include "tests/lib/test.h"

TEST(what_has_decided_nothing_is_forgotten_and_what_came_since_is_not)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    fence = move_take(l, ID(1));
    REQUIRE(move_heard(l, ID(1), fence, 0));
    CHECK(lua_is(l, "0", "OK") && lua_is(l, "1", ""));
    REQUIRE(move_hook(l, ID(1), "one"));
    REQUIRE(move_heard(l, ID(1), fence, 0));
    CHECK(lua_is(l, "1", "3 one"));
    REQUIRE(move_hook(l, ID(1), "three"));
    for (int again = 0; again < 2; again++) {
        REQUIRE(move_heard(l, ID(1), fence, 5));
        CHECK(lua_is(l, "1", "5 three") && lua_is(l, "2", "5"));
        CHECK(field_is(l, ID(1), "cb", "5 three"));
    }
    REQUIRE(move_heard(l, ID(1), fence, 12));
    CHECK(lua_is(l, "1", "") && lua_is(l, "2", "12") && field_is(l, ID(1), "cb", "nil"));
    REQUIRE(move_hook(l, ID(1), "four"));
    REQUIRE(move_heard(l, ID(1), fence, 0));
    CHECK(lua_is(l, "1", "4 four") && lua_is(l, "2", "12"));
}

TEST(who_lost_the_task_hears_nothing)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    fence = move_take(l, ID(1));
    REQUIRE(move_hook(l, ID(1), "one"));
    REQUIRE(move_heard(l, ID(1), fence + 1, 5));
    CHECK(lua_is(l, "0", "STALE") && field_is(l, ID(1), "cb", "3 one"));
}
