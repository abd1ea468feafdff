#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lua *global(void)
{
    struct lua *l = lua_fresh();

    lua_use(l, "g");
    return l;
}

static bool announce(struct lua *l, const char *wid, int started, const char *definition)
{
    return lua_do(l, "announce", "tools seen tv ws w:%s : %s|p|info|%d|t|digest-%s|{}|%s", wid, wid,
                  started, definition, definition);
}

TEST(tools_seen_within_the_grace_period_are_listed_by_name)
{
    struct lua *l = global();

    REQUIRE(lua_do(l, "tools", "tools seen : 60000"));
    CHECK(lua_count(l, "") == 1);
    CHECK(strlen(lua_at(l, "0")) == 40);
    REQUIRE(announce(l, "w1", 100, "one"));
    REQUIRE(
        lua_do(l, "announce", "tools seen tv ws w:w2 : w2|q|i|1|b|d|pol b|def b|a|d|pol a|def a"));
    REQUIRE(lua_do(l, "tools", "tools seen : 60000"));
    REQUIRE(lua_count(l, "") == 16);
    CHECK(lua_is(l, "1", "a"));
    CHECK(lua_is(l, "3", "0"));
    CHECK(lua_is(l, "4", "pol a"));
    CHECK(lua_is(l, "5", "def a"));
    CHECK(lua_is(l, "6", "b"));
    CHECK(lua_is(l, "11", "t"));
    (void)lua_redis(l, "DEL %sw:w2", l->T);
    (void)lua_redis(l, "ZINCRBY %sseen -5000 b", l->T);
    REQUIRE(lua_do(l, "tools", "tools seen : 4000"));
    CHECK(lua_count(l, "") == 11);
    CHECK(lua_is(l, "6", "t"));
    REQUIRE(lua_do(l, "tools", "tools seen : 60000"));
    CHECK(strtol(lua_at(l, "7"), NULL, 10) >= 5000);
}

TEST(a_tool_of_a_live_worker_is_listed_however_short_the_grace)
{
    struct lua *l = global();

    REQUIRE(announce(l, "w1", 100, "one"));
    (void)lua_redis(l, "ZINCRBY %sseen -5000 t", l->T); /* it announces every three seconds */
    REQUIRE(lua_do(l, "tools", "tools seen : 1000"));
    CHECK(lua_count(l, "") == 6);
    REQUIRE(lua_do(l, "leave", "w:w1 ws tools seen tv : w1"));
    REQUIRE(lua_do(l, "tools", "tools seen : 1000"));
    CHECK(lua_count(l, "") == 1);
    REQUIRE(lua_do(l, "tools", "tools seen : 60000"));
    CHECK(lua_count(l, "") == 6);
}

TEST(a_conflict_is_shown_while_it_is_fresh)
{
    struct lua *l = global();

    REQUIRE(announce(l, "w1", 100, "one"));
    REQUIRE(announce(l, "w2", 200, "two"));
    REQUIRE(lua_do(l, "tools", "tools seen : 60000"));
    CHECK(lua_count(l, "") == 6);
    CHECK(lua_is(l, "3", "1"));
    (void)lua_redis(l, "ZINCRBY %sseen -16000 %s", l->T, " t");
    REQUIRE(lua_do(l, "tools", "tools seen : 60000"));
    CHECK(lua_is(l, "3", "0"));
}

/* The mark of all there is, kept until the next call of this. */
static const char *mark(struct lua *l)
{
    static char text[64];

    (void)lua_do(l, "tools", "tools seen : 60000");
    (void)snprintf(text, sizeof(text), "%s", lua_at(l, "0"));
    return text;
}

static bool is_known(struct lua *l, const char *known)
{
    return lua_do(l, "tools", "tools seen : 60000|%s", known) && lua_count(l, "") == 1 &&
           lua_is(l, "0", known);
}

TEST(what_is_known_already_is_not_sent_again_until_it_changes)
{
    struct lua *l = global();
    const char *known;

    CHECK(is_known(l, mark(l)));
    REQUIRE(announce(l, "w1", 100, "one"));
    known = mark(l);
    CHECK(!is_known(l, "") && is_known(l, known));
    REQUIRE(announce(l, "w1", 100, "one"));
    CHECK(is_known(l, known)); /* that it lives changes nothing */
    REQUIRE(announce(l, "w2", 200, "two"));
    CHECK(!is_known(l, known));
    known = mark(l);
    (void)lua_redis(l, "ZINCRBY %sseen -16000 %s", l->T, " t"); /* the conflict is over */
    CHECK(!is_known(l, known));
    known = mark(l);
    (void)lua_redis(l, "ZINCRBY %sseen -61000 t", l->T); /* it is gone */
    CHECK(!is_known(l, known));
}
