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

TEST(a_key_is_found_by_its_hash_only)
{
    struct lua *l = global();

    REQUIRE(add(l, "name", "hash", "99999999999999"));
    REQUIRE(lua_do(l, "key_find", "kh:hash : hash"));
    REQUIRE(lua_count(l, "") == 6);
    CHECK(lua_is(l, "0", "name"));
    CHECK(lua_is(l, "1", "tools:call tasks:read"));
    CHECK(lua_is(l, "2", "1"));
    CHECK(lua_is(l, "4", "99999999999999"));
    CHECK(lua_is(l, "5", "0"));
    REQUIRE(lua_do(l, "key_find", "kh:other : other"));
    CHECK(lua_is(l, "", "nil"));
    (void)lua_redis(l, "DEL %skey:name", l->T);
    REQUIRE(lua_do(l, "key_find", "kh:hash : hash"));
    CHECK(lua_is(l, "", "nil"));
}
