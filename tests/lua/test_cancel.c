#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned started(struct lua *l, const char *id)
{
    return move_create(l, &(struct new_task){.id = id}) ? move_take(l, id) : 0;
}

TEST(a_running_task_is_ended_and_its_worker_fenced_off_and_told)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    lua_listen(l, "w1");
    REQUIRE(move_cancel(l, ID(1), OWNER));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(lua_is(l, "1.1", "x"));
    CHECK(lua_is(l, "1.11", "cancelled by request"));
    CHECK(field_is(l, ID(1), "s", "x"));
    CHECK(lua_int(l, "EXISTS %sls %soa:%s", l->T, l->T, OWNER) == 0);
    CHECK(lua_int(l, "HGET %sst x", l->T) == 1);
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "C " ID(1)) == 0);
    CHECK(strcmp(move_end(l, ID(1), fence, "1"), "ENDED") == 0);
    lua_deafen(l, "w1");
}

TEST(a_task_is_cancelled_wherever_it_waits)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .max_running = 2}));
    fence = move_take(l, ID(1));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(2), .max_running = 2}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(3), .max_running = 2}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(4), .max_running = 2}));
    REQUIRE(move_retry(l, ID(1), fence, 60000));
    CHECK(is_at(l, ID(1), "delayed") && is_at(l, ID(2), "ready") && is_at(l, ID(3), "parked"));
    REQUIRE(move_cancel(l, ID(3), OWNER));
    CHECK(is_at(l, ID(3), "ended"));
    CHECK(is_at(l, ID(4), "parked"));
    REQUIRE(move_cancel(l, ID(1), OWNER));
    CHECK(is_at(l, ID(1), "ended"));
    CHECK(lua_int(l, "EXISTS %sdl", l->T) == 0);
    CHECK(is_at(l, ID(4), "ready"));
    REQUIRE(move_cancel(l, ID(2), OWNER));
    REQUIRE(move_claim(l, &(struct hand){.wid = "w1"}, 5));
    CHECK(lua_count(l, "") == 1);
    CHECK(lua_is(l, "0.0", ID(4)));
}

TEST(one_that_asks_is_cancelled_too)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    REQUIRE(move_ask(l, ID(1), fence, "k", "?"));
    REQUIRE(move_cancel(l, ID(1), OWNER));
    CHECK(lua_is(l, "1.1", "x"));
    CHECK(field_is(l, ID(1), "q:k", "nil"));
}

TEST(what_has_ended_stays_as_it_ended)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    CHECK(strcmp(move_end(l, ID(1), fence, "1"), "OK") == 0);
    REQUIRE(move_cancel(l, ID(1), OWNER));
    CHECK(lua_is(l, "0", "ENDED"));
    CHECK(lua_is(l, "1.1", "r"));
    CHECK(field_is(l, ID(1), "r", "1"));
    REQUIRE(move_cancel(l, ID(1), OWNER));
    CHECK(lua_is(l, "0", "ENDED"));
}

TEST(a_foreign_a_hidden_and_no_task_are_the_same_answer)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .hidden = true}));
    REQUIRE(move_cancel(l, ID(1), OWNER));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_cancel(l, ID(1), OTHER));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_cancel(l, ID(2), OWNER));
    CHECK(lua_is(l, "", "nil"));
    CHECK(is_at(l, ID(1), "ready"));
    REQUIRE(lua_do(l, "cancel", "t:%s ls dl st oa:%s rl:%s : %s|%s|0|1", ID(1), OWNER, OWNER, ID(1),
                   OWNER));
    CHECK(lua_is(l, "0", "OK"));
}

TEST(over_the_rate_nothing_is_cancelled)
{
    struct lua *l = lua_fresh();

    (void)started(l, ID(1));
    REQUIRE(lua_do(l, "throttle", "rl:%s : %s|10|1", OWNER, OWNER));
    REQUIRE(lua_do(l, "cancel", "t:%s ls dl st oa:%s rl:%s : %s|%s|10|0", ID(1), OWNER, OWNER,
                   ID(1), OWNER));
    CHECK(lua_is(l, "0", "RATE"));
    CHECK(is_at(l, ID(1), "running"));
}

TEST(R1_a_wrong_type_changes_nothing)
{
    static const char *const keys[] = {"ls", "dl", ("oa:" OWNER)};
    struct lua *l = lua_fresh();

    for (size_t i = 0; i < 3; i++) {
        lua_flush(l);
        (void)started(l, ID(1));
        (void)lua_redis(l, "DEL %s%s", l->T, keys[i]);
        (void)lua_redis(l, "SET %s%s x", l->T, keys[i]);
        CHECK(!move_cancel(l, ID(1), OWNER));
        CHECK(field_is(l, ID(1), "s", "w"));
        CHECK(field_is(l, ID(1), "n", "1"));
    }
}

TEST(T_72_what_the_client_was_asked_is_called_back_before_the_end_is_told)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    lua_listen(l, "b1");
    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(
        move_create(l, &(struct new_task){.id = ID(1),
                                          .session = "s1",
                                          .bid = "b1",
                                          .caps = "{\"tasks\":{\"cancel\":{},\"requests\":{}}}"}));
    fence = move_take(l, ID(1));
    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    REQUIRE(move_ask(l, ID(1), fence, "open", "{}"));
    REQUIRE(move_ask(l, ID(1), fence, "said", "{}"));
    REQUIRE(move_host(l, ID(1), fence, "theirs", "{}"));
    REQUIRE(move_host(l, ID(1), fence, "not yet", "{}"));
    REQUIRE(move_reply(l, ID(1), "s1", "said", "{}"));
    REQUIRE(move_reply(l, ID(1), "s1", "theirs", "{\"task\":{\"taskId\":\"c\\u0022\"}}"));
    (void)lua_hear(l);
    REQUIRE(move_cancel(l, ID(1), OWNER));
    REQUIRE(carried(l, "wait-1") == 6);
    REQUIRE(lua_hear(l) == 3);
    CHECK(strncmp(lua_message(l, 2), "T x ", 4) == 0);
    (void)lua_redis(l, "XRANGE %ssx:wait-1 - +", l->T);
    CHECK(strstr(lua_at(l, "4.1.1"), "\"requestId\":\"" ID(1) "/open/1\"") != NULL ||
          strstr(lua_at(l, "5.1.1"), "\"requestId\":\"" ID(1) "/open/1\"") != NULL);
    CHECK(strcmp(lua_at(l, strstr(lua_at(l, "4.1.1"), "tasks/cancel") != NULL ? "4.1.1" : "5.1.1"),
                 "{\"jsonrpc\":\"2.0\",\"id\":\"" ID(
                     1) "/theirs/2\",\"method\":\"tasks/cancel\",\"params\":{\"taskId\":"
                        "\"c\\u0022\"}}") == 0);
    CHECK(field_is(l, ID(1), "q:open", "nil") && field_is(l, ID(1), "w:theirs", "nil"));
    lua_deafen(l, "b1");
}

TEST(a_client_that_cannot_cancel_its_tasks_is_not_asked_to)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    REQUIRE(move_host(l, ID(1), fence, "k", "{}"));
    REQUIRE(move_reply(l, ID(1), "s1", "k", "{\"task\":{\"taskId\":\"c\"}}"));
    REQUIRE(move_cancel(l, ID(1), OWNER));
    CHECK(carried(l, "wait-1") == 1);
}

TEST(an_answer_that_names_no_task_is_no_harm_at_the_end)
{
    static const char *const said[] = {"",       "x",  "7",  "{\"task\":7}", "{\"result\":7}",
                                       "[[[[[[", "{}", "nil"};
    struct lua *l = lua_fresh();

    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        unsigned fence;

        lua_flush(l);
        fence = talking(l, ID(1));
        (void)lua_redis(l, "HSET %st:%s cc \"cancel\"", l->T, ID(1));
        REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
        REQUIRE(move_host(l, ID(1), fence, "k", "{}"));
        REQUIRE(move_reply(l, ID(1), "s1", "k", said[i]));
        REQUIRE(move_cancel(l, ID(1), OWNER));
        CHECK(field_is(l, ID(1), "s", "x"));
        CHECK(carried(l, "wait-1") == 1);
    }
}
