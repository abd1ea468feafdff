#include "tests/lib/talk.h"
#include "tests/lib/test.h"

TEST(X_10_all_that_is_open_is_told_and_nothing_else)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .dialect = 'M'}));
    REQUIRE(move_questions(l, ID(1), OWNER));
    CHECK(lua_count(l, "") == 0);
    fence = move_take(l, ID(1));
    REQUIRE(move_ask(l, ID(1), fence, "one", "{\"message\":\"a\\nb\"}"));
    REQUIRE(move_ask(l, ID(1), fence, "two", "{\n}"));
    REQUIRE(move_ask(l, ID(1), fence, "three", ""));
    REQUIRE(move_answer(l, ID(1), OWNER, "one", "{}"));
    REQUIRE(move_questions(l, ID(1), OWNER));
    REQUIRE(lua_count(l, "") == 6);
    CHECK(lua_is(l, "0", "two") && lua_is(l, "1", "elicitation/create"));
    CHECK(lua_is(l, "2", "{\n}"));
    CHECK(lua_is(l, "3", "three") && lua_is(l, "5", ""));
}

TEST(what_no_attempt_waits_for_is_not_open)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_host(l, ID(1), fence, "hosted", "{}"));
    REQUIRE(move_answer(l, ID(1), OWNER, "hosted", "{\"task\":{}}"));
    REQUIRE(move_questions(l, ID(1), OWNER));
    CHECK(lua_count(l, "") == 0);
    REQUIRE(lua_do(l, "ask", "t:%s ls : %s|%u|look|tasks/get|{}|0", ID(1), ID(1), fence));
    REQUIRE(move_questions(l, ID(1), OWNER));
    CHECK(lua_count(l, "") == 0); /* who hosts it is asked alone */
    REQUIRE(move_ask(l, ID(1), fence, "k", "{}"));
    REQUIRE(move_questions(l, ID(1), OWNER));
    CHECK(lua_count(l, "") == 3 && lua_is(l, "0", "k"));
    REQUIRE(move_retry(l, ID(1), fence, 60000));
    REQUIRE(move_questions(l, ID(1), OWNER));
    CHECK(lua_count(l, "") == 0);
    REQUIRE(move_cancel(l, ID(1), OWNER));
    REQUIRE(move_questions(l, ID(1), OWNER));
    CHECK(lua_count(l, "") == 0);
}

TEST(another_owner_and_a_missing_task_are_the_same)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    REQUIRE(move_questions(l, ID(1), OTHER));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_questions(l, ID(2), OWNER));
    CHECK(lua_is(l, "", "nil"));
    (void)lua_redis(l, "SET %st:%s x", l->T, ID(3));
    CHECK(!move_questions(l, ID(3), OWNER));
}
