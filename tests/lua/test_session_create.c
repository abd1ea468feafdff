#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

static bool made(struct lua *l, const char *sid)
{
    return lua_do(l, "session_create",
                  "se:%s so:%s rl:%s : %s|%s|2025-11-25|{}|{\"name\":\"c\"}|300000|0|100", sid,
                  OWNER, OWNER, sid, OWNER);
}

TEST(a_session_is_stored_with_a_life)
{
    struct lua *l = lua_fresh();

    REQUIRE(made(l, "s1"));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(lua_int(l, "PTTL %sse:s1", l->T) > 290000);
    REQUIRE(lua_do(l, "session_read", "se:s1 so:%s : s1|%s|300000", OWNER, OWNER));
    CHECK(lua_count(l, "") == 6);
    CHECK(lua_is(l, "0", OWNER));
    CHECK(lua_is(l, "1", "2025-11-25"));
    CHECK(lua_is(l, "2", "{}"));
    CHECK(lua_is(l, "3", "{\"name\":\"c\"}"));
    CHECK(lua_is(l, "4", ""));
    CHECK(lua_is(l, "5", ""));
}

TEST(R1_a_wrong_type_is_an_error)
{
    struct lua *l = lua_fresh();

    (void)lua_redis(l, "SET %sse:s1 x", l->T);
    CHECK(!made(l, "s1"));
}

static bool made_of_three(struct lua *l, const char *sid, const char *owner)
{
    return lua_do(l, "session_create", "se:%s so:%s rl:%s : %s|%s|v|{}|{}|300000|0|3", sid, owner,
                  owner, sid, owner);
}

/* Nobody has used it for so long as that. */
static void idle(struct lua *l, const char *sid, int ms)
{
    (void)lua_redis(l, "PEXPIRE %sse:%s %d", l->T, sid, 300000 - ms);
    (void)lua_redis(l, "ZINCRBY %sso:%s %d %s", l->T, OWNER, -ms, sid);
}

static bool is_there(struct lua *l, const char *sid)
{
    return lua_int(l, "EXISTS %sse:%s", l->T, sid) == 1;
}

TEST(an_owner_with_as_many_as_it_may_have_loses_the_one_that_was_idle_for_longest)
{
    struct lua *l = lua_fresh();

    REQUIRE(made_of_three(l, "s1", OWNER) && made_of_three(l, "s2", OWNER));
    REQUIRE(made_of_three(l, "s3", OWNER) && made_of_three(l, "s4", OTHER));
    CHECK(is_there(l, "s1") && is_there(l, "s2") && is_there(l, "s3"));
    idle(l, "s1", 90000);
    idle(l, "s2", 80000);
    REQUIRE(lua_do(l, "watch_add", "wt:s2 wu:x se:s2 : s2|%s|x|docs|9|60000", OWNER));
    REQUIRE(lua_do(l, "session_read", "se:s1 so:%s : s1|%s|300000", OWNER, OWNER));
    lua_listen(l, "all");
    REQUIRE(made_of_three(l, "s5", OWNER));
    CHECK(is_there(l, "s1") && !is_there(l, "s2") && is_there(l, "s3") && is_there(l, "s5"));
    CHECK(is_there(l, "s4") && lua_int(l, "EXISTS %swt:s2", l->T) == 0);
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "E s2") == 0);
    lua_deafen(l, "all");
    CHECK(lua_int(l, "ZCARD %sso:%s", l->T, OWNER) == 3);
    CHECK(lua_int(l, "PTTL %sso:%s", l->T, OWNER) > 290000);
}

TEST(what_has_expired_or_was_ended_makes_room)
{
    struct lua *l = lua_fresh();

    REQUIRE(made_of_three(l, "s1", OWNER) && made_of_three(l, "s2", OWNER));
    REQUIRE(made_of_three(l, "s3", OWNER));
    (void)lua_redis(l, "DEL %sse:s3", l->T);
    (void)lua_redis(l, "ZADD %sso:%s 1 s3", l->T, OWNER);
    REQUIRE(made_of_three(l, "s4", OWNER));
    REQUIRE(lua_do(l, "session_end", "se:s4 wt:s4 so:%s : s4|%s", OWNER, OWNER));
    REQUIRE(made_of_three(l, "s5", OWNER));
    CHECK(is_there(l, "s1") && is_there(l, "s2") && is_there(l, "s5"));
}

TEST(B20_it_counts_against_its_owners_rate)
{
    struct lua *l = lua_fresh();

    REQUIRE(lua_do(l, "session_create", "se:s1 so:o rl:o : s1|o|v|{}|{}|300000|10|9"));
    REQUIRE(lua_do(l, "session_create", "se:s2 so:o rl:o : s2|o|v|{}|{}|300000|10|9"));
    CHECK(lua_is(l, "0", "RATE") && strtol(lua_at(l, "1"), NULL, 10) <= 100000);
    CHECK(!is_there(l, "s2") && lua_int(l, "ZCARD %sso:o", l->T) == 1);
}
