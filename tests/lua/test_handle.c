#include "tests/lib/moves.h"
#include "tests/lib/test.h"

static unsigned started(struct lua *l, const char *id)
{
    return move_create(l, &(struct new_task){.id = id}) ? move_take(l, id) : 0;
}

TEST(a_later_attempt_is_given_the_handle)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));
    struct hand h = {.wid = "w2"};

    REQUIRE(move_handle(l, ID(1), fence, "job-7"));
    CHECK(lua_is(l, "", "OK"));
    CHECK(field_is(l, ID(1), "v", "nil"));
    lapse(l, ID(1));
    REQUIRE(move_tick(l));
    come_due(l, ID(1));
    REQUIRE(move_tick(l));
    REQUIRE(move_claim(l, &h, 1));
    CHECK(lua_is(l, "0.2", "2"));
    CHECK(lua_is(l, "0.10", "job-7"));
}

TEST(one_who_lost_the_task_stores_no_handle)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    REQUIRE(move_handle(l, ID(1), fence - 1, "job-7"));
    CHECK(lua_is(l, "", "STALE"));
    CHECK(field_is(l, ID(1), "hd", "nil"));
    REQUIRE(move_handle(l, ID(2), fence, "job-7"));
    CHECK(lua_is(l, "", "GONE"));
    CHECK(lua_int(l, "EXISTS %st:%s", l->T, ID(2)) == 0);
}

TEST(an_empty_handle_is_none)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    REQUIRE(move_handle(l, ID(1), fence, "job-7"));
    REQUIRE(move_handle(l, ID(1), fence, ""));
    CHECK(field_is(l, ID(1), "hd", "nil"));
}
