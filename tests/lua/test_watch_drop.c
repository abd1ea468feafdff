#include "tests/lib/moves.h"
#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <string.h>

TEST(what_is_dropped_is_gone_under_both_names)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_watch(l, "s1", "x://a"));
    REQUIRE(lua_do(l, "watch_drop", "wt:s1 wu:x://a : s1|x://a"));
    CHECK(lua_is(l, "", "1"));
    CHECK(lua_int(l, "DBSIZE") == 2); /* the session and the list of its owner */
    REQUIRE(lua_do(l, "watch_drop", "wt:s1 wu:x://a : s1|x://a"));
    CHECK(lua_is(l, "", "0"));
}
