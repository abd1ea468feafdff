#include "tests/lib/moves.h"
#include "tests/lib/test.h"

static bool made(struct lua *l, const char *sid)
{
    return lua_do(l, "session_create",
                  "se:%s so:%s rl:%s : %s|%s|2025-11-25|{}|{\"name\":\"c\"}|300000|0|100", sid,
                  OWNER, OWNER, sid, OWNER);
}

TEST(what_may_change_is_changed_and_nothing_else)
{
    struct lua *l = lua_fresh();

    REQUIRE(made(l, "s1"));
    REQUIRE(lua_do(l, "session_set", "se:s1 : s1|in|1"));
    CHECK(lua_is(l, "", "1"));
    REQUIRE(lua_do(l, "session_set", "se:s1 : s1|lv|debug"));
    CHECK(lua_is(l, "", "1"));
    REQUIRE(lua_do(l, "session_set", "se:s1 : s1|lv|debug"));
    CHECK(lua_is(l, "", "1"));
    REQUIRE(lua_do(l, "session_set", "se:s1 : s1|o|%s", OTHER));
    CHECK(lua_is(l, "", "0"));
    REQUIRE(lua_do(l, "session_read", "se:s1 so:%s : s1|%s|300000", OWNER, OWNER));
    CHECK(lua_is(l, "4", "debug"));
    CHECK(lua_is(l, "5", "1"));
}

TEST(a_session_that_is_no_more_is_not_made_by_it)
{
    struct lua *l = lua_fresh();

    REQUIRE(lua_do(l, "session_set", "se:s1 : s1|in|1"));
    CHECK(lua_is(l, "", "0"));
    CHECK(lua_int(l, "DBSIZE") == 0);
}
