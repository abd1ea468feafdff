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

TEST(letters_come_oldest_first_and_say_whether_the_task_is_still_there)
{
    struct lua *l = lua_fresh();

    kill_one(l, &(struct new_task){.id = ID(1)});
    kill_one(l, &(struct new_task){.id = ID(2)});
    kill_one(l, &(struct new_task){.id = ID(3)});
    expire(l, ID(1), OWNER);
    REQUIRE(lua_do(l, "dead_list", "dq : 2"));
    REQUIRE(lua_count(l, "") == 14);
    CHECK(strchr(lua_at(l, "0"), '-') != NULL);
    CHECK(lua_is(l, "1", ID(1)));
    CHECK(lua_is(l, "2", "t"));
    CHECK(lua_is(l, "3", "1"));
    CHECK(strtoll(lua_at(l, "4"), NULL, 10) > 1600000000000);
    CHECK(lua_is(l, "5", "why"));
    CHECK(lua_is(l, "6", "1"));
    CHECK(lua_is(l, "8", ID(2)));
    CHECK(lua_is(l, "13", "0"));
}

TEST(no_letters_are_an_empty_list)
{
    struct lua *l = lua_fresh();

    REQUIRE(lua_do(l, "dead_list", "dq : 10"));
    CHECK(lua_count(l, "") == 0);
    CHECK(lua_is(l, "", "array"));
}
