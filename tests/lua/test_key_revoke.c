#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <string.h>

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

TEST(a_revoked_key_is_not_found_and_every_broker_is_told)
{
    struct lua *l = global();

    REQUIRE(add(l, "name", "hash", "0"));
    lua_listen(l, "all");
    REQUIRE(lua_do(l, "key_revoke", "key:name keys : name"));
    CHECK(lua_is(l, "", "1"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "P") == 0);
    REQUIRE(lua_do(l, "key_find", "kh:hash : hash"));
    CHECK(lua_is(l, "", "nil"));
    CHECK(lua_int(l, "DBSIZE") == 0);
    REQUIRE(lua_do(l, "key_revoke", "key:name keys : name"));
    CHECK(lua_is(l, "", "0"));
    CHECK(lua_hear(l) == 0);
    lua_deafen(l, "all");
}
