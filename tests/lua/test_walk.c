/* The random walk of tests/lib/walk.h, over many seeds. ERRAND_WALK_SEEDS=7 or 1-500 and
 * ERRAND_WALK_STEPS choose others; a walk that fails says its seed. */
#include "tests/lib/test.h"
#include "tests/lib/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 40, STEPS = 3000, CHECK_EVERY = 250 };

static unsigned long steps_wanted(void)
{
    const char *text = getenv("ERRAND_WALK_STEPS");

    return text != NULL ? strtoul(text, NULL, 10) : STEPS;
}

static void seeds_wanted(unsigned long *first, unsigned long *last)
{
    const char *text = getenv("ERRAND_WALK_SEEDS");
    char *end = NULL;

    *first = 1;
    *last = SEEDS;
    if (text == NULL)
        return;
    *first = *last = strtoul(text, &end, 10);
    if (*end == '-')
        *last = strtoul(end + 1, NULL, 10);
}

static bool walk_holds(struct lua *l, unsigned long seed, unsigned long steps)
{
    struct walk w;

    walk_start(&w, l, seed);
    for (unsigned long i = 0; i < steps && w.violations == 0; i++) {
        walk_step(&w);
        if (w.step % CHECK_EVERY == 0)
            walk_check(&w, false);
    }
    if (w.violations == 0)
        walk_settle(&w);
    if (getenv("TEST_VERBOSE") != NULL)
        (void)printf("seed %lu: %d tasks, ended %u %u %u, %d streams, %u events, %u violations\n",
                     seed, w.count, w.ended[0], w.ended[1], w.ended[2], w.stream_count, w.events,
                     w.violations);
    walk_end(&w);
    return w.violations == 0;
}

TEST(P1_P2_P5_the_promises_hold_on_every_walk)
{
    struct lua *l = lua_fresh();
    unsigned long steps = steps_wanted();
    unsigned long first;
    unsigned long last;

    for (int b = 0; b < WALK_BROKERS; b++)
        lua_listen(l, walk_broker(b));
    seeds_wanted(&first, &last);
    for (unsigned long seed = first; seed <= last; seed++) {
        bool holds = walk_holds(l, seed, steps);

        if (!holds)
            (void)fprintf(stderr, "again: ERRAND_WALK_SEEDS=%lu ERRAND_WALK_STEPS=%lu\n", seed,
                          steps);
        REQUIRE(holds);
    }
}
