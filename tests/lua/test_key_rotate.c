#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#define HOUR 3600000LL

static struct lua *global(void)
{
    struct lua *l = lua_fresh();

    lua_use(l, "g");
    return l;
}

static bool add(struct lua *l, const char *hash, const char *expires)
{
    return lua_do(l, "key_add", "key:name kh:%s keys : name|%s|tools:call|0|%s", hash, hash,
                  expires);
}

/* scopes and expires may be "". */
static bool rotate(struct lua *l, const char *hash, const char *scopes, const char *expires,
                   long long overlap)
{
    return lua_do(l, "key_rotate", "key:name kh:%s : name|%s|%s|1|%s|%lld", hash, hash, scopes,
                  expires, overlap);
}

static bool is_found(struct lua *l, const char *hash)
{
    return lua_do(l, "key_find", "kh:%s : %s", hash, hash) && !lua_is(l, "", "nil");
}

TEST(B24_a_further_key_stands_beside_the_one_before_for_the_overlap)
{
    struct lua *l = global();

    REQUIRE(add(l, "one", "0"));
    lua_listen(l, "all");
    REQUIRE(rotate(l, "two", "", "", HOUR));
    REQUIRE(lua_count(l, "") == 6);
    CHECK(lua_is(l, "0", "name") && lua_is(l, "1", "tools:call") && lua_is(l, "2", "0"));
    CHECK(lua_is(l, "4", "0") && !lua_is(l, "5", "0"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "P") == 0);
    lua_deafen(l, "all");
    CHECK(lua_int(l, "PTTL %skh:one", l->T) > HOUR - 60000);
    CHECK(lua_int(l, "PTTL %skh:one", l->T) <= HOUR);
    CHECK(lua_int(l, "PTTL %skh:two", l->T) == -1);
    REQUIRE(is_found(l, "one"));
    CHECK(!lua_is(l, "4", "0")); /* it has an end of its own */
    REQUIRE(is_found(l, "two"));
    CHECK(lua_is(l, "4", "0"));
}

TEST(without_an_overlap_all_before_it_end_at_once)
{
    struct lua *l = global();

    REQUIRE(add(l, "one", "0"));
    REQUIRE(rotate(l, "two", "", "", HOUR));
    REQUIRE(rotate(l, "three", "", "", 0));
    CHECK(lua_is(l, "5", "0"));
    CHECK(!is_found(l, "one") && !is_found(l, "two") && is_found(l, "three"));
}

TEST(an_overlap_never_gives_an_older_key_more_time_than_it_had)
{
    struct lua *l = global();

    REQUIRE(add(l, "one", "0"));
    REQUIRE(rotate(l, "two", "", "", 60000));
    REQUIRE(rotate(l, "three", "", "", HOUR));
    CHECK(lua_int(l, "PTTL %skh:one", l->T) <= 60000);
    CHECK(lua_int(l, "PTTL %skh:two", l->T) > HOUR - 60000);
}

TEST(its_life_is_as_long_as_that_of_the_one_before_unless_it_is_said)
{
    struct lua *l = global();
    char end[32];

    (void)lua_redis(l, "SET %snow x PX %lld", l->T, 2 * HOUR);
    (void)snprintf(end, sizeof(end), "%lld", (long long)lua_int(l, "PEXPIRETIME %snow", l->T));
    REQUIRE(add(l, "one", end)); /* in two hours */
    (void)lua_redis(l, "HINCRBY %skey:name ct -%lld", l->T, HOUR); /* an hour old */
    REQUIRE(rotate(l, "two", "", "", HOUR));
    CHECK(lua_int(l, "PTTL %skh:two", l->T) > 3 * HOUR - 60000);
    CHECK(lua_int(l, "PTTL %skey:name", l->T) > 3 * HOUR - 60000);
    REQUIRE(rotate(l, "three", "tasks:read", "0", HOUR));
    CHECK(lua_is(l, "1", "tasks:read") && lua_is(l, "2", "1") && lua_is(l, "4", "0"));
    CHECK(lua_int(l, "PTTL %skh:three", l->T) == -1);
    CHECK(lua_int(l, "PTTL %skey:name", l->T) == -1);
}

TEST(a_revocation_ends_all_of_them)
{
    struct lua *l = global();

    REQUIRE(add(l, "one", "0"));
    REQUIRE(rotate(l, "two", "", "", HOUR));
    REQUIRE(lua_do(l, "key_revoke", "key:name keys : name"));
    CHECK(!is_found(l, "one") && !is_found(l, "two"));
    CHECK(lua_int(l, "DBSIZE") == 0);
}

TEST(an_older_key_that_outlives_its_name_is_none_of_whoever_has_that_name_next)
{
    struct lua *l = global();
    char end[32];

    (void)lua_redis(l, "SET %ssoon x PX 60000", l->T);
    (void)snprintf(end, sizeof(end), "%lld", (long long)lua_int(l, "PEXPIRETIME %ssoon", l->T));
    REQUIRE(add(l, "one", "0"));
    REQUIRE(rotate(l, "two", "", end, HOUR));
    CHECK(is_found(l, "one"));
    (void)lua_redis(l, "DEL %skey:name %skh:two", l->T, l->T); /* as a minute later */
    CHECK(!is_found(l, "one"));
    REQUIRE(add(l, "three", "0") && lua_is(l, "", "OK"));
    CHECK(!is_found(l, "one") && is_found(l, "three"));
}

TEST(of_many_older_ones_the_oldest_end)
{
    struct lua *l = global();
    char hash[16];

    REQUIRE(add(l, "k0", "0"));
    for (int i = 1; i <= 20; i++) {
        (void)snprintf(hash, sizeof(hash), "k%d", i);
        REQUIRE(rotate(l, hash, "", "", HOUR));
    }
    CHECK(is_found(l, "k20") && is_found(l, "k5") && !is_found(l, "k4") && !is_found(l, "k0"));
    CHECK(lua_int(l, "DBSIZE") == 18); /* 16 keys, their name, the names */
}

TEST(what_is_not_there_is_not_rotated_and_a_hash_is_used_once)
{
    struct lua *l = global();

    REQUIRE(rotate(l, "two", "", "", HOUR));
    CHECK(lua_is(l, "", "NONE"));
    CHECK(lua_int(l, "DBSIZE") == 0);
    REQUIRE(add(l, "one", "0"));
    REQUIRE(rotate(l, "one", "", "", HOUR));
    CHECK(lua_is(l, "", "EXISTS"));
    CHECK(lua_int(l, "PTTL %skh:one", l->T) == -1);
}
