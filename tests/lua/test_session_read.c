#include "tests/lib/moves.h"
#include "tests/lib/test.h"

static bool made(struct lua *l, const char *sid)
{
    return lua_do(l, "session_create",
                  "se:%s so:%s rl:%s : %s|%s|2025-11-25|{}|{\"name\":\"c\"}|300000|0|100", sid,
                  OWNER, OWNER, sid, OWNER);
}

TEST(H_35_a_foreign_session_and_no_session_are_the_same_answer)
{
    struct lua *l = lua_fresh();

    REQUIRE(made(l, "s1"));
    REQUIRE(lua_do(l, "session_read", "se:s1 so:%s : s1|%s|300000", OTHER, OTHER));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(lua_do(l, "session_read", "se:s2 so:%s : s2|%s|300000", OTHER, OTHER));
    CHECK(lua_is(l, "", "nil"));
}

TEST(its_life_is_renewed_at_most_once_a_minute)
{
    struct lua *l = lua_fresh();

    REQUIRE(made(l, "s1"));
    (void)lua_redis(l, "PEXPIRE %sse:s1 250000", l->T);
    REQUIRE(lua_do(l, "session_read", "se:s1 so:%s : s1|%s|300000", OWNER, OWNER));
    CHECK(lua_int(l, "PTTL %sse:s1", l->T) <= 250000);
    (void)lua_redis(l, "PEXPIRE %sse:s1 239000", l->T);
    REQUIRE(lua_do(l, "session_read", "se:s1 so:%s : s1|%s|300000", OWNER, OWNER));
    CHECK(lua_int(l, "PTTL %sse:s1", l->T) > 290000);
}

TEST(a_short_life_is_renewed_when_half_of_it_has_gone)
{
    struct lua *l = lua_fresh();

    REQUIRE(made(l, "s1"));
    (void)lua_redis(l, "PEXPIRE %sse:s1 4000", l->T);
    REQUIRE(lua_do(l, "session_read", "se:s1 so:%s : s1|%s|10000", OWNER, OWNER));
    CHECK(lua_int(l, "PTTL %sse:s1", l->T) > 5000);
}

TEST(reading_for_another_owner_renews_nothing)
{
    struct lua *l = lua_fresh();

    REQUIRE(made(l, "s1"));
    (void)lua_redis(l, "PEXPIRE %sse:s1 4000", l->T);
    REQUIRE(lua_do(l, "session_read", "se:s1 so:%s : s1|%s|10000", OTHER, OTHER));
    CHECK(lua_int(l, "PTTL %sse:s1", l->T) <= 4000);
}
