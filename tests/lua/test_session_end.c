#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <string.h>

static bool made(struct lua *l, const char *sid)
{
    return lua_do(l, "session_create",
                  "se:%s so:%s rl:%s : %s|%s|2025-11-25|{}|{\"name\":\"c\"}|300000|0|100", sid,
                  OWNER, OWNER, sid, OWNER);
}

TEST(an_ended_session_is_gone_and_every_broker_is_told)
{
    struct lua *l = lua_fresh();

    lua_listen(l, "all");
    REQUIRE(made(l, "s1"));
    REQUIRE(lua_do(l, "session_end", "se:s1 wt:s1 so:%s : s1|%s", OTHER, OTHER));
    CHECK(lua_is(l, "", "0"));
    CHECK(lua_hear(l) == 0);
    REQUIRE(lua_do(l, "session_end", "se:s1 wt:s1 so:%s : s1|%s", OWNER, OWNER));
    CHECK(lua_is(l, "", "1"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_channel(l, 0), "all") == 0);
    CHECK(strcmp(lua_message(l, 0), "E s1") == 0);
    CHECK(lua_int(l, "DBSIZE") == 0);
    REQUIRE(lua_do(l, "session_end", "se:s1 wt:s1 so:%s : s1|%s", OWNER, OWNER));
    CHECK(lua_is(l, "", "0"));
    lua_deafen(l, "all");
}

TEST(H_30_its_tasks_live_on)
{
    struct lua *l = lua_fresh();

    REQUIRE(made(l, "s1"));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .session = "s1"}));
    REQUIRE(lua_do(l, "session_end", "se:s1 wt:s1 so:%s : s1|%s", OWNER, OWNER));
    CHECK(is_at(l, ID(1), "ready"));
    CHECK(strcmp(move_end(l, ID(1), move_take(l, ID(1)), "1"), "OK") == 0);
}

TEST(what_it_watched_goes_with_it)
{
    struct lua *l = lua_fresh();

    REQUIRE(made(l, "s1"));
    REQUIRE(lua_do(l, "watch_add", "wt:s1 wu:x://a se:s1 : s1|%s|x://a|docs|9|60000", OWNER));
    REQUIRE(lua_do(l, "session_end", "se:s1 wt:s1 so:%s : s1|%s", OWNER, OWNER));
    CHECK(lua_int(l, "EXISTS %swt:s1", l->T) == 0);
}
