#include "tests/lib/moves.h"
#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <string.h>

TEST(what_sessions_watch_is_told_and_kept_for_longer)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_session(l, "s2", OWNER));
    REQUIRE(move_watch(l, "s1", "x://a"));
    REQUIRE(move_watch(l, "s2", "x://b"));
    REQUIRE(lua_do(l, "watch_list", "wt:s1 wt:none wt:s2 se:s1 se:none se:s2 : 900000|s1|none|s2"));
    CHECK(lua_count(l, "") == 6);
    CHECK(lua_is(l, "0", OWNER) && lua_is(l, "1", "docs") && lua_is(l, "2", "x://a"));
    CHECK(lua_is(l, "3", OWNER) && lua_is(l, "4", "docs") && lua_is(l, "5", "x://b"));
    CHECK(lua_int(l, "PTTL %swt:s1", l->T) > 800000);
    CHECK(lua_int(l, "PTTL %swu:x://b", l->T) > 800000);
    CHECK(lua_int(l, "EXISTS %swt:none", l->T) == 0);
}
