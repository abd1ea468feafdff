#include "common/sm.h"
#include "tests/lib/dies.h"
#include "tests/lib/test.h"

enum { DOWN, DIALING, UP, LAST = 31 };

static const struct sm_row rows[] = {
    [DOWN] = {"down", SM_TO(DIALING)},
    [DIALING] = {"dialing", SM_TO(UP) | SM_TO(DOWN)},
    [UP] = {"up", SM_TO(DOWN) | SM_TO(LAST)},
    [LAST] = {"last", 0},
};

TEST(declared_moves_are_made)
{
    struct sm m;

    sm_init(&m, "link", rows, DOWN);
    CHECK(m.state == DOWN);
    sm_move(&m, DIALING);
    CHECK(m.state == DIALING);
    sm_move(&m, UP);
    sm_move(&m, LAST);
    CHECK(m.state == LAST);
}

struct move {
    unsigned from;
    unsigned to;
};

static void make(void *arg)
{
    const struct move *v = arg;
    struct sm m;

    sm_init(&m, "link", rows, v->from);
    sm_move(&m, v->to);
}

TEST(a_move_that_is_not_declared_ends_the_process)
{
    static const unsigned all[] = {DOWN, DIALING, UP, LAST};

    for (int a = 0; a < 4; a++) {
        for (int b = 0; b < 4; b++) {
            struct move v = {all[a], all[b]};

            CHECK(dies(make, &v) == ((rows[v.from].to & SM_TO(v.to)) == 0));
        }
    }
}
