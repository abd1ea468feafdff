#include "tests/lib/moves.h"
#include "tests/lib/test.h"

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

static const char *listed(struct lua *l)
{
    (void)lua_do(l, "tools", "tools seen : 60000");
    return lua_at(l, "5");
}

TEST(a_worker_and_its_tool_are_known_from_then_on)
{
    struct lua *l = global();

    lua_listen(l, "all");
    REQUIRE(announce(l, "w1", 100, "one"));
    CHECK(lua_count(l, "0") == 0);
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "L") == 0);
    CHECK(strcmp(listed(l), "one") == 0);
    CHECK(lua_int(l, "PTTL %sw:w1", l->T) > 10000);
    CHECK(lua_int(l, "PTTL %sw:w1", l->T) <= 15000);
    REQUIRE(announce(l, "w1", 100, "one"));
    CHECK(lua_hear(l) == 0);
    CHECK(lua_int(l, "GET %stv", l->T) == 1);
    lua_deafen(l, "all");
}

TEST(of_two_definitions_the_later_started_workers_is_listed_and_both_are_told)
{
    struct lua *l = global();

    REQUIRE(announce(l, "w1", 100, "one"));
    lua_listen(l, "all");
    REQUIRE(announce(l, "w2", 200, "two"));
    CHECK(lua_is(l, "0.0", "t"));
    CHECK(lua_hear(l) == 1);
    CHECK(strcmp(listed(l), "two") == 0);
    REQUIRE(announce(l, "w1", 100, "one"));
    CHECK(lua_is(l, "0.0", "t"));
    CHECK(lua_hear(l) == 0);
    CHECK(strcmp(listed(l), "two") == 0);
    CHECK(lua_is(l, "3", "1"));
    REQUIRE(announce(l, "w2", 200, "two"));
    CHECK(lua_is(l, "0.0", "t"));
    lua_deafen(l, "all");
}

TEST(one_who_announces_first_but_started_later_hears_of_the_conflict_too)
{
    struct lua *l = global();

    REQUIRE(announce(l, "w2", 200, "two"));
    REQUIRE(announce(l, "w1", 100, "one"));
    CHECK(lua_is(l, "0.0", "t"));
    CHECK(strcmp(listed(l), "two") == 0);
    REQUIRE(announce(l, "w2", 200, "two"));
    CHECK(lua_is(l, "0.0", "t"));
}

TEST(when_the_listed_worker_is_gone_a_living_one_takes_its_place)
{
    struct lua *l = global();

    REQUIRE(announce(l, "w1", 100, "one"));
    REQUIRE(announce(l, "w2", 200, "two"));
    (void)lua_redis(l, "DEL %sw:w2", l->T);
    (void)lua_redis(l, "ZADD %sseen 1 %s", l->T, " t");
    lua_listen(l, "all");
    REQUIRE(announce(l, "w1", 100, "one"));
    CHECK(lua_count(l, "0") == 0);
    CHECK(lua_hear(l) == 1);
    CHECK(strcmp(listed(l), "one") == 0);
    CHECK(lua_is(l, "3", "0"));
    lua_deafen(l, "all");
}

TEST(the_same_definition_from_many_workers_is_no_conflict_and_no_news)
{
    struct lua *l = global();

    REQUIRE(announce(l, "w1", 100, "one"));
    lua_listen(l, "all");
    REQUIRE(announce(l, "w2", 200, "one"));
    CHECK(lua_count(l, "0") == 0);
    REQUIRE(announce(l, "w1", 100, "one"));
    CHECK(lua_count(l, "0") == 0);
    CHECK(lua_hear(l) == 0);
    lua_deafen(l, "all");
}

TEST(a_tool_unseen_for_a_while_is_news_when_it_comes_back)
{
    struct lua *l = global();

    REQUIRE(announce(l, "w1", 100, "one"));
    lua_listen(l, "all");
    (void)lua_redis(l, "ZINCRBY %sseen -11000 t", l->T);
    REQUIRE(announce(l, "w1", 100, "one"));
    CHECK(lua_hear(l) == 1);
    lua_deafen(l, "all");
}

TEST(a_tool_unseen_for_an_hour_is_removed)
{
    struct lua *l = global();

    REQUIRE(announce(l, "w1", 100, "one"));
    REQUIRE(lua_do(l, "announce", "tools seen tv ws w:w2 : w2|q|info|1|old|d|{}|{}"));
    (void)lua_redis(l, "ZINCRBY %sseen -3600001 old", l->T);
    REQUIRE(announce(l, "w1", 100, "one"));
    CHECK(lua_int(l, "HEXISTS %stools old", l->T) == 0);
    CHECK(lua_int(l, "ZCARD %sseen", l->T) == 1);
}

TEST(definitions_are_any_bytes)
{
    struct lua *l = global();

    lua_fn(l, "announce");
    lua_key(l, "tools");
    lua_key(l, "seen");
    lua_key(l, "tv");
    lua_key(l, "ws");
    lua_key(l, "w:w1");
    lua_arg(l, "w1");
    lua_arg(l, "p");
    lua_arg(l, "i n f o");
    lua_arg(l, "5");
    lua_arg(l, "t");
    lua_arg(l, "d");
    lua_bytes(l, SPAN("{\"a\": \"b c\"}\n"));
    lua_bytes(l, SPAN("{ \"name\":\"t\" }\n\xc3\xa4"));
    REQUIRE(lua_go(l));
    CHECK(strcmp(listed(l), "{ \"name\":\"t\" }\n\xc3\xa4") == 0);
    CHECK(lua_is(l, "4", "{\"a\": \"b c\"}\n"));
}

static bool announce_other(struct lua *l, const char *wid, const char *name)
{
    return lua_do(l, "announce", "tools seen tv ws w:%s : %s|p|info|300|%s|d|{}|other", wid, wid,
                  name);
}

TEST(a_tool_that_its_worker_serves_no_more_is_listed_no_more)
{
    struct lua *l = global();

    REQUIRE(announce(l, "w1", 100, "one"));
    lua_listen(l, "all");
    REQUIRE(announce_other(l, "w1", "u"));
    CHECK(lua_hear(l) == 1);
    CHECK(strcmp(listed(l), "other") == 0);
    CHECK(lua_int(l, "HEXISTS %stools t", l->T) == 0);
    CHECK(lua_int(l, "ZCARD %sseen", l->T) == 1);
    lua_deafen(l, "all");
}

TEST(a_tool_that_another_worker_serves_on_is_that_workers_from_then_on)
{
    struct lua *l = global();

    REQUIRE(announce(l, "w1", 100, "one"));
    REQUIRE(announce(l, "w2", 200, "two"));
    REQUIRE(announce_other(l, "w2", "u"));
    CHECK(lua_int(l, "HEXISTS %stools t", l->T) == 1);
    (void)lua_redis(l, "ZREM %sseen %s", l->T, " t");
    REQUIRE(announce(l, "w1", 100, "one"));
    CHECK(lua_count(l, "0") == 0);
    CHECK(strcmp(listed(l), "one") == 0);
}

TEST(R1_a_wrong_type_changes_nothing)
{
    static const char *const keys[] = {"tools", "seen", "tv", "ws", "w:w1"};
    struct lua *l = lua_fresh();

    for (size_t i = 0; i < 5; i++) {
        lua_flush(l);
        lua_use(l, "g");
        (void)lua_redis(l, i == 2 ? "SADD %s%s x" : "SET %s%s x", l->T, keys[i]);
        CHECK(!announce(l, "w1", 100, "one"));
        CHECK(lua_int(l, "DBSIZE") == 1);
    }
}

TEST(the_worker_whose_server_is_listed_hears_what_is_watched_of_it)
{
    static const char *const two = "tools seen tv ws w:%s wn:docs wn:code : "
                                   "%s|p|info|%d|@docs|d1|{}|{}|t|d|{}|{}|@code|d2|{}|{}";
    struct lua *l = global();

    REQUIRE(lua_do(l, "want", "wn:docs wo:docs:o1 : 60000|10|file:///a|file:///b"));
    REQUIRE(lua_do(l, "want", "wn:code wo:code:o1 : 60000|10|git://c"));
    (void)lua_redis(l, "ZADD %swn:docs 1 file:///lapsed", l->T);
    REQUIRE(lua_do(l, "announce", two, "w1", "w1", 100));
    CHECK(lua_count(l, "1") == 6);
    CHECK(lua_is(l, "1.0", "docs") && lua_is(l, "1.1", "file:///a"));
    CHECK(lua_is(l, "1.2", "docs") && lua_is(l, "1.3", "file:///b"));
    CHECK(lua_is(l, "1.4", "code") && lua_is(l, "1.5", "git://c"));
    /* The one that started later is listed from now on, and watches alone. */
    REQUIRE(lua_do(l, "announce", two, "w2", "w2", 200));
    CHECK(lua_count(l, "1") == 6);
    REQUIRE(lua_do(l, "announce", two, "w1", "w1", 100));
    CHECK(lua_count(l, "0") == 0 && lua_count(l, "1") == 0);
}
