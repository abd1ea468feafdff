#include "tests/lib/moves.h"
#include "tests/lib/test.h"

static struct lua *global(void)
{
    struct lua *l = lua_fresh();

    lua_use(l, "g");
    return l;
}

TEST(the_first_process_makes_the_record_and_the_others_find_it)
{
    struct lua *l = global();

    REQUIRE(lua_do(l, "boot", "conf : 4|secret-1"));
    CHECK(lua_is(l, "0", "4"));
    CHECK(lua_is(l, "1", "secret-1"));
    CHECK(lua_is(l, "2", "1"));
    REQUIRE(lua_do(l, "boot", "conf : 8|secret-2"));
    CHECK(lua_is(l, "0", "4"));
    CHECK(lua_is(l, "1", "secret-1"));
    CHECK(lua_is(l, "2", "0"));
    CHECK(lua_int(l, "HEXISTS %sconf made", l->T) == 1);
    CHECK(lua_int(l, "PTTL %sconf", l->T) == -1);
}

TEST(nothing_said_is_one_partition_and_no_secret)
{
    struct lua *l = global();

    REQUIRE(lua_do(l, "boot", "conf : 0|"));
    CHECK(lua_is(l, "0", "1"));
    CHECK(lua_is(l, "1", ""));
    CHECK(lua_int(l, "HEXISTS %sconf secret", l->T) == 0);
    REQUIRE(lua_do(l, "boot", "conf : 0|later"));
    CHECK(lua_is(l, "1", "later"));
    CHECK(lua_is(l, "2", "0"));
}

TEST(a_secret_is_any_bytes)
{
    struct lua *l = global();

    lua_fn(l, "boot");
    lua_key(l, "conf");
    lua_arg(l, "1");
    lua_bytes(l, (struct span){"\x01\xff\r\n\x7f;]", 7});
    REQUIRE(lua_go(l));
    CHECK(lua_is(l, "1", "\x01\xff\r\n\x7f;]"));
}

TEST(R1_a_wrong_type_is_an_error)
{
    struct lua *l = global();

    (void)lua_redis(l, "SET %sconf x", l->T);
    CHECK(!lua_do(l, "boot", "conf : 1|s"));
}
