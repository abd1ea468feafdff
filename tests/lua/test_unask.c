#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <string.h>

/* A running task with a waiting tasks/result at b1, and one question there. */
static unsigned asking(struct lua *l)
{
    unsigned fence = talking(l, ID(1));

    (void)move_open(l, "wait-1", 'r', "s1", ID(1), "b1");
    (void)move_ask(l, ID(1), fence, "k", "{}");
    return fence;
}

TEST(L_15_who_gave_a_question_up_forgets_it_and_the_client_is_told)
{
    struct lua *l = lua_fresh();
    unsigned fence = asking(l);

    lua_listen(l, "b1");
    REQUIRE(move_unask(l, ID(1), fence, "k", ""));
    CHECK(lua_is(l, "", "OK"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strstr(lua_message(l, 0), "\"method\":\"notifications/cancelled\"") != NULL);
    CHECK(strstr(lua_message(l, 0), "\"requestId\":\"" ID(1) "/k/1\"") != NULL);
    CHECK(field_is(l, ID(1), "s", "w") && field_is(l, ID(1), "io", ""));
    CHECK(field_is(l, ID(1), "q:k", "nil"));
    REQUIRE(move_reply(l, ID(1), "s1", "k", "!"));
    CHECK(lua_is(l, "0", "CONFLICT"));
    REQUIRE(move_unask(l, ID(1), fence, "k", ""));
    CHECK(lua_is(l, "", "OK"));
    CHECK(field_is(l, ID(1), "v", "3"));
    lua_deafen(l, "b1");
}

TEST(J_06_no_id_is_used_twice)
{
    struct lua *l = lua_fresh();
    unsigned fence = asking(l);

    REQUIRE(move_unask(l, ID(1), fence, "k", ""));
    REQUIRE(move_ask(l, ID(1), fence, "k", "{}"));
    REQUIRE(carried(l, "wait-1") == 3);
    CHECK(strstr(carried_at(l, "wait-1", 2), "/k/2\"") != NULL);
    REQUIRE(move_reply(l, ID(1), "s1", "k", "!"));
    REQUIRE(move_unask(l, ID(1), fence, "k", "")); /* heard and done with */
    CHECK(field_is(l, ID(1), "a:k", "nil"));
    REQUIRE(move_ask(l, ID(1), fence, "k", "{\"another\":1}"));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(field_is(l, ID(1), "w:k", "3 wait-1 s1"));
    CHECK(carried(l, "wait-1") == 4);
}

TEST(the_task_waits_on_while_something_is_open)
{
    struct lua *l = lua_fresh();
    unsigned fence = asking(l);

    REQUIRE(move_ask(l, ID(1), fence, "k2", "{}"));
    REQUIRE(move_unask(l, ID(1), fence, "k", ""));
    CHECK(field_is(l, ID(1), "s", "i") && field_is(l, ID(1), "io", "k2"));
    REQUIRE(move_unask(l, ID(1), fence, "k2", "\"the end\""));
    CHECK(field_is(l, ID(1), "s", "w"));
    REQUIRE(move_ask(l, ID(1), fence, "k2", "{}"));
    CHECK(lua_is(l, "0", "ANSWERED"));
    CHECK(lua_is(l, "1", "\"the end\""));
}

TEST(T_108_a_hosted_question_is_settled_by_its_job)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    REQUIRE(move_host(l, ID(1), fence, "k", "{}"));
    REQUIRE(move_reply(l, ID(1), "s1", "k", "{\"task\":{\"taskId\":\"c1\"}}"));
    CHECK(lua_is(l, "1.1", "i"));
    CHECK(field_is(l, ID(1), "io", "k"));
    REQUIRE(move_reply(l, ID(1), "s1", "k", "again"));
    CHECK(lua_is(l, "0", "CONFLICT"));
    REQUIRE(move_unask(l, ID(1), fence, "k", "{\"final\":1}"));
    CHECK(field_is(l, ID(1), "s", "w") && field_is(l, ID(1), "a:k", "{\"final\":1}"));
    CHECK(carried(l, "wait-1") == 1);
    REQUIRE(move_host(l, ID(1), fence, "k", "{}"));
    CHECK(lua_is(l, "0", "ANSWERED"));
    CHECK(lua_is(l, "1", "{\"final\":1}"));
    CHECK(field_is(l, ID(1), "s", "w"));
}

TEST(T_71_a_request_that_became_a_task_is_not_cancelled_by_notification)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    REQUIRE(move_host(l, ID(1), fence, "k", "{}"));
    REQUIRE(move_unask(l, ID(1), fence, "k", ""));
    CHECK(carried(l, "wait-1") == 1);
    CHECK(field_is(l, ID(1), "s", "w"));
}

TEST(one_who_lost_the_task_settles_nothing)
{
    struct lua *l = lua_fresh();
    unsigned fence = asking(l);

    REQUIRE(move_unask(l, ID(1), fence + 1, "k", ""));
    CHECK(lua_is(l, "", "STALE"));
    CHECK(field_is(l, ID(1), "s", "i"));
    REQUIRE(move_unask(l, ID(2), fence, "k", ""));
    CHECK(lua_is(l, "", "GONE"));
    CHECK(strcmp(move_end(l, ID(1), fence, "{}"), "OK") == 0);
    REQUIRE(move_unask(l, ID(1), fence, "k", "{}"));
    CHECK(lua_is(l, "", "DONE"));
    CHECK(field_is(l, ID(1), "a:k", "nil"));
    (void)lua_redis(l, "SET %st:%s x", l->T, ID(3));
    CHECK(!move_unask(l, ID(3), 1, "k", ""));
}
