#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned started(struct lua *l, const char *id)
{
    return move_create(l, &(struct new_task){.id = id}) ? move_take(l, id) : 0;
}

TEST(the_last_answer_sets_the_job_going_again_and_its_worker_is_woken_each_time)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    lua_listen(l, "w1");
    REQUIRE(move_ask(l, ID(1), fence, "one", "?"));
    REQUIRE(move_ask(l, ID(1), fence, "two, with a comma", "?"));
    REQUIRE(move_answer(l, ID(1), OWNER, "one", "{\"a\":1}"));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(lua_is(l, "1.1", "i"));
    CHECK(field_is(l, ID(1), "a:one", "{\"a\":1}"));
    REQUIRE(move_answer(l, ID(1), OWNER, "two, with a comma", "2"));
    CHECK(lua_is(l, "1.1", "w"));
    CHECK(lua_is(l, "1.9", "5"));
    CHECK(lua_count(l, "1") == 16);
    REQUIRE(lua_hear(l) == 2);
    CHECK(strcmp(lua_message(l, 1), "I " ID(1) " two, with a comma") == 0);
    lua_deafen(l, "w1");
}

TEST(what_was_not_asked_or_is_answered_is_a_conflict)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    REQUIRE(move_answer(l, ID(1), OWNER, "k", "!"));
    CHECK(lua_is(l, "0", "CONFLICT"));
    REQUIRE(move_ask(l, ID(1), fence, "k", "?"));
    REQUIRE(move_answer(l, ID(1), OWNER, "k", "!"));
    REQUIRE(move_answer(l, ID(1), OWNER, "k", "later"));
    CHECK(lua_is(l, "0", "CONFLICT"));
    CHECK(field_is(l, ID(1), "a:k", "!"));
    REQUIRE(move_ask(l, ID(1), fence, "k2", "?"));
    CHECK(strcmp(move_end(l, ID(1), fence, "1"), "OK") == 0);
    REQUIRE(move_answer(l, ID(1), OWNER, "k2", "!"));
    CHECK(lua_is(l, "0", "CONFLICT"));
}

TEST(a_foreign_task_and_no_task_are_the_same_answer)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    REQUIRE(move_ask(l, ID(1), fence, "k", "?"));
    REQUIRE(move_answer(l, ID(1), OTHER, "k", "!"));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_answer(l, ID(2), OTHER, "k", "!"));
    CHECK(lua_is(l, "", "nil"));
    CHECK(field_is(l, ID(1), "a:k", "nil"));
}

TEST(an_answer_between_two_attempts_is_kept_and_changes_no_state)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    REQUIRE(move_ask(l, ID(1), fence, "k", "?"));
    REQUIRE(move_release(l, ID(1), fence));
    REQUIRE(move_answer(l, ID(1), OWNER, "k", "!"));
    CHECK(lua_is(l, "1.1", "w"));
    CHECK(is_at(l, ID(1), "ready"));
    fence = move_take(l, ID(1));
    REQUIRE(move_ask(l, ID(1), fence, "k", "?"));
    CHECK(lua_is(l, "1", "!"));
}

TEST(E_07_only_a_session_that_was_asked_may_answer)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_session(l, "s2", OWNER));
    REQUIRE(move_ask(l, ID(1), fence, "k", "{}"));
    REQUIRE(move_reply(l, ID(1), "s1", "k", "!"));
    CHECK(lua_is(l, "", "nil")); /* it was not sent anywhere */
    REQUIRE(move_open(l, "wait-1", 'r', "s2", ID(1), "b1"));
    REQUIRE(move_reply(l, ID(1), "s1", "k", "!"));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_reply(l, ID(1), "s", "k", "!"));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_reply(l, ID(1), "wait-1", "k", "!"));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_open(l, "wait-2", 'r', "s1", ID(1), "b1"));
    REQUIRE(move_reply(l, ID(1), "s2", "k", "!")); /* it still has the question */
    CHECK(lua_is(l, "0", "OK"));
    CHECK(field_is(l, ID(1), "a:k", "!"));
    REQUIRE(move_reply(l, ID(1), "s1", "k", "late"));
    CHECK(lua_is(l, "0", "CONFLICT"));
}

TEST(T_37_a_hosted_question_is_only_handed_over_by_its_first_answer)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_open(l, "wait-1", 'r', "s1", ID(1), "b1"));
    REQUIRE(move_host(l, ID(1), fence, "h", "{}"));
    REQUIRE(move_ask(l, ID(1), fence, "k", "{}"));
    lua_listen(l, "w1");
    REQUIRE(move_reply(l, ID(1), "s1", "h", "{\"task\":{}}"));
    CHECK(lua_is(l, "1.1", "i"));
    CHECK(lua_is(l, "1.9", "3"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "I " ID(1) " h") == 0);
    REQUIRE(move_reply(l, ID(1), "s1", "k", "{}"));
    CHECK(lua_is(l, "1.1", "i"));
    CHECK(field_is(l, ID(1), "io", "h"));
    lua_deafen(l, "w1");
}

TEST(many_sessions_may_have_been_asked_the_newest_eight_are_known)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));
    char session[16];
    char stream[16];

    REQUIRE(move_ask(l, ID(1), fence, "k", "{}"));
    for (unsigned i = 0; i < 10; i++) {
        (void)snprintf(session, sizeof(session), "t%u", i);
        (void)snprintf(stream, sizeof(stream), "w%u", i);
        REQUIRE(move_session(l, session, OWNER));
        REQUIRE(move_open(l, stream, 'r', session, ID(1), "b1"));
    }
    CHECK(field_is(l, ID(1), "w:k", "10 w9 t2 t3 t4 t5 t6 t7 t8 t9"));
    REQUIRE(move_reply(l, ID(1), "t1", "k", "!"));
    CHECK(lua_is(l, "", "nil"));
    REQUIRE(move_reply(l, ID(1), "t2", "k", "!"));
    CHECK(lua_is(l, "0", "OK"));
}
