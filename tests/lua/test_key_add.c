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

TEST(a_key_is_added_once_and_every_broker_is_told)
{
    struct lua *l = global();

    lua_listen(l, "all");
    REQUIRE(add(l, "name", "hash", "0"));
    CHECK(lua_is(l, "", "OK"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "P") == 0);
    CHECK(lua_int(l, "PTTL %skey:name", l->T) == -1);
    REQUIRE(add(l, "name", "other", "0"));
    CHECK(lua_is(l, "", "EXISTS"));
    REQUIRE(add(l, "other", "hash", "0"));
    CHECK(lua_is(l, "", "EXISTS"));
    CHECK(lua_hear(l) == 0);
    CHECK(lua_int(l, "SCARD %skeys", l->T) == 1);
    lua_deafen(l, "all");
}

TEST(a_key_with_an_end_forgets_itself_and_its_name_is_free_again)
{
    struct lua *l = global();

    REQUIRE(add(l, "name", "hash", "99999999999999"));
    CHECK(lua_int(l, "PEXPIRETIME %skey:name", l->T) == 99999999999999);
    CHECK(lua_int(l, "PEXPIRETIME %skh:hash", l->T) == 99999999999999);
    (void)lua_redis(l, "DEL %skey:name %skh:hash", l->T, l->T);
    REQUIRE(add(l, "name", "hash2", "0"));
    CHECK(lua_is(l, "", "OK"));
}

TEST(R1_a_wrong_type_changes_nothing)
{
    struct lua *l = global();

    (void)lua_redis(l, "SET %skeys x", l->T);
    CHECK(!add(l, "name", "hash", "0"));
    CHECK(lua_int(l, "DBSIZE") == 1);
}
