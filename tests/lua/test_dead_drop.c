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

TEST(a_letter_is_forgotten_and_its_task_left_as_it_is)
{
    struct lua *l = lua_fresh();
    char entry[32];

    kill_one(l, &(struct new_task){.id = ID(1)});
    (void)lua_do(l, "dead_list", "dq : 1");
    (void)snprintf(entry, sizeof(entry), "%s", lua_at(l, "0"));
    REQUIRE(lua_do(l, "dead_drop", "dq : %s", entry));
    CHECK(lua_is(l, "", "1"));
    REQUIRE(lua_do(l, "dead_drop", "dq : %s", entry));
    CHECK(lua_is(l, "", "0"));
    CHECK(lua_int(l, "XLEN %sdq", l->T) == 0);
    CHECK(field_is(l, ID(1), "s", "e"));
}
