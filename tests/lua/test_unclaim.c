#include "tests/lib/moves.h"
#include "tests/lib/test.h"

static const struct hand lost = {.wid = "w1", .number = 7};

/* Two tasks in the hands of nobody: the answer of their claim was lost. */
static struct lua *claimed(void)
{
    struct lua *l = lua_fresh();

    (void)move_create(l, &(struct new_task){.id = ID(1), .attempts = 1});
    (void)move_create(l, &(struct new_task){.id = ID(2)});
    (void)move_create(l, &(struct new_task){.id = ID(3)});
    (void)move_claim(l, &lost, 2);
    return l;
}

TEST(what_a_lost_claim_took_is_next_in_line_and_keeps_its_attempt)
{
    struct lua *l = claimed();

    CHECK(is_at(l, ID(1), "running") && is_at(l, ID(2), "running"));
    REQUIRE(move_unclaim(l, "w1", 7));
    CHECK(lua_is(l, "", "2"));
    CHECK(is_at(l, ID(1), "ready") && is_at(l, ID(2), "ready"));
    CHECK(lua_int(l, "EXISTS %sls %slc:w1", l->T, l->T) == 0);
    REQUIRE(move_claim(l, &lost, 3));
    CHECK(lua_is(l, "0.0", ID(1)) && lua_is(l, "1.0", ID(2)) && lua_is(l, "2.0", ID(3)));
    CHECK(lua_is(l, "0.1", "3") && lua_is(l, "0.2", "1"));
}

TEST(a_claim_that_came_with_a_finish_too)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    fence = move_take(l, ID(1));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(2)}));
    REQUIRE(move_finish(l, &lost, &(struct end){.id = ID(1), .fence = fence}, 1, 1));
    CHECK(lua_is(l, "1.0.0", ID(2)));
    REQUIRE(move_unclaim(l, "w1", 7));
    CHECK(lua_is(l, "", "1"));
    CHECK(is_at(l, ID(1), "ended") && is_at(l, ID(2), "ready"));
}

TEST(another_worker_is_woken_for_it)
{
    struct lua *l = lua_fresh();
    struct hand h = {.wid = "w2"};

    REQUIRE(lua_do(l, "serve", "pl:t : p|t"));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    REQUIRE(move_claim(l, &lost, 1));
    REQUIRE(move_claim(l, &h, 1));
    lua_listen(l, "w2");
    REQUIRE(move_unclaim(l, "w1", 7));
    CHECK(lua_hear(l) == 1);
    lua_deafen(l, "w2");
}

TEST(a_claim_that_was_not_made_or_not_the_last_gives_nothing_back)
{
    struct lua *l = claimed();

    REQUIRE(move_unclaim(l, "w1", 8)); /* it never came: what runs, runs on */
    CHECK(lua_is(l, "", "0"));
    REQUIRE(move_unclaim(l, "w2", 7));
    CHECK(lua_is(l, "", "0"));
    CHECK(is_at(l, ID(1), "running") && is_at(l, ID(2), "running"));
    REQUIRE(move_unclaim(l, "w1", 7));
    REQUIRE(move_unclaim(l, "w1", 7)); /* said again */
    CHECK(lua_is(l, "", "0"));
    CHECK(lua_int(l, "LLEN %srq:t:0", l->T) == 3);
}

TEST(what_has_ended_expired_or_is_held_by_another_is_left_alone)
{
    struct lua *l = claimed();
    struct hand other = {.wid = "w2"};

    REQUIRE(move_cancel(l, ID(1), OWNER));
    REQUIRE(move_release(l, ID(2), 1));
    REQUIRE(move_claim(l, &other, 1));
    CHECK(lua_is(l, "0.0", ID(2)));
    REQUIRE(move_unclaim(l, "w1", 7));
    CHECK(lua_is(l, "", "0"));
    CHECK(is_at(l, ID(1), "ended") && is_at(l, ID(2), "running"));
    l = claimed();
    (void)lua_redis(l, "DEL %st:%s", l->T, ID(1));
    REQUIRE(move_unclaim(l, "w1", 7));
    CHECK(lua_is(l, "", "1"));
}

TEST(B5_work_elsewhere_of_a_job_cancelled_meanwhile_is_left_to_be_stopped)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .attempts = 3}));
    REQUIRE((fence = move_take(l, ID(1))) > 0);
    REQUIRE(move_handle(l, ID(1), fence, "h") && move_retry(l, ID(1), fence, 0));
    REQUIRE(move_tick(l) && move_claim(l, &lost, 1) && lua_is(l, "0.0", ID(1)));
    lua_listen(l, "w1");
    REQUIRE(move_cancel(l, ID(1), OWNER));
    CHECK(lua_int(l, "LLEN %sab:t", l->T) == 0); /* the worker hears of it */
    REQUIRE(move_unclaim(l, "w1", 7));
    CHECK(lua_is(l, "", "0"));
    CHECK(lua_int(l, "LLEN %sab:t", l->T) == 1);
    lua_deafen(l, "w1");
}

TEST(R1_a_wrong_type_changes_nothing)
{
    static const char *const keys[] = {"ls", "lc:w1"};

    for (size_t i = 0; i < 2; i++) {
        struct lua *l = claimed();

        (void)lua_redis(l, "DEL %s%s", l->T, keys[i]);
        (void)lua_redis(l, "HSET %s%s x y", l->T, keys[i]);
        CHECK(!move_unclaim(l, "w1", 7));
        CHECK(lua_int(l, "LLEN %srq:t:0", l->T) == 1);
    }
}
