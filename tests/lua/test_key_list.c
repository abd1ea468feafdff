#include "tests/lib/moves.h"
#include "tests/lib/test.h"

static struct lua *global(void)
{
    struct lua *l = lua_fresh();

    lua_use(l, "g");
    return l;
}

static bool add(struct lua *l, const char *name, const char *hash, const char *expires)
{
    return lua_do(l, "key_add", "key:%s kh:%s keys : %s|%s|tools:call tasks:read|1|%s", name, hash,
                  name, hash, expires);
}

TEST(keys_are_listed_by_name_and_those_that_have_ended_are_dropped)
{
    struct lua *l = global();

    REQUIRE(add(l, "b", "h1", "0"));
    REQUIRE(add(l, "a", "h2", "0"));
    REQUIRE(add(l, "c", "h3", "0"));
    (void)lua_redis(l, "DEL %skey:c", l->T);
    REQUIRE(lua_do(l, "key_list", "keys"));
    REQUIRE(lua_count(l, "") == 12);
    CHECK(lua_is(l, "0", "a"));
    CHECK(lua_is(l, "4", "0"));
    CHECK(lua_is(l, "6", "b"));
    CHECK(lua_int(l, "SCARD %skeys", l->T) == 2);
}
