#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

TEST(B26_a_callback_waits_in_its_task_and_the_worker_is_told)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    fence = move_take(l, ID(1));
    REQUIRE(fence > 0);
    lua_listen(l, "w1");
    REQUIRE(move_hook(l, ID(1), "{\"state\":\"DONE\"}"));
    CHECK(lua_is(l, "", "OK"));
    CHECK(field_is(l, ID(1), "cb", "16 {\"state\":\"DONE\"}"));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "H " ID(1)) == 0);
}

TEST(B26_the_same_callback_again_changes_nothing)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    REQUIRE(move_hook(l, ID(1), "1") && lua_is(l, "", "OK"));
    REQUIRE(move_hook(l, ID(1), "2 1 1") && lua_is(l, "", "OK"));
    REQUIRE(move_hook(l, ID(1), "1") && lua_is(l, "", "KNOWN"));
    REQUIRE(move_hook(l, ID(1), "2 1 1") && lua_is(l, "", "KNOWN"));
    REQUIRE(move_hook(l, ID(1), "2") && lua_is(l, "", "OK"));
    CHECK(field_is(l, ID(1), "cb", "1 15 2 1 11 2"));
}

TEST(a_callback_before_any_worker_has_the_task_is_there_for_the_first_that_takes_it)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    REQUIRE(move_hook(l, ID(1), "{}") && lua_is(l, "", "OK"));
    fence = move_take(l, ID(1));
    REQUIRE(move_heard(l, ID(1), fence, 0));
    CHECK(lua_is(l, "0", "OK") && lua_is(l, "1", "2 {}"));
}

TEST(an_ended_task_takes_no_callback_and_keeps_none)
{
    struct lua *l = lua_fresh();
    unsigned fence;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    fence = move_take(l, ID(1));
    REQUIRE(move_hook(l, ID(1), "{}") && lua_is(l, "", "OK"));
    CHECK(strcmp(move_end(l, ID(1), fence, "{}"), "OK") == 0);
    CHECK(field_is(l, ID(1), "cb", "nil"));
    REQUIRE(move_hook(l, ID(1), "{}") && lua_is(l, "", "ENDED"));
    CHECK(field_is(l, ID(1), "cb", "nil"));
    REQUIRE(move_hook(l, ID(2), "{}") && lua_is(l, "", "nil"));
    CHECK(lua_int(l, "EXISTS %st:%s", l->T, ID(2)) == 0);
}

TEST(what_waits_is_bounded)
{
    static char body[100001];
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    for (unsigned i = 0; i < 10; i++) {
        memset(body, (int)('a' + i), 100000);
        lua_fn(l, "hook");
        lua_key(l, "t:%s", ID(1));
        lua_arg(l, "%s", ID(1));
        lua_bytes(l, (struct span){body, 100000});
        REQUIRE(lua_go(l) && lua_is(l, "", "OK"));
    }
    memset(body, 'z', 100000);
    lua_fn(l, "hook");
    lua_key(l, "t:%s", ID(1));
    lua_arg(l, "%s", ID(1));
    lua_bytes(l, (struct span){body, 100000});
    REQUIRE(lua_go(l) && lua_is(l, "", "FULL"));
}

TEST(small_ones_are_counted_for_each_that_comes_is_compared_with_all_that_wait)
{
    enum { CALLS_MAX = 1024 };
    struct lua *l = lua_fresh();
    char body[16];
    unsigned fence;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    fence = move_take(l, ID(1));
    for (int i = 0; i < CALLS_MAX; i++) {
        (void)snprintf(body, sizeof(body), "%d", 1000 + i);
        REQUIRE(move_hook(l, ID(1), body) && lua_is(l, "", "OK"));
    }
    REQUIRE(move_hook(l, ID(1), "1") && lua_is(l, "", "FULL"));
    REQUIRE(move_hook(l, ID(1), "1000") && lua_is(l, "", "KNOWN"));
    REQUIRE(move_heard(l, ID(1), fence, strlen("4 1000")));
    REQUIRE(move_hook(l, ID(1), "1") && lua_is(l, "", "OK"));
}
