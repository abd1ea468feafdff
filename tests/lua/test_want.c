#include "tests/lib/lua.h"
#include "tests/lib/test.h"

#include <string.h>

static struct lua *global(void)
{
    struct lua *l = lua_fresh();

    lua_use(l, "g");
    return l;
}

TEST(workers_are_told_of_what_is_newly_watched_and_only_then)
{
    struct lua *l = global();

    lua_listen(l, "all");
    REQUIRE(lua_do(l, "want", "wn:docs wo:docs:o1 : 60000|10|x://a|x://b"));
    CHECK(lua_is(l, "", "OK"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "W") == 0);
    REQUIRE(lua_do(l, "want", "wn:docs wo:docs:o1 : 60000|10|x://b"));
    CHECK(lua_hear(l) == 0);
    REQUIRE(lua_do(l, "want", "wn:docs wo:docs:o1 : 60000|10|x://b|x://c"));
    CHECK(lua_hear(l) == 1);
    lua_deafen(l, "all");
}

TEST(what_nobody_asks_for_any_more_lapses)
{
    struct lua *l = global();

    REQUIRE(lua_do(l, "want", "wn:docs wo:docs:o1 : 60000|10|x://a"));
    CHECK(lua_int(l, "PTTL %swn:docs", l->T) > 50000);
    (void)lua_redis(l, "ZADD %swn:docs 1 x://a", l->T);
    lua_listen(l, "all");
    REQUIRE(lua_do(l, "want", "wn:docs wo:docs:o1 : 60000|10|x://b"));
    CHECK(lua_hear(l) == 1);
    CHECK(lua_int(l, "ZCARD %swn:docs", l->T) == 1);
    (void)lua_redis(l, "ZADD %swn:docs 1 x://b", l->T);
    REQUIRE(lua_do(l, "want", "wn:docs wo:docs:o1 : 60000|10|x://b"));
    CHECK(lua_hear(l) == 1);
    lua_deafen(l, "all");
}

/* Four owners watch one each, for a while: there is room for four. */
static void fill(struct lua *l, int ms)
{
    for (int i = 0; i < 4; i++)
        (void)lua_do(l, "want", "wn:docs wo:docs:o%d : %d|4|x://%c", i, ms, 'a' + i);
}

TEST(past_the_limit_nothing_new_is_watched)
{
    struct lua *l = global();

    fill(l, 60000);
    CHECK(lua_is(l, "", "OK"));
    REQUIRE(lua_do(l, "want", "wn:docs wo:docs:o9 : 60000|4|x://e"));
    CHECK(lua_is(l, "", "LIMIT"));
    CHECK(lua_int(l, "ZCARD %swn:docs", l->T) == 4);
    REQUIRE(lua_do(l, "want", "wn:docs wo:docs:o9 : 60000|4|x://a"));
    CHECK(lua_is(l, "", "OK"));
}

TEST(past_the_limit_what_is_watched_goes_on_whoever_asks_for_more_beside_it)
{
    struct lua *l = global();

    fill(l, 20000);
    lua_listen(l, "all");
    REQUIRE(lua_do(l, "want", "wn:docs wo:docs:o9 : 60000|4|x://e|x://a"));
    CHECK(lua_is(l, "", "LIMIT"));
    CHECK(lua_hear(l) == 0);
    CHECK(lua_int(l, "PTTL %swn:docs", l->T) > 50000);
    (void)lua_redis(l, "ZREMRANGEBYRANK %swn:docs 0 2", l->T); /* those that lapse first */
    CHECK(lua_int(l, "ZCOUNT %swn:docs 1 +inf", l->T) == 1);
    CHECK(lua_int(l, "ZRANK %swn:docs x://a", l->T) == 0);
    lua_deafen(l, "all");
}

TEST(R1_a_wrong_type_changes_nothing)
{
    struct lua *l = global();

    (void)lua_redis(l, "SET %swn:docs x", l->T);
    CHECK(!lua_do(l, "want", "wn:docs wo:docs:o1 : 60000|2|x://a"));
    CHECK(lua_int(l, "DBSIZE") == 1);
    l = global();
    (void)lua_redis(l, "SET %swo:docs:o1 x", l->T);
    CHECK(!lua_do(l, "want", "wn:docs wo:docs:o1 : 60000|2|x://a"));
    CHECK(lua_int(l, "DBSIZE") == 1);
}

static bool wants(struct lua *l, const char *owner, const char *uris, const char *answer)
{
    return lua_do(l, "want", "wn:docs wo:docs:%s : 60000|8|%s", owner, uris) &&
           lua_is(l, "", answer);
}

TEST(who_watches_a_lot_leaves_a_quarter_to_others)
{
    struct lua *l = global();

    CHECK(wants(l, "o1", "a1|a2|a3|a4|a5|a6", "OK"));
    CHECK(wants(l, "o1", "a7", "LIMIT"));
    CHECK(wants(l, "o1", "a1|a2|a3|a4|a5|a6", "OK")); /* what goes on */
    CHECK(wants(l, "o2", "b1", "OK"));
    CHECK(wants(l, "o2", "a1", "OK"));
    CHECK(wants(l, "o2", "b2", "LIMIT")); /* more than a quarter: with what o1 watches too */
    CHECK(wants(l, "o3", "c1", "OK"));
    CHECK(wants(l, "o3", "c2", "LIMIT")); /* 8 in all */
    CHECK(lua_int(l, "ZCARD %swn:docs", l->T) == 8);
    CHECK(lua_int(l, "ZCARD %swo:docs:o1", l->T) == 6);
    CHECK(lua_int(l, "PTTL %swo:docs:o1", l->T) > 50000);
    (void)lua_redis(l, "DEL %swo:docs:o1 %swn:docs", l->T, l->T);
    CHECK(wants(l, "o1", "a7", "OK"));
}
