#include "common/clock.h"
#include "tests/lib/test.h"

#include <time.h>

TEST(the_monotonic_clock_does_not_go_back)
{
    uint64_t last = clock_mono_us();

    for (int i = 0; i < 10000; i++) {
        uint64_t now = clock_mono_us();

        CHECK(now >= last);
        last = now;
    }
}

TEST(milliseconds_and_microseconds_are_one_clock)
{
    uint64_t before = clock_mono_us() / 1000U;
    uint64_t ms = clock_mono_ms();
    uint64_t after = clock_mono_us() / 1000U;

    CHECK(before <= ms && ms <= after);
}

TEST(the_clock_of_work_stands_still_while_nothing_is_done)
{
    struct timespec nap = {.tv_nsec = 50000000};
    uint64_t before = clock_cpu_us();
    uint64_t after;
    volatile unsigned work = 0;

    (void)nanosleep(&nap, NULL);
    after = clock_cpu_us();
    CHECK(after - before < 50000);
    while (work < 10000000)
        work = work + 1;
    CHECK(clock_cpu_us() > after);
}

TEST(the_wall_clock_is_the_systems)
{
    uint64_t before = (uint64_t)time(NULL);
    uint64_t ms = clock_wall_ms();
    uint64_t after = (uint64_t)time(NULL);

    /* time() may be a tick behind. */
    CHECK(before <= ms / 1000U && ms / 1000U <= after + 1);
}

TEST(a_timeval_is_whole_seconds_and_the_rest)
{
    CHECK(clock_timeval(0).tv_sec == 0 && clock_timeval(0).tv_usec == 0);
    CHECK(clock_timeval(999).tv_sec == 0 && clock_timeval(999).tv_usec == 999000);
    CHECK(clock_timeval(61001).tv_sec == 61 && clock_timeval(61001).tv_usec == 1000);
}

TEST(jitter_stays_within_its_reach_and_uses_all_of_it)
{
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;

    for (int i = 0; i < 10000; i++) {
        uint64_t ms = clock_jitter(1000, 20);

        least = ms < least ? ms : least;
        most = ms > most ? ms : most;
    }
    CHECK(least >= 800 && least < 820);
    CHECK(most <= 1200 && most > 1180);
}

TEST(there_is_no_jitter_where_there_is_no_room)
{
    CHECK(clock_jitter(0, 50) == 0);
    CHECK(clock_jitter(1, 50) == 1);
    CHECK(clock_jitter(1000, 0) == 1000);
    for (int i = 0; i < 1000; i++)
        CHECK(clock_jitter(5, 100) <= 10);
}
