/* A worker whose one tool answers with the times at which its job began and ended, in microseconds
 * of CLOCK_MONOTONIC, which all processes of a machine share: what the load generator needs to tell
 * how long a job waited to be started, and its client for the result. */
#include "worker/errand_worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static const char stamp_tool[] =
    "{\"name\":\"stamp\",\"description\":\"Answers with the times of its begin and end.\","
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"ms\":{\"type\":\"integer\"}}},"
    "\"taskSupport\":\"optional\"}";

static uint64_t now_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void on_stamp(struct errand_job *job, void *arg)
{
    uint64_t began = now_us();
    int64_t ms = 0;
    char text[64];

    (void)arg;
    (void)errand_argument_int(job, "ms", &ms);
    (void)errand_wait(job, ms > 0 ? (uint64_t)ms : 0);
    (void)snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64, began, now_us());
    errand_result_text(job, text);
}

int main(int argc, char **argv)
{
    static const struct errand_tool tools[] = {{stamp_tool, on_stamp, NULL}};

    return errand_worker_main(argc, argv, tools, 1);
}
