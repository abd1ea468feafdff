#include "tests/lib/moves.h"
#include "tests/lib/test.h"

static unsigned started(struct lua *l, const char *id)
{
    return move_create(l, &(struct new_task){.id = id}) ? move_take(l, id) : 0;
}

TEST(a_job_handed_back_is_next_in_line_and_keeps_its_attempt)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    REQUIRE(move_create(l, &(struct new_task){.id = ID(2)}));
    REQUIRE(move_release(l, ID(1), fence));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(is_at(l, ID(1), "ready"));
    REQUIRE(move_release(l, ID(1), fence));
    CHECK(lua_is(l, "0", "STALE"));
    CHECK(lua_int(l, "LLEN %srq:t:0", l->T) == 2);
    CHECK(move_take(l, ID(1)) == fence + 2);
    CHECK(lua_is(l, "0.2", "1"));
    CHECK(field_is(l, ID(1), "v", "nil"));
}

TEST(another_worker_is_woken_for_it)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));
    struct hand h = {.wid = "w2"};

    REQUIRE(lua_do(l, "serve", "pl:t : p|t"));
    REQUIRE(move_claim(l, &h, 1));
    lua_listen(l, "w2");
    REQUIRE(move_release(l, ID(1), fence));
    CHECK(lua_hear(l) == 1);
    lua_deafen(l, "w2");
}

TEST(one_that_was_asking_works_again_and_its_owner_sees_it)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    lua_listen(l, "b1");
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .bid = "b1"}));
    fence = move_take(l, ID(1));
    REQUIRE(move_ask(l, ID(1), fence, "k", "?"));
    CHECK(lua_hear(l) == 1);
    REQUIRE(move_release(l, ID(1), fence));
    CHECK(field_is(l, ID(1), "s", "w"));
    CHECK(field_is(l, ID(1), "v", "3"));
    CHECK(lua_hear(l) == 1);
    REQUIRE(move_answer(l, ID(1), OWNER, "k", "!"));
    fence = move_take(l, ID(1));
    REQUIRE(move_ask(l, ID(1), fence, "k", "?"));
    CHECK(lua_is(l, "1", "!"));
    lua_deafen(l, "b1");
}

TEST(what_has_ended_or_expired_is_not_brought_back)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    REQUIRE(move_cancel(l, ID(1), OWNER));
    REQUIRE(move_release(l, ID(1), fence));
    CHECK(lua_is(l, "0", "ENDED"));
    REQUIRE(move_release(l, ID(2), fence));
    CHECK(lua_is(l, "0", "GONE"));
    CHECK(lua_int(l, "EXISTS %srq:t:0", l->T) == 0);
}

TEST(R1_a_wrong_type_changes_nothing)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    (void)lua_redis(l, "DEL %sls", l->T);
    (void)lua_redis(l, "SET %sls x", l->T);
    CHECK(!move_release(l, ID(1), fence));
    CHECK(lua_int(l, "HGET %st:%s n", l->T, ID(1)) == fence);
    (void)lua_redis(l, "DEL %sls", l->T);
    (void)lua_redis(l, "ZADD %sls 99999999999999 %s", l->T, ID(1));
    (void)lua_redis(l, "SET %srq:t:0 x", l->T);
    REQUIRE(move_release(l, ID(1), fence));
    CHECK(lua_is(l, "0", "STALE"));
    CHECK(is_at(l, ID(1), "running"));
    CHECK(lua_int(l, "HGET %st:%s n", l->T, ID(1)) == fence);
}
