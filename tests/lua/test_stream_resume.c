#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

/* A tasks/result stream of a running task that carried three log lines. */
static unsigned three_lines(struct lua *l)
{
    unsigned fence = talking(l, ID(1));

    if (!move_open(l, "wait-1", 'r', "s1", ID(1), "b1"))
        return 0;
    for (int i = 1; i <= 3; i++) {
        char data[2] = {(char)('0' + i), '\0'};

        (void)move_log(l, ID(1), fence, "info", data);
    }
    return fence;
}

TEST(B14_exactly_what_followed_comes_at_another_process_and_the_former_is_told)
{
    struct lua *l = lua_fresh();

    lua_listen(l, "b1");
    lua_listen(l, "b2");
    REQUIRE(three_lines(l) == 1);
    CHECK(lua_hear(l) == 3);
    REQUIRE(move_resume(l, "wait-1", entry_at(l, "wait-1", 0), "s1", "b2"));
    REQUIRE(lua_count(l, "") == 5 + 6);
    CHECK(lua_is(l, "0", "OK") && lua_is(l, "1", "r") && lua_is(l, "2", ID(1)));
    CHECK(lua_is(l, "3", "7") && lua_is(l, "4", "0"));
    CHECK(lua_is(l, "6", "d"));
    CHECK(strstr(lua_at(l, "7"), "\"data\":2") != NULL);
    CHECK(strstr(lua_at(l, "10"), "\"data\":3") != NULL);
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_channel(l, 0), "b1") == 0 && strcmp(lua_message(l, 0), "G wait-1") == 0);
    REQUIRE(move_log(l, ID(1), 1, "info", "4"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_channel(l, 0), "b2") == 0);
    lua_deafen(l, "b1");
    lua_deafen(l, "b2");
}

TEST(from_the_priming_event_on_all_of_it_comes_and_after_the_last_nothing)
{
    struct lua *l = lua_fresh();

    lua_listen(l, "b1");
    REQUIRE(three_lines(l) == 1);
    (void)lua_hear(l);
    REQUIRE(move_resume(l, "wait-1", "0", "s1", "b1"));
    CHECK(lua_count(l, "") == 5 + 9);
    CHECK(lua_hear(l) == 0); /* nobody else held it */
    REQUIRE(move_resume(l, "wait-1", entry_at(l, "wait-1", 2), "s1", "b1"));
    CHECK(lua_count(l, "") == 5);
    CHECK(lua_is(l, "4", "0"));
    lua_deafen(l, "b1");
}

TEST(a_stream_whose_client_left_goes_on_collecting)
{
    struct lua *l = lua_fresh();

    lua_listen(l, "b1");
    REQUIRE(three_lines(l) == 1);
    REQUIRE(move_drop(l, "wait-1", "b1", 60000));
    (void)lua_hear(l);
    REQUIRE(move_log(l, ID(1), 1, "info", "4"));
    CHECK(lua_hear(l) == 0);
    REQUIRE(move_resume(l, "wait-1", entry_at(l, "wait-1", 2), "s1", "b2"));
    REQUIRE(lua_count(l, "") == 5 + 3);
    CHECK(strstr(lua_at(l, "7"), "\"data\":4") != NULL);
    CHECK(lua_int(l, "PTTL %ssm:wait-1", l->T) > 60000);
    CHECK(lua_int(l, "PTTL %ssx:wait-1", l->T) > 60000);
    lua_deafen(l, "b1");
}

TEST(what_was_trimmed_is_a_gap_and_what_may_have_fallen_into_it_is_asked_again)
{
    struct lua *l = lua_fresh();
    char first[48];

    REQUIRE(three_lines(l) == 1);
    (void)snprintf(first, sizeof(first), "%s", entry_at(l, "wait-1", 0));
    REQUIRE(move_ask(l, ID(1), 1, "k", "{}"));
    REQUIRE(lua_redis(l, "XTRIM %ssx:wait-1 MAXLEN 2", l->T));
    REQUIRE(move_resume(l, "wait-1", entry_at(l, "wait-1", 0), "s1", "b2"));
    CHECK(lua_is(l, "4", "0"));
    CHECK(lua_count(l, "") == 5 + 3);
    REQUIRE(move_resume(l, "wait-1", first, "s1", "b2"));
    CHECK(lua_is(l, "4", "1"));
    REQUIRE(lua_count(l, "") == 5 + 12);
    CHECK(strstr(lua_at(l, "10"), "/k/1\"") != NULL);
    CHECK(strstr(lua_at(l, "13"), "notifications/cancelled") != NULL);
    CHECK(strstr(lua_at(l, "16"), "/k/2\"") != NULL);
}

TEST(the_record_of_a_stream_is_bounded)
{
    struct lua *l = lua_fresh();

    REQUIRE(three_lines(l) == 1);
    for (int i = 0; i < 1500; i++)
        (void)move_log(l, ID(1), 1, "info", "\"a line of some length, as lines are\"");
    CHECK(carried(l, "wait-1") >= 512);
    CHECK(carried(l, "wait-1") < 712);
    REQUIRE(move_resume(l, "wait-1", "0", "s1", "b2"));
    CHECK(lua_is(l, "4", "1"));
}

TEST(a_question_that_went_elsewhere_meanwhile_is_asked_again)
{
    struct lua *l = lua_fresh();

    REQUIRE(three_lines(l) == 1);
    REQUIRE(move_open(l, "wait-2", 'r', "s1", ID(1), "b2"));
    REQUIRE(move_ask(l, ID(1), 1, "k", "{}"));
    CHECK(carried(l, "wait-1") == 3 && carried(l, "wait-2") == 1);
    REQUIRE(move_resume(l, "wait-1", entry_at(l, "wait-1", 2), "s1", "b1"));
    REQUIRE(lua_count(l, "") == 5 + 6);
    CHECK(strstr(lua_at(l, "10"), "/k/2\"") != NULL);
    CHECK(field_is(l, ID(1), "hs", "wait-1"));
    REQUIRE(move_resume(l, "wait-1", entry_at(l, "wait-1", 4), "s1", "b1"));
    CHECK(lua_count(l, "") == 5); /* it is here already */
}

TEST(a_GET_stream_that_is_resumed_is_the_newest_again)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    REQUIRE(move_open(l, "get-2", 'g', "s1", NULL, "b2"));
    lua_listen(l, "b2");
    REQUIRE(move_resume(l, "get-1", "0", "s1", "b1"));
    CHECK(lua_is(l, "1", "g") && lua_is(l, "2", "") && lua_is(l, "3", ""));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "V get-2") == 0);
    (void)lua_redis(l, "HGET %sse:s1 gs", l->T);
    CHECK(lua_is(l, "", "get-1"));
    lua_deafen(l, "b2");
}

TEST(H_25_H_35_only_its_session_and_owner_go_on_with_a_stream)
{
    struct lua *l = lua_fresh();
    static const char *const bad[] = {"",    "-", "x",      "1-2-3",
                                      "1-x", "+", "1 OR 2", "99999999999999999999999"};

    REQUIRE(three_lines(l) == 1);
    REQUIRE(move_session(l, "s2", OWNER));
    REQUIRE(move_session(l, "s3", OTHER));
    REQUIRE(move_resume(l, "wait-1", "0", "s2", "b2"));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_resume(l, "wait-1", "0", "s3", "b2"));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_resume(l, "wait-1", "0", "", "b2"));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_resume(l, "wait-9", "0", "s1", "b2"));
    CHECK(lua_is(l, "", "nil"));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        REQUIRE(move_resume(l, "wait-1", bad[i], "s1", "b2"));
        CHECK(lua_is(l, "", "nil"));
    }
    REQUIRE(lua_do(l, "session_end", "se:s1 wt:s1 so:%s : s1|%s", OWNER, OWNER));
    REQUIRE(move_resume(l, "wait-1", "0", "s1", "b2"));
    CHECK(lua_is(l, "", "nil"));
    (void)lua_redis(l, "HGET %ssm:wait-1 b", l->T);
    CHECK(lua_is(l, "", "b1"));
}

TEST(H_24_the_stream_of_a_task_that_has_ended_or_is_gone_still_tells_what_it_carried)
{
    struct lua *l = lua_fresh();

    REQUIRE(three_lines(l) == 1);
    CHECK(strcmp(move_end(l, ID(1), 1, "{}"), "OK") == 0);
    (void)lua_redis(l, "HDEL %st:%s hs", l->T, ID(1));
    REQUIRE(move_resume(l, "wait-1", entry_at(l, "wait-1", 1), "s1", "b2"));
    CHECK(lua_count(l, "") == 5 + 3);
    CHECK(field_is(l, ID(1), "hs", "nil"));
    (void)lua_redis(l, "DEL %st:%s", l->T, ID(1));
    REQUIRE(move_resume(l, "wait-1", "0", "s1", "b2"));
    CHECK(lua_count(l, "") == 5 + 9);
    CHECK(lua_int(l, "EXISTS %st:%s", l->T, ID(1)) == 0);
}

TEST(R1_a_wrong_type_is_an_error_or_no_stream_and_nothing_has_changed)
{
    struct lua *l = lua_fresh();

    REQUIRE(three_lines(l) == 1);
    (void)lua_redis(l, "SET %ssm:wait-2 x", l->T);
    CHECK(!move_resume(l, "wait-2", "0", "s1", "b2"));
    (void)lua_redis(l, "SET %ssx:wait-1 x", l->T);
    REQUIRE(move_resume(l, "wait-1", "0", "s1", "b2"));
    CHECK(lua_is(l, "", "nil"));
    (void)lua_redis(l, "HGET %ssm:wait-1 b", l->T);
    CHECK(lua_is(l, "", "b1"));
}
