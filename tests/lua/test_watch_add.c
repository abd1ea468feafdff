#include "tests/lib/moves.h"
#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <string.h>

TEST(what_a_session_watches_is_found_by_session_and_by_resource)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_watch(l, "s1", "x://a"));
    CHECK(lua_is(l, "", "OK"));
    REQUIRE(lua_redis(l, "HGET %swt:s1 x://a", l->T));
    CHECK(lua_is(l, "", "docs"));
    CHECK(lua_int(l, "ZCARD %swu:x://a", l->T) == 1);
    CHECK(lua_int(l, "PTTL %swt:s1", l->T) > 50000);
    CHECK(lua_int(l, "PTTL %swu:x://a", l->T) > 50000);
}

TEST(a_foreign_or_unknown_session_watches_nothing)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_session(l, "s1", OTHER));
    REQUIRE(move_watch(l, "s1", "x://a"));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_watch(l, "s2", "x://a"));
    CHECK(lua_is(l, "", "nil"));
    CHECK(lua_int(l, "DBSIZE") == 2); /* the session and the list of its owner */
}

TEST(a_session_watches_so_many_and_no_more)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_watch(l, "s1", "x://a"));
    REQUIRE(move_watch(l, "s1", "x://b"));
    REQUIRE(move_watch(l, "s1", "x://c"));
    CHECK(lua_is(l, "", "LIMIT"));
    REQUIRE(move_watch(l, "s1", "x://b"));
    CHECK(lua_is(l, "", "OK"));
    CHECK(lua_int(l, "HLEN %swt:s1", l->T) == 2);
}

TEST(a_session_that_is_kept_no_more_makes_room_for_the_next)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_session(l, "s2", OWNER));
    REQUIRE(move_watch(l, "s1", "x://a"));
    (void)lua_redis(l, "ZADD %swu:x://a 1 ended", l->T);
    REQUIRE(move_watch(l, "s2", "x://a"));
    CHECK(lua_int(l, "ZCARD %swu:x://a", l->T) == 2);
    CHECK(lua_int(l, "ZCOUNT %swu:x://a -inf 1", l->T) == 0);
}

TEST(R1_a_wrong_type_changes_nothing)
{
    static const char *const keys[] = {"wt:s1", "wu:x://a"};
    struct lua *l = lua_fresh();

    for (size_t i = 0; i < 2; i++) {
        lua_flush(l);
        REQUIRE(move_session(l, "s1", OWNER));
        (void)lua_redis(l, "SET %s%s x", l->T, keys[i]);
        CHECK(!move_watch(l, "s1", "x://a"));
        CHECK(lua_int(l, "DBSIZE") == 3); /* and the session, and the list of its owner */
    }
}
