#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <string.h>

static bool hidden(struct lua *l, const char *id, uint64_t ttl, unsigned window)
{
    return move_create(l, &(struct new_task){.id = id,
                                             .hidden = true,
                                             .ttl = ttl,
                                             .dialect = 'M',
                                             .bid = "b1",
                                             .max_running = window});
}

static int64_t life_of(struct lua *l, const char *id)
{
    int64_t made = lua_int(l, "HGET %st:%s ct", l->T, id);

    return lua_int(l, "HGET %st:%s xp", l->T, id) - made;
}

TEST(a_plain_call_becomes_a_task_that_is_listed_and_told)
{
    struct lua *l = lua_fresh();

    lua_listen(l, "b1");
    REQUIRE(hidden(l, ID(1), 60000, 0));
    REQUIRE(move_list(l, OWNER, 0, 10));
    CHECK(lua_count(l, "") == 2);
    REQUIRE(move_promote(l, ID(1), OWNER));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(lua_count(l, "1") == 16);
    CHECK(lua_is(l, "1.3", "t") && lua_is(l, "1.9", "2"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strncmp(lua_message(l, 0), "T w 0 t M ", 10) == 0);
    REQUIRE(move_list(l, OWNER, 0, 10));
    CHECK(lua_is(l, "2.0", ID(1)));
    REQUIRE(move_get(l, ID(1), OWNER, ""));
    CHECK(lua_is(l, "0", ID(1)));
    REQUIRE(move_promote(l, ID(1), OWNER));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(field_is(l, ID(1), "v", "2"));
    CHECK(move_take(l, ID(1)) == 1);
    lua_deafen(l, "b1");
}

TEST(its_life_stays_as_it_is_and_it_waits_where_it_did)
{
    struct lua *l = lua_fresh();

    REQUIRE(hidden(l, ID(1), 60000, 1));
    REQUIRE(hidden(l, ID(2), 60000, 1));
    REQUIRE(move_promote(l, ID(1), OWNER));
    REQUIRE(move_promote(l, ID(2), OWNER));
    CHECK(is_at(l, ID(1), "ready") && is_at(l, ID(2), "parked"));
    CHECK(life_of(l, ID(1)) == 60000 && life_of(l, ID(2)) == 60000);
    CHECK(field_is(l, ID(2), "vis", "t"));
}

TEST(what_has_ended_stays_hidden_and_is_given)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(hidden(l, ID(1), 60000, 0));
    fence = move_take(l, ID(1));
    CHECK(strcmp(move_end(l, ID(1), fence, "{}"), "OK") == 0);
    REQUIRE(move_promote(l, ID(1), OWNER));
    CHECK(lua_is(l, "0", "ENDED"));
    CHECK(lua_is(l, "1.0", ID(1)));
    CHECK(field_is(l, ID(1), "vis", "c"));
    CHECK(life_of(l, ID(1)) == 60000);
}

TEST(another_owner_and_a_missing_task_are_the_same)
{
    struct lua *l = lua_fresh();

    REQUIRE(hidden(l, ID(1), 60000, 0));
    REQUIRE(move_promote(l, ID(1), OTHER));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_promote(l, ID(2), OWNER));
    CHECK(lua_is(l, "", "nil"));
    CHECK(field_is(l, ID(1), "vis", "c"));
    CHECK(lua_int(l, "EXISTS %so:%s", l->T, OTHER) == 0);
}

TEST(R1_a_wrong_type_is_an_error_and_nothing_has_changed)
{
    struct lua *l = lua_fresh();

    REQUIRE(hidden(l, ID(1), 60000, 0));
    (void)lua_redis(l, "SET %so:%s x", l->T, OWNER);
    CHECK(!move_promote(l, ID(1), OWNER));
    CHECK(field_is(l, ID(1), "vis", "c"));
    CHECK(life_of(l, ID(1)) == 60000);
}
