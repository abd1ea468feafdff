/* clock.h - time, in milliseconds. Deadlines use the monotonic clock, timestamps the wall clock. */
#pragma once

#include <stdint.h>
#include <sys/time.h>

uint64_t clock_mono_ms(void);
uint64_t clock_mono_us(void);
uint64_t clock_cpu_us(void); /* that this thread has worked, however busy the machine is */
uint64_t clock_wall_ms(void);
struct timeval clock_timeval(uint64_t ms); /* for libevent */
/* ms moved at random by up to percent % either way: keeps a fleet from acting in step. */
uint64_t clock_jitter(uint64_t ms, unsigned percent);
