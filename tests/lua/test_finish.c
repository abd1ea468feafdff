#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hand usual = {.wid = "w1"};

static unsigned started(struct lua *l, const struct new_task *t)
{
    return move_create(l, t) ? move_take(l, t->id) : 0;
}

TEST(an_outcome_ends_the_task_and_clears_its_places)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(
        l,
        &(struct new_task){
            .id = ID(1), .bid = "b1", .caller = "{}", .token = "1", .caps = "{}", .request = "2"});
    struct end e = {.id = ID(1),
                    .fence = fence,
                    .is_error = true,
                    .message = "done so far",
                    .outcome = "{\"isError\":true}"};
    static const char *const dropped[] = {"p", "wk", "wb", "cc", "cl", "pt", "tp"};

    REQUIRE(move_finish(l, &usual, &e, 1, 0));
    CHECK(lua_is(l, "0.0", "OK"));
    CHECK(lua_count(l, "1") == 0);
    CHECK(is_at(l, ID(1), "ended"));
    CHECK(field_is(l, ID(1), "ie", "1"));
    CHECK(field_is(l, ID(1), "m", "done so far"));
    CHECK(field_is(l, ID(1), "r", "{\"isError\":true}"));
    CHECK(field_is(l, ID(1), "v", "2"));
    for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
        CHECK(field_is(l, ID(1), dropped[i], "nil"));
    CHECK(lua_int(l, "EXISTS %sls %soa:%s %srq:t:0", l->T, l->T, OWNER, l->T) == 0);
    CHECK(lua_int(l, "HGET %sst r", l->T) == 1);
    CHECK(lua_int(l, "PTTL %st:%s", l->T, ID(1)) > 0);
}

TEST(an_outcome_said_again_is_done_and_changes_nothing)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, &(struct new_task){.id = ID(1)});

    CHECK(strcmp(move_end(l, ID(1), fence, "1"), "OK") == 0);
    CHECK(strcmp(move_end(l, ID(1), fence, "2"), "DONE") == 0);
    CHECK(field_is(l, ID(1), "r", "1"));
    CHECK(lua_int(l, "HGET %sst r", l->T) == 1);
}

TEST(every_verdict_is_given_for_its_own_task)
{
    struct lua *l = lua_fresh();
    unsigned lost = started(l, &(struct new_task){.id = ID(1)});
    unsigned cancelled = started(l, &(struct new_task){.id = ID(2)});
    unsigned good = started(l, &(struct new_task){.id = ID(3)});
    struct end ends[] = {{.id = ID(1), .fence = lost}, {.id = ID(2), .fence = cancelled},
                         {.id = ID(3), .fence = good}, {.id = ID(3), .fence = good},
                         {.id = ID(4), .fence = 1},    {.id = ID(5), .fence = 1}};

    REQUIRE(move_release(l, ID(1), lost));
    REQUIRE(move_cancel(l, ID(2), OWNER));
    (void)lua_redis(l, "SET %st:%s x", l->T, ID(5));
    REQUIRE(move_finish(l, &usual, ends, 6, 0));
    CHECK(lua_is(l, "0.0", "STALE"));
    CHECK(lua_is(l, "0.1", "ENDED"));
    CHECK(lua_is(l, "0.2", "OK"));
    CHECK(lua_is(l, "0.3", "DONE"));
    CHECK(lua_is(l, "0.4", "GONE"));
    CHECK(lua_is(l, "0.5", "GONE"));
    CHECK(is_at(l, ID(1), "ready"));
}

TEST(the_next_jobs_come_with_the_same_answer)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, &(struct new_task){.id = ID(1)});
    struct end e = {.id = ID(1), .fence = fence};

    REQUIRE(move_create(l, &(struct new_task){.id = ID(2)}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(3)}));
    REQUIRE(move_finish(l, &usual, &e, 1, 1));
    CHECK(lua_is(l, "1.0.0", ID(2)));
    CHECK(lua_count(l, "1") == 1);
    CHECK(lua_int(l, "LLEN %sil:p", l->T) == 0);
    REQUIRE(move_finish(l, &usual, NULL, 0, 2));
    CHECK(lua_is(l, "1.0.0", ID(3)));
    CHECK(lua_int(l, "LLEN %sil:p", l->T) == 1);
    REQUIRE(move_finish(l, &usual, NULL, 0, 0));
    CHECK(lua_int(l, "LLEN %sil:p", l->T) == 1);
}

TEST(each_end_promotes_one_parked_task_of_its_owner)
{
    struct lua *l = lua_fresh();
    struct new_task t = {.max_running = 2};
    static const char *const ids[] = {ID(1), ID(2), ID(3), ID(4), ID(5)};
    struct end ends[2] = {{.id = ID(1)}, {.id = ID(2)}};

    for (int i = 0; i < 5; i++) {
        t.id = ids[i];
        REQUIRE(move_create(l, &t));
    }
    ends[0].fence = move_take(l, ID(1));
    ends[1].fence = move_take(l, ID(2));
    REQUIRE(move_finish(l, &usual, ends, 2, 0));
    CHECK(is_at(l, ID(3), "ready"));
    CHECK(is_at(l, ID(4), "ready"));
    CHECK(is_at(l, ID(5), "parked"));
}

TEST(promotion_goes_by_the_candidates_own_limit_and_past_the_expired)
{
    struct lua *l = lua_fresh();
    struct new_task t = {.max_running = 1};
    unsigned fence;

    t.id = ID(1);
    REQUIRE(move_create(l, &t));
    fence = move_take(l, ID(1));
    t.id = ID(2);
    REQUIRE(move_create(l, &t));
    t.id = ID(3);
    REQUIRE(move_create(l, &t));
    (void)lua_redis(l, "DEL %st:%s", l->T, ID(2));
    (void)lua_redis(l, "HDEL %st:%s L", l->T, ID(1));
    CHECK(strcmp(move_end(l, ID(1), fence, "1"), "OK") == 0);
    CHECK(is_at(l, ID(3), "ready"));
    CHECK(lua_int(l, "ZCARD %soa:%s", l->T, OWNER) == 1);
}

TEST(the_waiting_process_is_told_once_with_the_outcome)
{
    struct lua *l = lua_fresh();
    unsigned fence;
    char want[256];

    lua_listen(l, "b1");
    fence = started(l, &(struct new_task){.id = ID(1), .bid = "b1", .hidden = true});
    CHECK(lua_hear(l) == 0);
    CHECK(strcmp(move_end(l, ID(1), fence, "{\"r\":1}"), "OK") == 0);
    CHECK(strcmp(move_end(l, ID(1), fence, "{\"r\":1}"), "DONE") == 0);
    REQUIRE(lua_hear(l) == 1);
    (void)lua_redis(l, "HMGET %st:%s ct ut xp", l->T, ID(1));
    (void)snprintf(want, sizeof(want), "T r 0 c L %s %s %s 0 2 1 " ID(1) " t - 0 0 7\n{\"r\":1}",
                   lua_at(l, "0"), lua_at(l, "1"), lua_at(l, "2"));
    CHECK(strcmp(lua_message(l, 0), want) == 0);
    lua_deafen(l, "b1");
}

TEST(the_GET_stream_of_the_session_has_the_end_without_the_outcome)
{
    struct lua *l = lua_fresh();
    struct new_task t = {.id = ID(1), .session = "s1", .bid = "b1"};
    unsigned fence;

    lua_listen(l, "b1");
    REQUIRE(move_session(l, "s1", OWNER));
    REQUIRE(move_open(l, "get-1", 'g', "s1", NULL, "b1"));
    fence = started(l, &t);
    CHECK(strcmp(move_end(l, ID(1), fence, "1"), "OK") == 0);
    REQUIRE(lua_hear(l) == 2);
    CHECK(strstr(lua_message(l, 0), " t s1 0 0 1\n1") != NULL);
    CHECK(strncmp(lua_message(l, 1), "S get-1 ", 8) == 0);
    CHECK(strstr(lua_message(l, 1), " t s1 0 0 -2\n") != NULL);
    t.id = ID(2);
    t.hidden = true;
    t.bid = NULL;
    fence = started(l, &t);
    CHECK(strcmp(move_end(l, ID(2), fence, "1"), "OK") == 0);
    CHECK(lua_hear(l) == 0);
    lua_deafen(l, "b1");
}

TEST(an_outcome_over_16_kb_is_not_sent_along)
{
    struct lua *l = lua_fresh();
    unsigned fence;
    char *large = malloc(16386);

    memset(large, 'x', 16385);
    large[16385] = '\0';
    lua_listen(l, "b1");
    fence = started(l, &(struct new_task){.id = ID(1), .bid = "b1"});
    CHECK(strcmp(move_end(l, ID(1), fence, large), "OK") == 0);
    fence = started(l, &(struct new_task){.id = ID(2), .bid = "b1"});
    CHECK(strcmp(move_end(l, ID(2), fence, large + 1), "OK") == 0);
    REQUIRE(lua_hear(l) == 2);
    CHECK(strstr(lua_message(l, 0), " - 0 0 -2\n") != NULL);
    CHECK(strlen(lua_message(l, 0)) < 200);
    CHECK(strstr(lua_message(l, 1), " - 0 0 16384\n") != NULL);
    CHECK(strlen(lua_message(l, 1)) > 16384);
    free(large);
    lua_deafen(l, "b1");
}

TEST(a_dead_outcome_is_a_letter_and_keeps_its_params)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, &(struct new_task){.id = ID(1), .params = "{\"k\":1}"});
    struct end e = {.id = ID(1), .fence = fence, .state = 'e', .dead = true, .message = "why"};

    REQUIRE(move_finish(l, &usual, &e, 1, 0));
    CHECK(field_is(l, ID(1), "dd", "1"));
    CHECK(field_is(l, ID(1), "p", "{\"k\":1}"));
    CHECK(lua_int(l, "HGET %sst d", l->T) == 1);
    REQUIRE(lua_do(l, "dead_list", "dq : 5"));
    CHECK(lua_is(l, "1", ID(1)));
    CHECK(lua_is(l, "5", "why"));
}

TEST(questions_and_answers_go_with_the_end)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, &(struct new_task){.id = ID(1)});

    REQUIRE(move_ask(l, ID(1), fence, "k", "{}"));
    REQUIRE(move_answer(l, ID(1), OWNER, "k", "{}"));
    CHECK(strcmp(move_end(l, ID(1), fence, "1"), "OK") == 0);
    CHECK(field_is(l, ID(1), "q:k", "nil"));
    CHECK(field_is(l, ID(1), "a:k", "nil"));
    CHECK(field_is(l, ID(1), "io", "nil"));
}

TEST(R1_a_wrong_type_ends_nothing)
{
    static const char *const keys[] = {"ls", "il:p", "dq"};
    struct lua *l = lua_fresh();

    for (size_t i = 0; i < 3; i++) {
        struct end e = {.id = ID(1)};

        lua_flush(l);
        e.fence = started(l, &(struct new_task){.id = ID(1)});
        (void)lua_redis(l, "DEL %s%s", l->T, keys[i]);
        (void)lua_redis(l, "SET %s%s x", l->T, keys[i]);
        CHECK(!move_finish(l, &usual, &e, 1, 1));
        CHECK(field_is(l, ID(1), "s", "w"));
        CHECK(lua_int(l, "ZCARD %soa:%s", l->T, OWNER) == 1);
    }
}
