#include "common/clock.h"

#include <event2/util.h>
#include <time.h>

static uint64_t read_us(clockid_t id)
{
    struct timespec t;

    (void)clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000U + (uint64_t)t.tv_nsec / 1000U;
}

uint64_t clock_mono_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

uint64_t clock_mono_ms(void)
{
    return clock_mono_us() / 1000U;
}

uint64_t clock_cpu_us(void)
{
    return read_us(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t clock_wall_ms(void)
{
    return read_us(CLOCK_REALTIME) / 1000U;
}

struct timeval clock_timeval(uint64_t ms)
{
    return (struct timeval){.tv_sec = (time_t)(ms / 1000U),
                            .tv_usec = (suseconds_t)(ms % 1000U * 1000U)};
}

uint64_t clock_jitter(uint64_t ms, unsigned percent)
{
    uint64_t reach = ms * percent / 100U;
    uint32_t draw;

    if (reach == 0)
        return ms;
    evutil_secure_rng_get_bytes(&draw, sizeof(draw));
    return ms - reach + draw % (2U * reach + 1U);
}
