#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool allowed(struct lua *l, const char *owner, unsigned rate)
{
    return lua_do(l, "throttle", "rl:%s : %s|%u|1", owner, owner, rate) &&
           strcmp(lua_at(l, "0"), "OK") == 0;
}

/* Several at one time, whatever the machine does meanwhile: the answers are l->r's elements. */
static bool at_once(struct lua *l, unsigned rate, size_t n, const unsigned *counts)
{
    bool ok = lua_redis(l, "MULTI");

    for (size_t i = 0; i < n; i++)
        ok = lua_do(l, "throttle", "rl:%s : %s|%u|%u", OWNER, OWNER, rate, counts[i]) && ok;
    return lua_redis(l, "EXEC") && ok && lua_count(l, "") == n;
}

TEST(a_burst_of_one_seconds_worth_is_allowed_and_no_more)
{
    struct lua *l = lua_fresh();

    REQUIRE(at_once(l, 5000, 6, (const unsigned[]){1, 1, 1, 1, 1, 1}));
    CHECK(lua_is(l, "0.0", "OK") && lua_is(l, "1.0", "OK") && lua_is(l, "2.0", "OK"));
    CHECK(lua_is(l, "3.0", "OK") && lua_is(l, "4.0", "OK") && lua_is(l, "5.0", "RATE"));
    CHECK(strtol(lua_at(l, "5.1"), NULL, 10) > 100);
    CHECK(strtol(lua_at(l, "5.1"), NULL, 10) <= 200);
    CHECK(allowed(l, OTHER, 5000));
}

TEST(a_slow_rate_still_allows_one)
{
    struct lua *l = lua_fresh();

    REQUIRE(at_once(l, 100, 2, (const unsigned[]){1, 1}));
    CHECK(lua_is(l, "0.0", "OK") && lua_is(l, "1.0", "RATE"));
    CHECK(strtol(lua_at(l, "1.1"), NULL, 10) > 9900);
    CHECK(strtol(lua_at(l, "1.1"), NULL, 10) <= 10000);
}

TEST(what_is_worth_many_is_allowed_at_once_and_paid_for_afterwards)
{
    struct lua *l = lua_fresh();

    REQUIRE(at_once(l, 5000, 4, (const unsigned[]){3, 1, 50, 1}));
    CHECK(lua_is(l, "0.0", "OK") && lua_is(l, "1.0", "OK") && lua_is(l, "2.0", "OK"));
    CHECK(lua_is(l, "3.0", "RATE"));
    CHECK(strtol(lua_at(l, "3.1"), NULL, 10) > 9500);
    CHECK(strtol(lua_at(l, "3.1"), NULL, 10) <= 10000);
}

TEST(no_rate_is_no_limit_and_no_key)
{
    struct lua *l = lua_fresh();

    for (int i = 0; i < 50; i++)
        CHECK(allowed(l, OWNER, 0));
    CHECK(lua_int(l, "DBSIZE") == 0);
}

TEST(a_refusal_costs_nothing_and_the_key_forgets_itself)
{
    struct lua *l = lua_fresh();
    char paid[32];

    CHECK(allowed(l, OWNER, 10));
    (void)lua_redis(l, "GET %srl:%s", l->T, OWNER);
    (void)snprintf(paid, sizeof(paid), "%s", lua_at(l, ""));
    CHECK(!allowed(l, OWNER, 10));
    (void)lua_redis(l, "GET %srl:%s", l->T, OWNER);
    CHECK(lua_is(l, "", paid));
    CHECK(lua_int(l, "PTTL %srl:%s", l->T, OWNER) <= 100000);
    CHECK(lua_int(l, "PTTL %srl:%s", l->T, OWNER) > 0);
}

/* What one costs at this rate, a hundred seconds, later, by setting back what has been paid. */
TEST(R5_what_was_paid_is_kept_in_whole_microseconds)
{
    struct lua *l = lua_fresh();
    char paid[32];
    long long us;

    CHECK(allowed(l, OWNER, 10));
    (void)lua_redis(l, "GET %srl:%s", l->T, OWNER);
    (void)snprintf(paid, sizeof(paid), "%s", lua_at(l, ""));
    CHECK(strlen(paid) == 16);
    us = strtoll(paid, NULL, 10);
    (void)lua_redis(l, "SET %srl:%s %lld", l->T, OWNER, us - 100000000);
    CHECK(allowed(l, OWNER, 10));
    CHECK(!allowed(l, OWNER, 10));
}
