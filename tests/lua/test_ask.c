#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static unsigned started(struct lua *l, const char *id)
{
    return move_create(l, &(struct new_task){.id = id}) ? move_take(l, id) : 0;
}

TEST(a_question_makes_the_task_wait_for_input_and_its_owner_is_told)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    lua_listen(l, "b1");
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .bid = "b1"}));
    fence = move_take(l, ID(1));
    REQUIRE(move_ask(l, ID(1), fence, "k", "{\"q\":1}"));
    CHECK(lua_count(l, "") == 1);
    CHECK(lua_is(l, "0", "OK"));
    CHECK(field_is(l, ID(1), "s", "i"));
    CHECK(field_is(l, ID(1), "q:k", "0 elicitation/create\n{\"q\":1}"));
    CHECK(is_at(l, ID(1), "running"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strncmp(lua_message(l, 0), "T i 0 t L ", 10) == 0);
    lua_deafen(l, "b1");
}

TEST(a_question_said_again_is_the_same_question)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    REQUIRE(move_ask(l, ID(1), fence, "k", "?"));
    REQUIRE(move_ask(l, ID(1), fence, "k", "?"));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(field_is(l, ID(1), "v", "2"));
    REQUIRE(move_ask(l, ID(1), fence, "k", "something else?"));
    CHECK(lua_is(l, "0", "CONFLICT"));
    CHECK(field_is(l, ID(1), "q:k", "0 elicitation/create\n?"));
    REQUIRE(move_answer(l, ID(1), OWNER, "k", "!"));
    REQUIRE(move_ask(l, ID(1), fence, "k", "?"));
    CHECK(lua_is(l, "0", "ANSWERED"));
    CHECK(lua_is(l, "1", "!"));
    CHECK(field_is(l, ID(1), "s", "w"));
}

TEST(a_lease_that_lapses_while_asking_keeps_the_answers_for_the_next_attempt)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    REQUIRE(move_ask(l, ID(1), fence, "k1", "?"));
    REQUIRE(move_ask(l, ID(1), fence, "k2", "?"));
    REQUIRE(move_answer(l, ID(1), OWNER, "k1", "!"));
    lapse(l, ID(1));
    REQUIRE(move_tick(l));
    CHECK(is_at(l, ID(1), "delayed"));
    CHECK(field_is(l, ID(1), "s", "w"));
    REQUIRE(move_ask(l, ID(1), fence, "k3", "?"));
    CHECK(lua_is(l, "0", "STALE"));
    come_due(l, ID(1));
    REQUIRE(move_tick(l));
    fence = move_take(l, ID(1));
    REQUIRE(move_ask(l, ID(1), fence, "k1", "?"));
    CHECK(lua_is(l, "0", "ANSWERED"));
    REQUIRE(move_ask(l, ID(1), fence, "k2", "?"));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(field_is(l, ID(1), "s", "i"));
    REQUIRE(move_answer(l, ID(1), OWNER, "k2", "!!"));
    CHECK(field_is(l, ID(1), "s", "w"));
}

TEST(T_32_T_35_with_only_a_GET_stream_open_the_question_goes_there)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    lua_listen(l, "b1");
    REQUIRE(move_ask(l, ID(1), fence, "a \"key\"", "{\"message\":\"x\"}"));
    REQUIRE(lua_hear(l) == 2);
    CHECK(strncmp(lua_message(l, 0), "S get-1 ", 8) == 0);
    CHECK(strstr(lua_message(l, 0),
                 " d 124\n{\"jsonrpc\":\"2.0\",\"id\":\"" ID(
                     1) "/a \\u0022key\\u0022/1\",\"method\":\"elicitation/create\",\"params\":{"
                        "\"message\":\"x\"}}") != NULL);
    CHECK(strstr(lua_message(l, 1), " t ") != NULL); /* that it waits for input */
    CHECK(field_is(l, ID(1), "w:a \"key\"", "1 get-1 s1"));
    lua_deafen(l, "b1");
}

TEST(a_plain_call_is_asked_on_its_own_stream_and_never_names_its_task)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    REQUIRE(move_create(
        l, &(struct new_task){.id = ID(1), .session = "s1", .hidden = true, .stream = "call-1"}));
    fence = move_take(l, ID(1));
    REQUIRE(move_ask(l, ID(1), fence, "k", "{}"));
    CHECK(carried(l, "get-1") == 0);
    CHECK(carried(l, "call-1") == 1);
    CHECK(field_is(l, ID(1), "hs", "call-1"));
    REQUIRE(move_unask(l, ID(1), fence, "k", ""));
    CHECK(strstr(carried_at(l, "call-1", 1), "notifications/cancelled") != NULL);
    CHECK(strstr(carried_at(l, "call-1", 1), "related-task") == NULL);
    /* The task lives for a minute; its stream may outlive it by one. */
    CHECK(lua_int(l, "PTTL %ssx:call-1", l->T) > 110000);
    CHECK(lua_int(l, "PTTL %ssx:call-1", l->T) <= 120000);
}

TEST(M_02_a_client_of_the_stateless_dialect_is_sent_nothing)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(
        l, &(struct new_task){.id = ID(1), .dialect = 'M', .hidden = true, .stream = "call-1"}));
    fence = move_take(l, ID(1));
    REQUIRE(move_ask(l, ID(1), fence, "k", "{}"));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(field_is(l, ID(1), "s", "i") && field_is(l, ID(1), "w:k", "nil"));
    CHECK(lua_int(l, "EXISTS %ssx:call-1", l->T) == 0);
    REQUIRE(move_open(l, "call-1", 'c', NULL, ID(1), "b1"));
    CHECK(lua_count(l, "") == 1);
}

TEST(a_later_attempt_does_not_ask_again_where_the_client_has_the_question)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    REQUIRE(move_ask(l, ID(1), fence, "k", "{}"));
    REQUIRE(move_release(l, ID(1), fence));
    fence = move_take(l, ID(1));
    REQUIRE(move_ask(l, ID(1), fence, "k", "{}"));
    CHECK(field_is(l, ID(1), "s", "i"));
    CHECK(carried(l, "wait-1") == 1);
    REQUIRE(move_release(l, ID(1), fence));
    (void)lua_redis(l, "DEL %ssm:wait-1 %ssx:wait-1", l->T, l->T);
    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    fence = move_take(l, ID(1));
    REQUIRE(move_ask(l, ID(1), fence, "k", "{}"));
    REQUIRE(carried(l, "get-1") == 3); /* cancelled, asked, input required */
    CHECK(strstr(carried_at(l, "get-1", 0), "/k/1\"") != NULL);
    CHECK(strstr(carried_at(l, "get-1", 1), "/k/2\"") != NULL);
}

TEST(T_108_a_hosted_question_that_is_at_work_is_waited_for_by_the_next_attempt_too)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    REQUIRE(move_host(l, ID(1), fence, "k", "{}"));
    REQUIRE(move_reply(l, ID(1), "s1", "k", "{\"task\":{}}"));
    REQUIRE(move_host(l, ID(1), fence, "k", "{}"));
    CHECK(lua_is(l, "0", "ANSWERED") && lua_is(l, "1", "{\"task\":{}}"));
    CHECK(field_is(l, ID(1), "s", "i"));
    REQUIRE(move_release(l, ID(1), fence));
    CHECK(field_is(l, ID(1), "s", "w"));
    fence = move_take(l, ID(1));
    REQUIRE(move_host(l, ID(1), fence, "k", "{}"));
    CHECK(lua_is(l, "0", "ANSWERED") && lua_is(l, "1", "{\"task\":{}}"));
    CHECK(field_is(l, ID(1), "s", "i") && field_is(l, ID(1), "io", "k"));
    CHECK(carried(l, "wait-1") == 1);
}

TEST(what_cannot_be_a_key_is_refused_and_so_are_too_many_questions)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));
    unsigned asked = 0;
    char key[16];

    REQUIRE(move_ask(l, ID(1), fence, "", "{}"));
    CHECK(lua_is(l, "0", "CONFLICT"));
    REQUIRE(move_ask(l, ID(1), fence, "two\nlines", "{}"));
    CHECK(lua_is(l, "0", "CONFLICT"));
    CHECK(field_is(l, ID(1), "s", "w"));
    do
        (void)snprintf(key, sizeof(key), "k%u", asked);
    while (asked < 2000 && move_ask(l, ID(1), fence, key, "{}") &&
           strcmp(lua_at(l, "0"), "OK") == 0 && ++asked);
    CHECK(lua_is(l, "0", "LIMIT"));
    CHECK(asked > 500 && asked < 1000);
    REQUIRE(move_ask(l, ID(1), fence, "k1", "{}"));
    CHECK(lua_is(l, "0", "OK"));
    REQUIRE(move_unask(l, ID(1), fence, "k1", ""));
    REQUIRE(move_unask(l, ID(1), fence, "k2", ""));
    REQUIRE(move_ask(l, ID(1), fence, "new", "{}"));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(strcmp(move_end(l, ID(1), fence, "{}"), "OK") == 0);
    CHECK(lua_int(l, "HLEN %st:%s", l->T, ID(1)) < 30);
}

TEST(one_who_lost_the_task_asks_nothing)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    REQUIRE(move_ask(l, ID(1), fence + 7, "k", "?"));
    CHECK(lua_is(l, "0", "STALE"));
    REQUIRE(move_ask(l, ID(2), fence, "k", "?"));
    CHECK(lua_is(l, "0", "GONE"));
    REQUIRE(move_cancel(l, ID(1), OWNER));
    REQUIRE(move_ask(l, ID(1), fence, "k", "?"));
    CHECK(lua_is(l, "0", "ENDED"));
    CHECK(field_is(l, ID(1), "q:k", "nil"));
}

TEST(R1_a_wrong_type_is_an_error)
{
    struct lua *l = lua_fresh();

    (void)lua_redis(l, "SET %st:%s x", l->T, ID(1));
    CHECK(!move_ask(l, ID(1), 1, "k", "?"));
    CHECK(!move_answer(l, ID(1), OWNER, "k", "!"));
}
