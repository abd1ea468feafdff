#include "tests/lib/moves.h"
#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static bool tell(struct lua *l, const char *uri)
{
    return lua_do(l, "watch_tell", "wu:%s wu:x://a : docs|%s|1|0|%s|x://a", uri, uri, uri);
}

static struct lua *watched(void)
{
    struct lua *l = lua_fresh();

    (void)move_session(l, "s1", OWNER);
    (void)move_open(l, "get-0001", 'g', "s1", NULL, "b1");
    (void)move_watch(l, "s1", "x://a");
    return l;
}

TEST(a_change_is_put_on_the_get_stream_of_whoever_watches)
{
    struct lua *l = watched();

    lua_listen(l, "b1");
    REQUIRE(tell(l, "x://a"));
    CHECK(lua_count(l, "") == 0);
    REQUIRE(lua_hear(l) == 1);
    CHECK(strstr(lua_message(l, 0), "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/"
                                    "updated\",\"params\":{\"uri\":\"x://a\"}}") != NULL);
    REQUIRE(move_read(l, "get-0001", "0"));
    CHECK(lua_count(l, "") == 3);
    lua_deafen(l, "b1");
}

TEST(a_part_is_told_to_who_watches_the_whole_and_once)
{
    struct lua *l = watched();

    REQUIRE(move_watch(l, "s1", "x://a/b"));
    lua_listen(l, "b1");
    REQUIRE(tell(l, "x://a/b"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strstr(lua_message(l, 0), "\"uri\":\"x://a/b\"") != NULL);
    lua_deafen(l, "b1");
}

TEST(another_servers_change_is_not_told)
{
    struct lua *l = watched();

    lua_listen(l, "b1");
    REQUIRE(lua_do(l, "watch_tell", "wu:x://a : other|x://a|1|0|x://a"));
    CHECK(lua_hear(l) == 0);
    CHECK(lua_int(l, "ZCARD %swu:x://a", l->T) == 1);
    lua_deafen(l, "b1");
}

TEST(a_session_that_has_ended_is_forgotten)
{
    struct lua *l = watched();

    REQUIRE(lua_do(l, "session_end", "se:s1 wt:s1 so:%s : s1|%s", OWNER, OWNER));
    REQUIRE(tell(l, "x://a"));
    CHECK(lua_int(l, "EXISTS %swu:x://a", l->T) == 0);
}

enum { MANY = 131 };

/* The n-th of many sessions that watch x://a is kept until then; only the last has a GET stream. */
static void watch_many(struct lua *l, unsigned first_ms, unsigned apart_ms)
{
    char sid[16] = "";

    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(sid, sizeof(sid), "t%03u", i);
        REQUIRE(move_session(l, sid, OWNER));
        REQUIRE(move_watch(l, sid, "x://a"));
    }
    REQUIRE(move_open(l, "get-last", 'g', sid, NULL, "b1"));
    for (unsigned i = 0; i < MANY; i++)
        REQUIRE(lua_redis(l, "ZADD %swu:x://a %u t%03u", l->T, first_ms + i * apart_ms, i));
}

static bool tell_on(struct lua *l, const char *after)
{
    return lua_do(l, "watch_tell", "wu:x://a : docs|x://a|1|%s|x://a", after);
}

TEST(many_are_told_some_at_a_time_and_none_is_passed_over_when_one_is_kept_anew)
{
    struct lua *l = lua_fresh();
    char after[32];

    watch_many(l, 1000, 1);
    REQUIRE(tell_on(l, "0"));
    REQUIRE(lua_is(l, "0", "1") && lua_count(l, "") == 2);
    (void)snprintf(after, sizeof(after), "%s", lua_at(l, "1"));
    CHECK(carried(l, "get-last") == 0);
    for (unsigned i = 0; i < MANY - 1; i++)
        REQUIRE(lua_do(l, "watch_list", "wt:t%03u : 60000|t%03u", i, i));
    REQUIRE(tell_on(l, after));
    CHECK(carried(l, "get-last") == 1);
}

TEST(those_who_are_kept_until_the_same_time_are_told_together)
{
    struct lua *l = lua_fresh();

    watch_many(l, 1000, 0);
    REQUIRE(tell_on(l, "0"));
    CHECK(lua_is(l, "0", "1") && lua_is(l, "1", "1000"));
    CHECK(carried(l, "get-last") == 1);
    REQUIRE(tell_on(l, "1000"));
    CHECK(lua_count(l, "") == 0 && carried(l, "get-last") == 1);
}

TEST(quotes_in_an_address_are_escaped)
{
    struct lua *l = watched();

    REQUIRE(move_watch(l, "s1", "x:\"\\"));
    lua_listen(l, "b1");
    REQUIRE(tell(l, "x:\"\\"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strstr(lua_message(l, 0), "\"uri\":\"x:\\u0022\\u005c\"") != NULL);
    lua_deafen(l, "b1");
}
