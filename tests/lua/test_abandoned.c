#include "tests/lib/moves.h"
#include "tests/lib/test.h"

/* A task that has begun something elsewhere; its fence. */
static unsigned begun(struct lua *l, const char *id, unsigned attempts)
{
    unsigned fence;

    if (!move_create(l, &(struct new_task){.id = id, .attempts = attempts}))
        return 0;
    fence = move_take(l, id);
    return move_handle(l, id, fence, "\"job-7\"") ? fence : 0;
}

TEST(what_is_cancelled_between_two_attempts_is_left_to_be_stopped)
{
    struct lua *l = lua_fresh();
    unsigned fence = begun(l, ID(1), 3);

    REQUIRE(move_release(l, ID(1), fence));
    REQUIRE(move_cancel(l, ID(1), OWNER));
    REQUIRE(move_abandoned(l, "t", NULL));
    CHECK(lua_count(l, "") == 2 && lua_is(l, "0", "t") && lua_is(l, "1", ID(1) " \"job-7\""));
    CHECK(lua_int(l, "PTTL %sab:t", l->T) > 3600000);
    REQUIRE(move_abandoned(l, "t", ID(1) " \"job-7\""));
    CHECK(lua_count(l, "") == 0);
    CHECK(lua_int(l, "EXISTS %sab:t", l->T) == 0);
}

TEST(a_worker_that_hears_of_the_cancellation_does_it_itself)
{
    struct lua *l = lua_fresh();

    REQUIRE(begun(l, ID(1), 3) > 0);
    lua_listen(l, "w1");
    REQUIRE(move_cancel(l, ID(1), OWNER));
    REQUIRE(move_abandoned(l, "t", NULL));
    CHECK(lua_count(l, "") == 0);
    lua_deafen(l, "w1");
    REQUIRE(begun(l, ID(2), 3) > 0);
    REQUIRE(move_cancel(l, ID(2), OWNER)); /* it is dead, and its lease has not lapsed yet */
    REQUIRE(move_abandoned(l, "t", NULL));
    CHECK(lua_count(l, "") == 2);
}

TEST(what_is_given_up_after_the_last_attempt_is_left_too)
{
    struct lua *l = lua_fresh();
    unsigned fence = begun(l, ID(1), 1);

    lapse(l, ID(1));
    REQUIRE(move_tick(l));
    REQUIRE(move_abandoned(l, "t", NULL));
    CHECK(lua_count(l, "") == 2);
    fence = begun(l, ID(2), 1);
    REQUIRE(move_retry(l, ID(2), fence, 0));
    CHECK(lua_is(l, "", "DEAD"));
    REQUIRE(move_abandoned(l, "t", NULL));
    CHECK(lua_count(l, "") == 4);
}

TEST(B5_what_is_cancelled_while_its_worker_lets_go_of_it_is_left_once)
{
    struct lua *l = lua_fresh();

    lua_listen(l, "w1");
    for (int i = 0; i < 2; i++) {
        const char *id = i == 0 ? ID(1) : ID(2);
        unsigned fence = begun(l, id, 3);

        REQUIRE(fence > 0 && move_cancel(l, id, OWNER));
        CHECK(lua_int(l, "LLEN %sab:t", l->T) == i); /* the worker hears of it */
        for (int again = 0; again < 2; again++) {
            REQUIRE(i == 0 ? move_retry(l, id, fence, 0) : move_release(l, id, fence));
            CHECK(lua_is(l, i == 0 ? "" : "0", "ENDED"));
            CHECK(lua_int(l, "LLEN %sab:t", l->T) == i + 1);
        }
    }
    lua_deafen(l, "w1");
}

TEST(a_task_that_began_nothing_leaves_nothing)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    REQUIRE(move_cancel(l, ID(1), OWNER));
    CHECK(lua_int(l, "EXISTS %sab:t", l->T) == 0);
}
