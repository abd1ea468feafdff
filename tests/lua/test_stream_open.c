#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <string.h>

TEST(H_21_the_newest_GET_stream_of_a_session_carries_what_it_is_told_and_the_former_hears_so)
{
    struct lua *l = lua_fresh();

    lua_listen(l, "b1");
    lua_listen(l, "b2");
    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(lua_count(l, "") == 1);
    REQUIRE(move_open(l, "get-2", 'g', "s1", NULL, "b2"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_channel(l, 0), "b1") == 0);
    CHECK(strcmp(lua_message(l, 0), "V get-1") == 0);
    REQUIRE(move_open(l, "get-3", 'g', "s1", NULL, "b2"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "V get-2") == 0);
    (void)lua_redis(l, "HMGET %ssm:get-1 k ss o b t ri", l->T);
    CHECK(lua_is(l, "0", "g") && lua_is(l, "1", "s1") && lua_is(l, "2", OWNER));
    CHECK(lua_is(l, "3", "b1") && lua_is(l, "4", "") && lua_is(l, "5", ""));
    CHECK(lua_int(l, "PTTL %ssm:get-1", l->T) > 590000);
    lua_deafen(l, "b1");
    lua_deafen(l, "b2");
}

TEST(B4_a_stream_of_a_tasks_own_outlives_it_by_a_minute_at_most)
{
    struct lua *l = lua_fresh();

    (void)talking(l, ID(1));
    REQUIRE(lua_redis(l, "PEXPIRE %st:" ID(1) " 5000", l->T));
    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    CHECK(lua_int(l, "PTTL %ssm:wait-1", l->T) <= 65000);
    CHECK(lua_int(l, "PTTL %ssm:wait-1", l->T) > 55000);
    REQUIRE(lua_redis(l, "XADD %ssx:wait-1 1-1 d x", l->T));
    REQUIRE(lua_do(l, "stream_keep", "sm:wait-1 sx:wait-1 : b1|600000|wait-1"));
    CHECK(lua_count(l, "") == 0);
    CHECK(lua_int(l, "PTTL %ssm:wait-1", l->T) <= 65000);
    CHECK(lua_int(l, "PTTL %ssx:wait-1", l->T) <= 65000);
    REQUIRE(move_resume(l, "wait-1", "0", "s1", "b2"));
    CHECK(lua_int(l, "PTTL %ssm:wait-1", l->T) <= 65000);
    REQUIRE(lua_redis(l, "DEL %st:" ID(1), l->T));
    REQUIRE(move_drop(l, "wait-1", "b2", 300000));
    CHECK(lua_int(l, "PTTL %ssm:wait-1", l->T) <= 60000);
    CHECK(lua_int(l, "PTTL %ssx:wait-1", l->T) <= 60000);
}

TEST(nobody_is_told_of_a_GET_stream_that_nobody_holds)
{
    struct lua *l = lua_fresh();

    lua_listen(l, "b1");
    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    REQUIRE(move_drop(l, "get-1", "b1", 60000));
    REQUIRE(move_open(l, "get-2", 'g', "s1", NULL, "b1"));
    (void)lua_redis(l, "DEL %ssm:get-2", l->T);
    REQUIRE(move_open(l, "get-3", 'g', "s1", NULL, "b1"));
    REQUIRE(move_open(l, "get-3", 'g', "s1", NULL, "b1")); /* after a lost reply */
    CHECK(lua_hear(l) == 0);
    lua_deafen(l, "b1");
}

TEST(T_33_what_is_open_is_asked_on_a_tasks_result_that_comes_later)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_ask(l, ID(1), fence, "one", "{\"message\":\"a?\"}"));
    REQUIRE(move_ask(l, ID(1), fence, "two", ""));
    CHECK(field_is(l, ID(1), "w:one", "nil"));
    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    REQUIRE(lua_count(l, "") == 7);
    CHECK(lua_is(l, "2", "d"));
    CHECK(
        lua_is(l, "3",
               "{\"jsonrpc\":\"2.0\",\"id\":\"" ID(1) "/one/1\",\"method\":\"elicitation/create\","
                                                      "\"params\":{\"message\":\"a?\"}}"));
    CHECK(lua_is(l, "6",
                 "{\"jsonrpc\":\"2.0\",\"id\":\"" ID(1) "/two/1\",\"method\":\"elicitation/"
                                                        "create\"}"));
    CHECK(field_is(l, ID(1), "w:one", "1 wait-1 s1"));
    CHECK(field_is(l, ID(1), "hs", "wait-1"));
    CHECK(field_is(l, ID(1), "v", "3"));
}

TEST(A7_a_question_moves_to_the_newer_stream_under_a_fresh_id_and_the_old_one_is_cancelled)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    lua_listen(l, "b1");
    REQUIRE(move_ask(l, ID(1), fence, "k", "{}"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strncmp(lua_message(l, 0), "S wait-1 ", 9) == 0);
    REQUIRE(move_open(l, "wait-2", 'r', "s1", ID(1), "b1"));
    REQUIRE(lua_count(l, "") == 7);
    CHECK(lua_is(l, "3",
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                 "\"requestId\":\"" ID(1) "/k/1\",\"_meta\":{\"io.modelcontextprotocol/"
                                          "related-task\":{\"taskId\":\"" ID(1) "\"}}}}"));
    CHECK(strstr(lua_at(l, "6"), "\"id\":\"" ID(1) "/k/2\"") != NULL);
    CHECK(lua_hear(l) == 0); /* its process reads them from the answer */
    CHECK(carried(l, "wait-1") == 1);
    CHECK(field_is(l, ID(1), "w:k", "2 wait-2 s1"));
    lua_deafen(l, "b1");
}

TEST(U_03_an_id_is_not_cancelled_in_a_session_that_never_had_it)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_session(l, "s2", OWNER));
    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    REQUIRE(move_ask(l, ID(1), fence, "k", "{}"));
    REQUIRE(move_open(l, "wait-2", 'r', "s2", ID(1), "b1"));
    REQUIRE(lua_count(l, "") == 4);
    CHECK(strstr(lua_at(l, "3"), "/k/2\"") != NULL);
    CHECK(field_is(l, ID(1), "w:k", "2 wait-2 s1 s2"));
    REQUIRE(move_open(l, "wait-3", 'r', "s1", ID(1), "b1"));
    CHECK(lua_count(l, "") == 4);
    CHECK(field_is(l, ID(1), "w:k", "3 wait-3 s2 s1"));
}

TEST(a_plain_call_whose_job_spoke_first_finds_what_it_said)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    lua_listen(l, "b1");
    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1),
                                              .session = "s1",
                                              .hidden = true,
                                              .bid = "b1",
                                              .request = "\"r7\"",
                                              .stream = "call-1"}));
    fence = move_take(l, ID(1));
    CHECK(lua_int(l, "EXISTS %ssm:call-1", l->T) == 0);
    REQUIRE(move_log(l, ID(1), fence, "info", "1"));
    REQUIRE(move_ask(l, ID(1), fence, "k", "{}"));
    CHECK(lua_hear(l) == 3);
    CHECK(strncmp(lua_message(l, 0), "S call-1 ", 9) == 0);
    (void)lua_redis(l, "HMGET %ssm:call-1 k ss o b t ri", l->T);
    CHECK(lua_is(l, "0", "c") && lua_is(l, "1", "s1") && lua_is(l, "2", OWNER));
    CHECK(lua_is(l, "3", "b1") && lua_is(l, "4", ID(1)) && lua_is(l, "5", "\"r7\""));
    REQUIRE(move_open(l, "call-1", 'c', "s1", ID(1), "b1"));
    REQUIRE(lua_count(l, "") == 7);
    CHECK(strstr(lua_at(l, "3"), "notifications/message") != NULL);
    CHECK(strstr(lua_at(l, "6"), "/k/1\"") != NULL);
    CHECK(field_is(l, ID(1), "w:k", "1 call-1 s1"));
    lua_deafen(l, "b1");
}

TEST(H_35_a_stream_is_not_opened_for_another_owner_or_for_what_is_not_there)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_session(l, "s2", OTHER));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .owner = OTHER}));
    REQUIRE(move_open(l, "get-1", 'g', "s2", NULL, "b1"));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_open(l, "get-1", 'g', "s9", NULL, "b1"));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_open(l, "get-1", 'g', NULL, NULL, "b1"));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(2), "b1"));
    CHECK(lua_is(l, "", "nil"));
    CHECK(lua_int(l, "EXISTS %ssm:get-1 %ssm:wait-1", l->T, l->T) == 0);
    CHECK(field_is(l, ID(1), "hs", "nil"));
    CHECK(lua_int(l, "HEXISTS %sse:s2 gs", l->T) == 0);
}

TEST(a_stream_of_a_task_that_has_ended_changes_nothing_of_it)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    CHECK(strcmp(move_end(l, ID(1), fence, "{}"), "OK") == 0);
    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    CHECK(lua_count(l, "") == 1);
    CHECK(field_is(l, ID(1), "hs", "nil"));
}

TEST(R1_a_wrong_type_is_an_error_and_nothing_has_changed)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_session(l, "s1", OWNER));
    (void)lua_redis(l, "SET %ssx:get-1 x", l->T);
    CHECK(!move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    CHECK(lua_int(l, "EXISTS %ssm:get-1", l->T) == 0);
    (void)lua_redis(l, "SET %ssm:get-2 x", l->T);
    CHECK(!move_open(l, "get-2", 'g', "s1", NULL, "b1"));
    CHECK(lua_int(l, "HEXISTS %sse:s1 gs", l->T) == 0);
}
