#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void kill_one(struct lua *l, const struct new_task *t)
{
    unsigned fence = move_create(l, t) ? move_take(l, t->id) : 0;
    struct end e = {.id = t->id, .fence = fence, .state = 'e', .dead = true, .message = "why"};

    (void)move_finish(l, &(struct hand){.wid = "w1"}, &e, 1, 0);
}

static void first_entry(struct lua *l, char out[32])
{
    (void)lua_do(l, "dead_list", "dq : 1");
    (void)snprintf(out, 32, "%s", lua_at(l, "0"));
}

TEST(a_dead_task_runs_again_as_a_new_one)
{
    struct lua *l = lua_fresh();
    char entry[32];

    kill_one(l, &(struct new_task){.id = ID(1),
                                   .priority = 2,
                                   .ttl = 500000,
                                   .attempts = 7,
                                   .params = "{\"p\":1}",
                                   .caller = "{\"n\":1}",
                                   .hidden = true,
                                   .session = "s",
                                   .max_running = 4,
                                   .ask_ms = 9000,
                                   .trace = "00-1"});
    first_entry(l, entry);
    REQUIRE(lua_do(l, "dead_requeue", "dq sq ix t:%s : %s|%s", ID(2), entry, ID(2)));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(lua_is(l, "1", ID(2)));
    CHECK(is_at(l, ID(2), "ready"));
    CHECK(field_is(l, ID(1), "s", "e"));
    CHECK(lua_int(l, "ZCARD %so:%s", l->T, OWNER) == 1);
    CHECK(field_is(l, ID(2), "ss", "nil"));
    CHECK(field_is(l, ID(2), "L", "4"));
    CHECK(lua_int(l, "XLEN %sdq", l->T) == 0);
    CHECK(lua_int(l, "ZSCORE %so:%s %s", l->T, OWNER, ID(2)) == 2);
    CHECK(lua_int(l, "PTTL %st:%s", l->T, ID(2)) > 400000);
    CHECK(lua_int(l, "PTTL %st:%s", l->T, ID(2)) <= 500000);
    REQUIRE(move_claim(l, &(struct hand){.wid = "w1"}, 1));
    CHECK(lua_is(l, "0.0", ID(2)));
    CHECK(lua_is(l, "0.2", "1"));
    CHECK(lua_is(l, "0.3", "7"));
    CHECK(lua_is(l, "0.6", "{\"p\":1}"));
    CHECK(lua_is(l, "0.7", "{\"n\":1}"));
    CHECK(lua_is(l, "0.8", "00-1"));
    CHECK(lua_is(l, "0.14", "9000"));
}

TEST(said_again_it_is_the_same_requeue)
{
    struct lua *l = lua_fresh();
    char entry[32];

    kill_one(l, &(struct new_task){.id = ID(1)});
    first_entry(l, entry);
    REQUIRE(lua_do(l, "dead_requeue", "dq sq ix t:%s : %s|%s", ID(2), entry, ID(2)));
    REQUIRE(lua_do(l, "dead_requeue", "dq sq ix t:%s : %s|%s", ID(2), entry, ID(2)));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(lua_int(l, "LLEN %srq:t:0", l->T) == 1);
    REQUIRE(lua_do(l, "dead_requeue", "dq sq ix t:%s : %s|%s", ID(3), entry, ID(3)));
    CHECK(lua_is(l, "", "nil"));
    CHECK(lua_int(l, "EXISTS %st:%s", l->T, ID(3)) == 0);
}

TEST(an_expired_task_cannot_run_again_and_its_letter_stays)
{
    struct lua *l = lua_fresh();
    char entry[32];

    kill_one(l, &(struct new_task){.id = ID(1)});
    expire(l, ID(1), OWNER);
    first_entry(l, entry);
    REQUIRE(lua_do(l, "dead_requeue", "dq sq ix t:%s : %s|%s", ID(2), entry, ID(2)));
    CHECK(lua_is(l, "0", "EXPIRED"));
    CHECK(lua_int(l, "XLEN %sdq", l->T) == 1);
}

TEST(beyond_the_window_it_is_parked)
{
    struct lua *l = lua_fresh();
    char entry[32];

    kill_one(l, &(struct new_task){.id = ID(1), .max_running = 1});
    REQUIRE(move_create(l, &(struct new_task){.id = ID(3), .max_running = 1}));
    first_entry(l, entry);
    REQUIRE(lua_do(l, "dead_requeue", "dq sq ix t:%s : %s|%s", ID(2), entry, ID(2)));
    CHECK(is_at(l, ID(2), "parked"));
    REQUIRE(move_cancel(l, ID(3), OWNER));
    CHECK(is_at(l, ID(2), "ready"));
}

TEST(R1_a_wrong_type_changes_nothing)
{
    static const char *const keys[] = {"sq", "ix", "oa:" OWNER, "o:" OWNER, "rq:t:0"};
    struct lua *l = lua_fresh();
    char entry[32];

    for (size_t i = 0; i < 5; i++) {
        lua_flush(l);
        kill_one(l, &(struct new_task){.id = ID(1)});
        first_entry(l, entry);
        (void)lua_redis(l, "DEL %s%s", l->T, keys[i]);
        (void)lua_redis(l, i == 0 ? "SADD %s%s x" : "SET %s%s x", l->T, keys[i]);
        CHECK(!lua_do(l, "dead_requeue", "dq sq ix t:%s : %s|%s", ID(2), entry, ID(2)));
        CHECK(lua_int(l, "EXISTS %st:%s", l->T, ID(2)) == 0);
        CHECK(lua_int(l, "XLEN %sdq", l->T) == 1);
    }
}
