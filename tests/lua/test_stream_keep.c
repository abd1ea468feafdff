#include "tests/lib/talk.h"
#include "tests/lib/test.h"

TEST(a_process_renews_what_it_holds_and_hears_what_it_lost)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    REQUIRE(move_open(l, "get-2", 'g', "s1", NULL, "b1"));
    REQUIRE(move_open(l, "get-3", 'g', "s1", NULL, "b1"));
    REQUIRE(lua_redis(l, "XADD %ssx:get-1 1-1 d x", l->T));
    REQUIRE(move_resume(l, "get-2", "0", "s1", "b2"));
    REQUIRE(move_drop(l, "get-3", "b1", 5000));
    (void)lua_redis(l, "SET %ssm:get-5 x", l->T);
    REQUIRE(lua_do(l, "stream_keep",
                   "sm:get-1 sm:get-2 sm:get-3 sm:get-4 sm:get-5 sx:get-1 sx:get-2 sx:get-3 "
                   "sx:get-4 sx:get-5 : b1|900000|get-1|get-2|get-3|get-4|get-5"));
    REQUIRE(lua_count(l, "") == 4);
    CHECK(lua_is(l, "0", "get-2") && lua_is(l, "1", "get-3"));
    CHECK(lua_is(l, "2", "get-4") && lua_is(l, "3", "get-5"));
    CHECK(lua_int(l, "PTTL %ssm:get-1", l->T) > 800000);
    CHECK(lua_int(l, "PTTL %ssx:get-1", l->T) > 800000);
    CHECK(lua_int(l, "PTTL %ssm:get-2", l->T) <= 600000);
    CHECK(lua_int(l, "PTTL %ssm:get-3", l->T) <= 5000);
}

TEST(nothing_held_is_nothing_lost)
{
    struct lua *l = lua_fresh();

    REQUIRE(lua_do(l, "stream_keep", " : b1|900000"));
    CHECK(lua_count(l, "") == 0);
}
