#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <string.h>

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

TEST(one_who_goes_is_no_worker_any_more_and_its_tools_stay_for_the_grace_period)
{
    struct lua *l = global();

    REQUIRE(announce(l, "w1", 100, "one"));
    lua_listen(l, "all");
    REQUIRE(lua_do(l, "leave", "w:w1 ws tools seen tv : w1"));
    CHECK(lua_is(l, "", "1"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "L") == 0);
    REQUIRE(lua_do(l, "workers", "ws"));
    CHECK(lua_count(l, "") == 0);
    CHECK(lua_int(l, "EXISTS %sw:w1", l->T) == 0);
    CHECK(lua_int(l, "GET %stv", l->T) == 2);
    REQUIRE(lua_do(l, "tools", "tools seen : 60000"));
    CHECK(lua_count(l, "") == 6);
    lua_deafen(l, "all");
}
