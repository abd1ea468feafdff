#include "tests/lib/moves.h"
#include "tests/lib/test.h"

TEST(a_pool_is_noted_under_each_of_its_tools_and_rewritten_at_most_once_a_minute)
{
    struct lua *l = lua_fresh();
    int64_t at;

    REQUIRE(lua_do(l, "serve", "pl:a pl:b : p1|a|b"));
    CHECK(lua_is(l, "", "OK"));
    at = lua_int(l, "ZSCORE %spl:a p1", l->T);
    CHECK(at > 0);
    CHECK(lua_int(l, "ZSCORE %spl:b p1", l->T) == at);
    (void)lua_redis(l, "ZINCRBY %spl:a -30000 p1", l->T);
    REQUIRE(lua_do(l, "serve", "pl:a pl:b : p1|a|b"));
    CHECK(lua_int(l, "ZSCORE %spl:a p1", l->T) == at - 30000);
    (void)lua_redis(l, "ZINCRBY %spl:a -40000 p1", l->T);
    REQUIRE(lua_do(l, "serve", "pl:a pl:b : p1|a|b"));
    CHECK(lua_int(l, "ZSCORE %spl:a p1", l->T) >= at);
}

TEST(pools_that_are_gone_are_dropped_and_the_list_forgets_itself)
{
    struct lua *l = lua_fresh();

    (void)lua_redis(l, "ZADD %spl:a 1 old", l->T);
    REQUIRE(lua_do(l, "serve", "pl:a : p1|a"));
    CHECK(lua_int(l, "ZCARD %spl:a", l->T) == 1);
    CHECK(lua_int(l, "PTTL %spl:a", l->T) > 3600000);
}

TEST(R1_a_wrong_type_changes_nothing)
{
    struct lua *l = lua_fresh();

    (void)lua_redis(l, "SET %spl:b x", l->T);
    CHECK(!lua_do(l, "serve", "pl:a pl:b : p1|a|b"));
    CHECK(lua_int(l, "DBSIZE") == 1);
}
