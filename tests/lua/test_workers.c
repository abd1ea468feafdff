#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <stdlib.h>

static struct lua *global(void)
{
    struct lua *l = lua_fresh();

    lua_use(l, "g");
    return l;
}

static bool announce(struct lua *l, const char *wid, int started, const char *definition)
{
    return lua_do(l, "announce", "tools seen tv ws w:%s : %s|p|info|%d|t|digest-%s|{}|%s", wid, wid,
                  started, definition, definition);
}

TEST(live_workers_are_told_with_what_they_said)
{
    struct lua *l = global();

    REQUIRE(announce(l, "w1", 100, "one"));
    REQUIRE(announce(l, "w2", 200, "one"));
    (void)lua_redis(l, "HINCRBY %sw:w2 at -3000", l->T);
    REQUIRE(lua_do(l, "workers", "ws"));
    REQUIRE(lua_count(l, "") == 10);
    CHECK(lua_is(l, "0", "w1"));
    CHECK(lua_is(l, "1", "p"));
    CHECK(lua_is(l, "2", "info"));
    CHECK(lua_is(l, "3", "100"));
    CHECK(lua_is(l, "5", "w2"));
    CHECK(strtol(lua_at(l, "9"), NULL, 10) >= 3000);
}

TEST(one_that_has_not_been_seen_for_15_s_is_not_told)
{
    struct lua *l = global();

    REQUIRE(announce(l, "w1", 100, "one"));
    (void)lua_redis(l, "DEL %sw:w1", l->T);
    REQUIRE(lua_do(l, "workers", "ws"));
    CHECK(lua_count(l, "") == 0);
}
