#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <string.h>

static const char *const levels[] = {"debug", "info",     "notice", "warning",
                                     "error", "critical", "alert",  "emergency"};

static size_t log_all(struct lua *l, const char *stream, unsigned fence)
{
    size_t before = carried(l, stream);

    for (size_t i = 0; i < 8; i++)
        (void)move_log(l, ID(1), fence, levels[i], "{}");
    return carried(l, stream) - before;
}

TEST(U_14_the_level_of_the_session_decides_at_once)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    CHECK(log_all(l, "get-1", fence) == 7); /* info, unless it says otherwise */
    for (size_t i = 0; i < 8; i++) {
        REQUIRE(lua_do(l, "session_set", "se:s1 : s1|lv|%s", levels[i]));
        CHECK(log_all(l, "get-1", fence) == 8 - i);
    }
    REQUIRE(move_log(l, ID(1), fence, "chatty", "{}"));
    CHECK(lua_is(l, "", "OK"));
    CHECK(carried(l, "get-1") == 7 + 36);
}

TEST(T_59_a_line_is_sent_as_it_was_said_and_names_its_task)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    REQUIRE(lua_do(l, "log", "t:%s : %s|%u|error|\"my \\\"tool\\\"\"|{\"n\":9007199254740993}",
                   ID(1), ID(1), fence));
    CHECK(strcmp(carried_at(l, "get-1", 0),
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":"
                 "\"error\",\"logger\":\"my \\\"tool\\\"\",\"data\":{\"n\":9007199254740993},"
                 "\"_meta\":{\"io.modelcontextprotocol/related-task\":{\"taskId\":\"" ID(
                     1) "\"}}}}") == 0);
}

TEST(C_05_the_stateless_dialect_gets_what_its_request_asked_for_and_else_nothing)
{
    struct lua *l = lua_fresh();
    struct new_task t = {.id = ID(1), .dialect = 'M', .hidden = true, .stream = "call-1"};
    unsigned fence;

    REQUIRE(move_create(l, &t));
    fence = move_take(l, ID(1));
    CHECK(log_all(l, "call-1", fence) == 0);
    CHECK(lua_int(l, "EXISTS %ssm:call-1", l->T) == 0);
    lua_flush(l);
    t.level = "error";
    REQUIRE(move_create(l, &t));
    fence = move_take(l, ID(1));
    CHECK(log_all(l, "call-1", fence) == 4);
    CHECK(strstr(carried_at(l, "call-1", 0), "_meta") == NULL);
}

TEST(X_21_a_task_of_the_stateless_dialect_logs_to_nobody)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(
        l, &(struct new_task){
               .id = ID(1), .dialect = 'M', .hidden = true, .stream = "call-1", .level = "debug"}));
    fence = move_take(l, ID(1));
    REQUIRE(move_open(l, "call-1", 'c', NULL, ID(1), "b1"));
    REQUIRE(move_log(l, ID(1), fence, "info", "1"));
    CHECK(carried(l, "call-1") == 1);
    REQUIRE(move_promote(l, ID(1), OWNER));
    REQUIRE(move_log(l, ID(1), fence, "info", "2"));
    CHECK(carried(l, "call-1") == 1);
}

TEST(where_nobody_listens_nothing_is_kept)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_log(l, ID(1), fence, "error", "1"));
    CHECK(lua_is(l, "", "OK"));
    CHECK(lua_int(l, "EVAL return(#redis.call('KEYS',ARGV[1])) 0 *sx:*") == 0);
}

TEST(one_who_lost_the_task_logs_nothing)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    REQUIRE(move_log(l, ID(1), fence + 1, "error", "1"));
    CHECK(lua_is(l, "", "STALE"));
    REQUIRE(move_log(l, ID(2), fence, "error", "1"));
    CHECK(lua_is(l, "", "GONE"));
    CHECK(carried(l, "get-1") == 0);
    CHECK(strcmp(move_end(l, ID(1), fence, "{}"), "OK") == 0);
    REQUIRE(move_log(l, ID(1), fence, "error", "1"));
    CHECK(lua_is(l, "", "DONE"));
    CHECK(carried(l, "get-1") == 1); /* that it ended */
    (void)lua_redis(l, "SET %st:%s x", l->T, ID(3));
    CHECK(!move_log(l, ID(3), 1, "error", "1"));
}

TEST(what_cannot_be_written_is_not_sent_and_harms_nothing)
{
    struct lua *l = lua_fresh();
    unsigned fence = talking(l, ID(1));

    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    (void)lua_redis(l, "SET %ssx:get-1 x", l->T);
    REQUIRE(move_log(l, ID(1), fence, "error", "1"));
    CHECK(lua_is(l, "", "OK"));
    (void)lua_redis(l, "SET %ssm:get-1 x", l->T);
    REQUIRE(move_log(l, ID(1), fence, "error", "1"));
    CHECK(lua_is(l, "", "OK"));
    REQUIRE(move_report(l, ID(1), fence, "half", "1"));
    CHECK(lua_is(l, "", "OK"));
}
