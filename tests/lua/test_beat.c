#include "tests/lib/moves.h"
#include "tests/lib/test.h"

TEST(a_held_lease_is_renewed_and_a_lost_one_named)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    fence = move_take(l, ID(1));
    lapse(l, ID(1));
    REQUIRE(move_beat(l, ID(1), fence, 5000));
    CHECK(lua_count(l, "") == 0);
    REQUIRE(move_tick(l));
    CHECK(is_at(l, ID(1), "running"));
    REQUIRE(move_beat(l, ID(1), fence + 1, 5000));
    CHECK(lua_is(l, "0", ID(1)));
    REQUIRE(move_beat(l, ID(2), 1, 5000));
    CHECK(lua_is(l, "0", ID(2)));
    REQUIRE(move_cancel(l, ID(1), OWNER));
    REQUIRE(move_beat(l, ID(1), fence + 1, 5000));
    CHECK(lua_is(l, "0", ID(1)));
    CHECK(lua_int(l, "EXISTS %sls", l->T) == 0);
}

TEST(a_reclaimed_task_is_not_held_by_the_one_who_lost_it)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    fence = move_take(l, ID(1));
    lapse(l, ID(1));
    REQUIRE(move_tick(l));
    REQUIRE(move_beat(l, ID(1), fence, 5000));
    CHECK(lua_is(l, "0", ID(1)));
    CHECK(is_at(l, ID(1), "delayed"));
}

TEST(a_lease_that_is_missing_is_healed_by_its_holder)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    fence = move_take(l, ID(1));
    (void)lua_redis(l, "ZREM %sls %s", l->T, ID(1));
    REQUIRE(move_beat(l, ID(1), fence, 5000));
    CHECK(is_at(l, ID(1), "running"));
}

TEST(nothing_held_is_nothing_lost)
{
    struct lua *l = lua_fresh();

    REQUIRE(lua_do(l, "beat", "ls : w1|5000"));
    CHECK(lua_count(l, "") == 0);
}

TEST(R1_a_wrong_type_is_an_error_or_a_lost_task)
{
    struct lua *l = lua_fresh();

    (void)lua_redis(l, "SET %sls x", l->T);
    CHECK(!move_beat(l, ID(1), 1, 5000));
    (void)lua_redis(l, "DEL %sls", l->T);
    (void)lua_redis(l, "SET %st:%s x", l->T, ID(1));
    REQUIRE(move_beat(l, ID(1), 1, 5000));
    CHECK(lua_is(l, "0", ID(1)));
}
