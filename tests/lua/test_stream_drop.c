#include "tests/lib/talk.h"
#include "tests/lib/test.h"

TEST(only_the_holder_lets_go_and_the_record_stays_for_a_while)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    REQUIRE(lua_redis(l, "XADD %ssx:get-1 1-1 d x", l->T));
    REQUIRE(move_drop(l, "get-1", "b2", 5000));
    CHECK(lua_is(l, "", "0"));
    CHECK(lua_int(l, "PTTL %ssm:get-1", l->T) > 5000);
    REQUIRE(move_drop(l, "get-1", "b1", 5000));
    CHECK(lua_is(l, "", "1"));
    (void)lua_redis(l, "HGET %ssm:get-1 b", l->T);
    CHECK(lua_is(l, "", ""));
    CHECK(lua_int(l, "PTTL %ssm:get-1", l->T) <= 5000);
    CHECK(lua_int(l, "PTTL %ssx:get-1", l->T) <= 5000);
    REQUIRE(move_drop(l, "get-1", "b1", 5000));
    CHECK(lua_is(l, "", "0"));
    REQUIRE(move_drop(l, "get-9", "b1", 5000));
    CHECK(lua_is(l, "", "0"));
}

static bool leads(struct lua *l, const char *stream)
{
    (void)lua_redis(l, "HGET %sse:s1 gs", l->T);
    return lua_is(l, "", stream);
}

TEST(H_21_when_the_newest_GET_stream_is_left_the_newest_of_the_others_that_is_held_leads_again)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    REQUIRE(move_open(l, "get-2", 'g', "s1", NULL, "b2"));
    REQUIRE(move_open(l, "get-3", 'g', "s1", NULL, "b3"));
    lua_listen(l, "b1");
    lua_listen(l, "b2");
    REQUIRE(move_drop(l, "get-2", "b2", 5000)); /* it did not lead */
    CHECK(leads(l, "get-3") && lua_hear(l) == 0);
    REQUIRE(move_drop(l, "get-3", "b3", 5000));
    CHECK(leads(l, "get-1"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "A get-1") == 0);
    REQUIRE(move_drop(l, "get-1", "b1", 5000)); /* nobody is left: it collects */
    CHECK(leads(l, "get-1") && lua_hear(l) == 0);
    REQUIRE(move_resume(l, "get-2", "0", "s1", "b2"));
    CHECK(leads(l, "get-2"));
    REQUIRE(move_resume(l, "get-3", "0", "s1", "b3"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "V get-2") == 0);
    REQUIRE(move_drop(l, "get-3", "b3", 5000));
    CHECK(leads(l, "get-2"));
    lua_deafen(l, "b1");
    lua_deafen(l, "b2");
}

TEST(a_stream_that_ends_with_its_session_leaves_none_behind)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    REQUIRE(move_open(l, "get-2", 'g', "s1", NULL, "b2"));
    REQUIRE(lua_do(l, "session_end", "se:s1 wt:s1 so:%s : s1|%s", OWNER, OWNER));
    REQUIRE(move_drop(l, "get-2", "b2", 1));
    CHECK(lua_int(l, "EXISTS %sse:s1", l->T) == 0);
}

TEST(R1_a_wrong_type_is_an_error)
{
    struct lua *l = lua_fresh();

    (void)lua_redis(l, "SET %ssm:get-1 x", l->T);
    CHECK(!move_drop(l, "get-1", "b1", 5000));
}
