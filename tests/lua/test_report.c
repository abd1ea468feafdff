#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned started(struct lua *l, const char *id)
{
    return move_create(l, &(struct new_task){.id = id}) ? move_take(l, id) : 0;
}

TEST(what_a_job_says_is_stored_and_told)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    lua_listen(l, "b1");
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .bid = "b1", .hidden = true}));
    fence = move_take(l, ID(1));
    REQUIRE(move_report(l, ID(1), fence, "half", "{\"progress\":1}"));
    CHECK(lua_is(l, "", "OK"));
    CHECK(field_is(l, ID(1), "m", "half"));
    CHECK(field_is(l, ID(1), "pg", "{\"progress\":1}"));
    CHECK(field_is(l, ID(1), "v", "2"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strncmp(lua_message(l, 0), "T w 0 c L ", 10) == 0);
    CHECK(strstr(lua_message(l, 0), " 4 14 -1\nhalf{\"progress\":1}") != NULL);
    lua_deafen(l, "b1");
}

TEST(what_is_not_said_stays_and_what_is_said_again_changes_nothing)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));
    char at[32];

    REQUIRE(move_report(l, ID(1), fence, "half", NULL));
    REQUIRE(move_report(l, ID(1), fence, NULL, "1"));
    CHECK(field_is(l, ID(1), "m", "half"));
    CHECK(field_is(l, ID(1), "pg", "1"));
    CHECK(field_is(l, ID(1), "v", "3"));
    (void)lua_redis(l, "HSET %st:%s ut 5", l->T, ID(1));
    REQUIRE(move_report(l, ID(1), fence, "half", "1"));
    CHECK(lua_is(l, "", "OK"));
    CHECK(field_is(l, ID(1), "ut", "5"));
    CHECK(field_is(l, ID(1), "v", "3"));
    REQUIRE(move_report(l, ID(1), fence, "", ""));
    CHECK(field_is(l, ID(1), "m", "nil"));
    CHECK(field_is(l, ID(1), "pg", "nil"));
    (void)snprintf(at, sizeof(at), "%s", field(l, ID(1), "ut"));
    CHECK(strtoll(at, NULL, 10) > 5);
}

TEST(U_10_T_83_progress_goes_to_the_one_who_gave_a_token_and_only_while_it_grows)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    REQUIRE(move_report(l, ID(1), fence, NULL, " {\"progress\":3,\"total\":10} "));
    CHECK(strcmp(carried_at(l, "wait-1", 0),
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                 "\"progressToken\":\"tok\",\"progress\":3,\"total\":10,\"_meta\":{"
                 "\"io.modelcontextprotocol/related-task\":{\"taskId\":\"" ID(1) "\"}}}}") == 0);
    CHECK(field_is(l, ID(1), "pm", "3"));
    REQUIRE(move_report(l, ID(1), fence, NULL, "{\"progress\":3,\"total\":9}"));
    REQUIRE(move_report(l, ID(1), fence, NULL, "{\"progress\":2.9}"));
    REQUIRE(move_report(l, ID(1), fence, "a word", NULL));
    CHECK(carried(l, "wait-1") == 1);
    CHECK(field_is(l, ID(1), "pg", "{\"progress\":2.9}"));
    REQUIRE(move_report(l, ID(1), fence, NULL, "{\"progress\":3.5}"));
    REQUIRE(move_report(l, ID(1), fence, NULL, "{\"progress\":12}"));
    CHECK(carried(l, "wait-1") == 3);
}

TEST(U_11_without_a_token_or_a_number_nothing_is_sent)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .session = "s1"}));
    fence = move_take(l, ID(1));
    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    REQUIRE(move_report(l, ID(1), fence, NULL, "{\"progress\":3}"));
    CHECK(field_is(l, ID(1), "pm", "nil"));
    (void)lua_redis(l, "HSET %st:%s pt 0", l->T, ID(1));
    REQUIRE(move_report(l, ID(1), fence, NULL, "{}"));
    REQUIRE(move_report(l, ID(1), fence, NULL, "7"));
    CHECK(carried(l, "wait-1") == 0);
    CHECK(field_is(l, ID(1), "pg", "7"));
}

TEST(T_84_a_later_attempt_starts_over_in_silence_and_nothing_follows_the_end)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    REQUIRE(move_report(l, ID(1), fence, NULL, "{\"progress\":5}"));
    REQUIRE(move_release(l, ID(1), fence));
    fence = move_take(l, ID(1));
    REQUIRE(move_report(l, ID(1), fence, NULL, "{\"progress\":1}"));
    CHECK(carried(l, "wait-1") == 1);
    REQUIRE(move_report(l, ID(1), fence, NULL, "{\"progress\":6}"));
    CHECK(carried(l, "wait-1") == 2);
    CHECK(strcmp(move_end(l, ID(1), fence, "{}"), "OK") == 0);
    REQUIRE(move_report(l, ID(1), fence, NULL, "{\"progress\":7}"));
    CHECK(lua_is(l, "", "DONE"));
    CHECK(carried(l, "wait-1") == 2);
}

TEST(T_81_status_goes_to_the_GET_stream_and_progress_to_the_one_that_waits)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    lua_listen(l, "b1");
    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    REQUIRE(move_report(l, ID(1), fence, "one", "{\"progress\":1}"));
    REQUIRE(lua_hear(l) == 2);
    CHECK(strstr(lua_message(l, 0), " d ") != NULL && strstr(lua_message(l, 1), " t ") != NULL);
    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    REQUIRE(move_report(l, ID(1), fence, "two", "{\"progress\":2}"));
    REQUIRE(lua_hear(l) == 2);
    CHECK(strncmp(lua_message(l, 0), "S wait-1 ", 9) == 0);
    CHECK(strncmp(lua_message(l, 1), "S get-1 ", 8) == 0);
    CHECK(carried(l, "get-1") == 3 && carried(l, "wait-1") == 1);
    lua_deafen(l, "b1");
}

TEST(one_who_lost_the_task_changes_nothing)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    REQUIRE(move_report(l, ID(1), 0, "half", NULL));
    CHECK(lua_is(l, "", "STALE"));
    fence = move_take(l, ID(1));
    REQUIRE(move_report(l, ID(1), fence + 1, "half", NULL));
    CHECK(lua_is(l, "", "STALE"));
    REQUIRE(move_report(l, ID(2), fence, "half", NULL));
    CHECK(lua_is(l, "", "GONE"));
    REQUIRE(move_cancel(l, ID(1), OWNER));
    REQUIRE(move_report(l, ID(1), fence, "half", NULL));
    CHECK(lua_is(l, "", "ENDED"));
    CHECK(field_is(l, ID(1), "m", "cancelled by request"));
}

TEST(R1_a_wrong_type_is_an_error)
{
    struct lua *l = lua_fresh();

    (void)lua_redis(l, "SET %st:%s x", l->T, ID(1));
    CHECK(!move_report(l, ID(1), 1, "m", NULL));
    CHECK(!move_handle(l, ID(1), 1, "m"));
}
