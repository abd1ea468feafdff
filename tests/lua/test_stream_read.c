#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <string.h>

TEST(what_followed_an_entry_is_read_and_nothing_changes)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    REQUIRE(move_log(l, ID(1), fence, "info", "1"));
    REQUIRE(move_report(l, ID(1), fence, "half", NULL));
    REQUIRE(move_read(l, "get-1", "0"));
    REQUIRE(lua_count(l, "") == 6);
    CHECK(lua_is(l, "1", "d") && lua_is(l, "4", "t"));
    CHECK(strncmp(lua_at(l, "5"), "w 0 t L ", 8) == 0);
    CHECK(strstr(lua_at(l, "5"), " " ID(1) " t s1 4 0 -1\nhalf") != NULL);
    REQUIRE(move_read(l, "get-1", entry_at(l, "get-1", 0)));
    CHECK(lua_count(l, "") == 3);
    REQUIRE(move_read(l, "get-1", entry_at(l, "get-1", 1)));
    CHECK(lua_count(l, "") == 0);
}

TEST(a_stream_that_is_gone_or_a_place_that_is_none_gives_nothing)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_read(l, "get-1", "0"));
    CHECK(lua_count(l, "") == 0);
    REQUIRE(lua_redis(l, "XADD %ssx:get-1 1-1 d x", l->T));
    REQUIRE(move_read(l, "get-1", "x"));
    CHECK(lua_count(l, "") == 0);
    (void)lua_redis(l, "SET %ssx:get-2 x", l->T);
    CHECK(!move_read(l, "get-2", "0"));
}
