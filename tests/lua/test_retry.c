#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned started(struct lua *l, const char *id)
{
    return move_create(l, &(struct new_task){.id = id}) ? move_take(l, id) : 0;
}

TEST(a_failed_attempt_is_charged_and_waits)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    REQUIRE(move_retry(l, ID(1), fence, 30000));
    CHECK(lua_is(l, "", "OK"));
    CHECK(is_at(l, ID(1), "delayed"));
    CHECK(field_is(l, ID(1), "tr", "1"));
    CHECK(field_is(l, ID(1), "m", "trying again"));
    REQUIRE(move_retry(l, ID(1), fence, 0));
    CHECK(lua_is(l, "", "STALE"));
    CHECK(field_is(l, ID(1), "tr", "1"));
    REQUIRE(move_tick(l));
    CHECK(is_at(l, ID(1), "delayed"));
    come_due(l, ID(1));
    REQUIRE(move_tick(l));
    CHECK(move_take(l, ID(1)) == fence + 2);
    CHECK(lua_is(l, "0.2", "2"));
}

TEST(the_window_slot_is_kept_while_it_waits)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .max_running = 1}));
    fence = move_take(l, ID(1));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(2), .max_running = 1}));
    REQUIRE(move_retry(l, ID(1), fence, 30000));
    CHECK(is_at(l, ID(2), "parked"));
    CHECK(lua_int(l, "ZSCORE %soa:%s %s", l->T, OWNER, ID(1)) < INT64_C(1) << 52);
}

TEST(the_last_attempt_ends_as_a_dead_letter_and_frees_its_slot)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    lua_listen(l, "b1");
    REQUIRE(move_create(
        l, &(struct new_task){
               .id = ID(1), .attempts = 1, .max_running = 1, .params = "{\"a\":1}", .bid = "b1"}));
    fence = move_take(l, ID(1));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(2), .max_running = 1}));
    REQUIRE(move_retry(l, ID(1), fence, 0));
    CHECK(lua_is(l, "", "DEAD"));
    CHECK(is_at(l, ID(1), "ended"));
    CHECK(field_is(l, ID(1), "s", "e"));
    CHECK(field_is(l, ID(1), "r", "{\"code\":-32603}"));
    CHECK(field_is(l, ID(1), "dd", "1"));
    CHECK(field_is(l, ID(1), "p", "{\"a\":1}"));
    CHECK(is_at(l, ID(2), "ready"));
    CHECK(lua_int(l, "EXISTS %sls %sdl", l->T, l->T) == 0);
    CHECK(lua_int(l, "XLEN %sdq", l->T) == 1);
    CHECK(lua_int(l, "HGET %sst e", l->T) == 1);
    CHECK(lua_int(l, "HGET %sst d", l->T) == 1);
    CHECK(lua_hear(l) == 1);
    REQUIRE(move_retry(l, ID(1), fence, 0));
    CHECK(lua_is(l, "", "ENDED"));
    lua_deafen(l, "b1");
}

TEST(a_retry_while_asking_goes_on_with_the_answers)
{
    struct lua *l = lua_fresh();
    unsigned fence = started(l, ID(1));

    REQUIRE(move_ask(l, ID(1), fence, "k1", "one?"));
    REQUIRE(move_ask(l, ID(1), fence, "k2", "two?"));
    REQUIRE(move_answer(l, ID(1), OWNER, "k1", "yes"));
    REQUIRE(move_retry(l, ID(1), fence, 0));
    CHECK(field_is(l, ID(1), "s", "w"));
    come_due(l, ID(1));
    REQUIRE(move_tick(l));
    fence = move_take(l, ID(1));
    REQUIRE(move_ask(l, ID(1), fence, "k1", "one?"));
    CHECK(lua_is(l, "0", "ANSWERED"));
    CHECK(lua_is(l, "1", "yes"));
}

TEST(a_long_reason_is_cut_between_characters)
{
    struct lua *l = lua_fresh();
    unsigned fence;
    char long_text[1202] = "x";

    for (int i = 1; i < 1200; i += 2)
        memcpy(long_text + i, "\xc3\xa4", 3);
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .attempts = 1}));
    fence = move_take(l, ID(1));
    REQUIRE(lua_do(l, "retry", "t:%s ls dl dq st : %s|%u|0|%s|{}", ID(1), ID(1), fence, long_text));
    REQUIRE(lua_do(l, "dead_list", "dq : 5"));
    CHECK(strlen(lua_at(l, "5")) == 1023);
    CHECK(strncmp(lua_at(l, "5"), long_text, 1023) == 0);
}

TEST(R1_a_wrong_type_changes_nothing)
{
    static const char *const keys[] = {"ls", "dl", "dq"};
    struct lua *l = lua_fresh();

    for (size_t i = 0; i < 3; i++) {
        unsigned fence;

        lua_flush(l);
        fence = started(l, ID(1));
        (void)lua_redis(l, "DEL %s%s", l->T, keys[i]);
        (void)lua_redis(l, "SET %s%s x", l->T, keys[i]);
        CHECK(!move_retry(l, ID(1), fence, 0));
        CHECK(field_is(l, ID(1), "tr", "nil"));
        CHECK(lua_int(l, "HGET %st:%s n", l->T, ID(1)) == fence);
    }
}
