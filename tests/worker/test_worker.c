#include "worker/worker.h"

#include "common/clock.h"
#include "tests/lib/proc.h"
#include "tests/lib/ps.h"
#include "tests/lib/serve.h"
#include "tests/lib/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WORDS(...) \
    (const char *const[]) \
    { \
        __VA_ARGS__, NULL \
    }

static struct bench b;
static struct serving w;
static struct serving other;

/* One tool "run" that runs a script with a mark that no other process has; more: further members.
 */
static char tools[4096];
static char mark[32];

static const char *tool_of(const char *script, const char *more)
{
    (void)snprintf(tools, sizeof(tools),
                   "{\"tools\":[{\"name\":\"run\",\"inputSchema\":{\"type\":\"object\"},"
                   "\"run\":{\"command\":[\"sh\",\"-c\",\"%s\",\"%s\"]}%s}]}",
                   script, ps_mark(mark), more);
    return tools;
}

#define STUBBORN \
    "trap '' TERM; (setsid sh -c \\\"sleep $0; :\\\" &) ; setsid sleep $0 & sleep $0 & wait; " \
    "wait; " \
    "while :; do sleep 1; done"

static void end_all(void)
{
    CHECK(serve_term(&w, 10000) == 0);
    bench_stop(&b);
}

static bool is_cancelled_in_time(void)
{
    const char *id;
    bool ok;

    bench_start(&b, 0);
    serve_start(&w, &b, tool_of(STUBBORN, ",\"grace\":\"500ms\""), NULL);
    id = bench_call(&b, "run", "{}");
    CHECK(ps_wait(mark, 4, 10000));
    CHECK(bench_cancel(&b, id));
    ok = ps_wait(mark, 0, 1500);
    CHECK(ps_wait(mark, 0, 10000));
    CHECK(serve_wait_logged(&w, "JOB_CANCELLED", 1, 10000));
    end_all();
    return ok;
}

TEST(B5_a_cancelled_tree_is_gone_within_grace_and_a_second)
{
    CHECK(in_time(is_cancelled_in_time));
}

TEST(B5_a_timeout_stops_the_tree_and_is_a_result)
{
    struct bench_task t;
    const char *id;

    bench_start(&b, 0);
    serve_start(&w, &b, tool_of(STUBBORN, ",\"grace\":\"300ms\",\"timeout\":\"4s\""), NULL);
    id = bench_call(&b, "run", "{}");
    CHECK(ps_wait(mark, 4, 10000));
    CHECK(bench_ended(&b, id, 10000, &t));
    CHECK(t.state == TASK_RESULT && t.is_error);
    CHECK(strcmp(t.message, "the tool ran longer than its timeout of 4s and was stopped") == 0);
    CHECK(ps_count(mark) == 0);
    end_all();
}

TEST(B4_B5_when_the_ttl_passes_the_job_is_stopped)
{
    bench_start(&b, 0);
    serve_start(&w, &b, tool_of(STUBBORN, ",\"grace\":\"300ms\""), NULL);
    (void)bench_create(&b, &(struct bench_create){.tool = "run", .ttl_ms = 8000});
    CHECK(ps_wait(mark, 4, 7900));
    CHECK(ps_wait(mark, 0, 30000));
    end_all();
}

TEST(B5_a_killed_worker_leaves_no_process)
{
    bench_start(&b, 0);
    serve_start(&w, &b, tool_of(STUBBORN, ""), WORDS("--slots", "3"));
    for (int i = 0; i < 3; i++)
        (void)bench_call(&b, "run", "{}");
    CHECK(ps_wait(mark, 12, 10000));
    serve_kill(&w);
    CHECK(ps_wait(mark, 0, 10000));
    bench_stop(&b);
}

TEST(B22_sigterm_waits_for_running_jobs)
{
    struct bench_task t;
    const char *id;

    bench_start(&b, 0);
    serve_start(&w, &b, tool_of("sleep 1; echo done", ""), NULL);
    id = bench_call(&b, "run", "{}");
    CHECK(serve_wait_logged(&w, "JOB_STARTED", 1, 10000));
    CHECK(serve_term(&w, 10000) == 0);
    CHECK(bench_ended(&b, id, 100, &t));
    bench_stop(&b);
}

static bool is_handed_back_in_time(void)
{
    struct bench_task t;
    const char *id;
    uint64_t began;
    uint64_t took;

    bench_start(&b, 0);
    serve_start(&w, &b, tool_of("sleep $0", ""), WORDS("--grace", "2s"));
    id = bench_call(&b, "run", "{}");
    CHECK(ps_wait(mark, 2, 10000) || ps_count(mark) == 1);
    began = clock_mono_ms();
    CHECK(serve_term(&w, 10000) == 0);
    took = clock_mono_ms() - began;
    CHECK(ps_count(mark) == 0);
    CHECK(bench_read(&b, id, &t) && t.state == TASK_WORKING);
    CHECK(serve_logged(&w, "JOB_RELEASED") == 1);
    serve_start(&w, &b, tool_of("echo attempt $ERRAND_ATTEMPT", ""), NULL);
    CHECK(bench_ended(&b, id, 10000, &t));
    CHECK(strstr(t.outcome, "attempt 1\\n") != NULL);
    end_all();
    return took < 2300;
}

TEST(B22_what_does_not_end_within_the_grace_is_handed_back_uncharged)
{
    CHECK(in_time(is_handed_back_in_time));
}

TEST(a_second_signal_ends_it_at_once_and_leaves_no_process)
{
    bench_start(&b, 0);
    serve_start(&w, &b, tool_of(STUBBORN, ""), NULL);
    (void)bench_call(&b, "run", "{}");
    CHECK(ps_wait(mark, 4, 10000));
    CHECK(kill(w.pid, SIGTERM) == 0);
    CHECK(serve_wait_logged(&w, "STOPPING", 1, 10000));
    CHECK(kill(w.pid, SIGTERM) == 0);
    CHECK(proc_wait(w.pid, 10000) == 1);
    CHECK(ps_wait(mark, 0, 10000));
    bench_stop(&b);
}

static bool runs_again_in_time(void)
{
    struct bench_task t;
    const char *id;
    uint64_t began;
    uint64_t took;

    bench_start(&b, 0);
    (void)tool_of("test $ERRAND_ATTEMPT = 1 && sleep $0; echo attempt $ERRAND_ATTEMPT", "");
    serve_start(&w, &b, tools, WORDS("--lease", "4s"));
    id = bench_call(&b, "run", "{}");
    CHECK(serve_wait_logged(&w, "JOB_STARTED", 1, 10000));
    serve_start(&other, &b, tools, WORDS("--lease", "4s"));
    began = clock_mono_ms();
    serve_kill(&w);
    CHECK(bench_ended(&b, id, 10000, &t));
    took = clock_mono_ms() - began;
    CHECK(strstr(t.outcome, "attempt 2\\n") != NULL);
    w = other;
    end_all();
    return took < 5000;
}

TEST(B6_a_killed_workers_task_runs_again_elsewhere_within_a_lease_and_a_second)
{
    CHECK(in_time(runs_again_in_time));
}

TEST(B6_a_stopped_workers_late_result_is_fenced_off)
{
    struct bench_task t;
    const char *id;

    bench_start(&b, 0);
    (void)tool_of("echo attempt $ERRAND_ATTEMPT; test $ERRAND_ATTEMPT = 2 || sleep 8", "");
    serve_start(&w, &b, tools, WORDS("--lease", "3s"));
    id = bench_call(&b, "run", "{}");
    CHECK(serve_wait_logged(&w, "JOB_STARTED", 1, 10000));
    CHECK(kill(w.pid, SIGSTOP) == 0);
    serve_start(&other, &b, tools, WORDS("--lease", "3s"));
    CHECK(bench_ended(&b, id, 10000, &t));
    CHECK(strstr(t.outcome, "attempt 2\\n") != NULL);
    CHECK(kill(w.pid, SIGCONT) == 0);
    CHECK(serve_wait_logged(&w, "JOB_ENDED", 1, 10000));
    CHECK(serve_term(&other, 10000) == 0);
    CHECK(bench_read(&b, id, &t) && strstr(t.outcome, "attempt 2\\n") != NULL);
    end_all();
}

TEST(B6_a_job_that_kills_its_worker_each_time_becomes_a_dead_letter)
{
    struct bench_task t;
    const char *id;

    bench_start(&b, 0);
    /* the worker is the keeper's parent */
    (void)tool_of("kill -9 $(cut -d ' ' -f 4 /proc/$PPID/stat); sleep 5", "");
    id = bench_create(&b, &(struct bench_create){.tool = "run", .attempts = 2});
    for (int i = 0; i < 2; i++) {
        serve_start(&w, &b, tools, WORDS("--lease", "1s"));
        CHECK(proc_wait(w.pid, 10000) == 128 + SIGKILL);
    }
    serve_start(&w, &b, tools, NULL);
    CHECK(bench_ended(&b, id, 10000, &t));
    CHECK(t.state == TASK_ERROR);
    CHECK(strcmp(bench_field(&b, id, "dd"), "1") == 0);
    end_all();
}

TEST(what_cannot_be_started_is_tried_again_and_then_dead)
{
    struct bench_task t;
    const char *id;

    bench_start(&b, 0);
    serve_start(&w, &b,
                "{\"tools\":[{\"name\":\"run\",\"inputSchema\":{\"type\":\"object\"},"
                "\"run\":{\"command\":[\"./not-there\"]},\"backoff\":\"50ms\"}]}",
                NULL);
    id = bench_call(&b, "run", "{}");
    CHECK(bench_ended(&b, id, 10000, &t));
    CHECK(t.state == TASK_ERROR);
    CHECK(strstr(t.outcome, "could not be started: No such file or directory") != NULL);
    CHECK(strstr(t.message, "could not be started") != NULL);
    CHECK(serve_logged(&w, "JOB_STARTED") == 3 && serve_logged(&w, "JOB_RETRIED") == 2);
    CHECK(serve_wait_logged(&w, "JOB_DEAD", 1, 10000));
    end_all();
}

TEST(a_tool_that_retries_on_exit_runs_until_it_succeeds)
{
    struct bench_task t;
    const char *id;

    bench_start(&b, 0);
    serve_start(&w, &b,
                tool_of("echo attempt $ERRAND_ATTEMPT; test $ERRAND_ATTEMPT = 3",
                        ",\"retryOn\":[\"exit\"],\"backoff\":\"50ms\""),
                NULL);
    id = bench_call(&b, "run", "{}");
    CHECK(bench_ended(&b, id, 10000, &t));
    CHECK(t.state == TASK_RESULT && !t.is_error);
    CHECK(strstr(t.outcome, "attempt 3\\n") != NULL);
    end_all();
}

TEST(B7_redis_away_longer_than_a_lease_needs_no_restart)
{
    struct bench_task t;
    const char *id;

    bench_start(&b, 0);
    serve_start(&w, &b, tool_of("sleep $((ERRAND_ATTEMPT == 1 ? 100 : 0)); echo ok", ""),
                WORDS("--lease", "1s"));
    id = bench_call(&b, "run", "{}");
    CHECK(serve_wait_logged(&w, "JOB_STARTED", 1, 10000));
    bench_redis_goes(&b);
    CHECK(serve_wait_logged(&w, "JOB_LOST", 1, 10000));
    CHECK(serve_wait_logged(&w, "JOB_ENDED", 1, 10000));
    bench_redis_comes(&b);
    CHECK(serve_wait_logged(&w, "JOB_STARTED", 2, 10000));
    CHECK(bench_cancel(&b, id)); /* handed back uncharged: it is attempt 1 again */
    id = bench_create(&b, &(struct bench_create){.tool = "run"});
    CHECK(serve_wait_logged(&w, "JOB_STARTED", 3, 10000));
    CHECK(bench_cancel(&b, id));
    CHECK(bench_read(&b, id, &t) && t.state == TASK_CANCELLED);
    end_all();
}

TEST(B7_a_result_waits_for_redis)
{
    struct bench_task t;
    const char *id;

    bench_start(&b, 0);
    serve_start(&w, &b, tool_of("sleep 3; echo waited", ""), WORDS("--lease", "60s"));
    id = bench_call(&b, "run", "{}");
    CHECK(serve_wait_logged(&w, "JOB_STARTED", 1, 10000));
    bench_redis_goes(&b);
    CHECK(serve_wait_logged(&w, "JOB_ENDED", 1, 10000));
    bench_redis_comes(&b);
    CHECK(bench_ended(&b, id, 10000, &t));
    CHECK(strstr(t.outcome, "waited\\n") != NULL);
    CHECK(serve_logged(&w, "JOB_STARTED") == 1);
    end_all();
}

TEST(a_worker_waits_for_a_redis_that_is_not_there_yet)
{
    bench_start(&b, 0);
    bench_redis_goes(&b);
    serve_launch(&w, &b, tool_of("true", ""), NULL);
    CHECK(serve_wait_logged(&w, "REDIS_AWAITED", 1, 10000));
    bench_redis_comes(&b);
    CHECK(serve_wait(&w));
    end_all();
}

TEST(every_partition_is_served)
{
    struct bench_task t;
    const char *id;

    bench_start(&b, 7);
    serve_start(&w, &b, tool_of("echo hi", ""), NULL);
    for (int i = 0; i < 5; i++) {
        id = bench_call(&b, "run", "{}");
        CHECK(bench_ended(&b, id, 10000, &t));
    }
    end_all();
}

/* One look takes a while: it may see a job that ends and the one that takes its place. */
static unsigned running_now(const char *words)
{
    unsigned least = ps_count(words);

    for (int i = 0; i < 2; i++) {
        unsigned again = ps_count(words);

        least = again < least ? again : least;
    }
    return least;
}

TEST(no_more_jobs_run_than_there_are_slots)
{
    unsigned most = 0;
    const char *last = NULL;
    struct bench_task t;

    bench_start(&b, 5);
    serve_start(&w, &b, tool_of("exec sleep 0.5 $0e-9", ""), WORDS("--slots", "3"));
    (void)snprintf(tools, sizeof(tools), "%se-9", mark);
    for (int i = 0; i < 12; i++)
        last = bench_call(&b, "run", "{}");
    do {
        unsigned now = running_now(tools);

        most = now > most ? now : most;
    } while (!bench_ended(&b, last, 1, &t));
    CHECK(most == 3);
    end_all();
}

static bool starts_at_once(void)
{
    struct bench_task t;
    uint64_t began;
    uint64_t ms = 0;

    bench_start(&b, 0);
    serve_start(&w, &b, NULL, NULL);
    for (int i = 0; i < 20; i++) {
        const char *id;

        began = clock_mono_ms();
        id = bench_call(&b, "echo", "{\"text\":\"x\"}");
        CHECK(bench_ended(&b, id, 10000, &t));
        ms += clock_mono_ms() - began;
    }
    end_all();
    return ms / 20 < 60; /* a poll alone would take 125 */
}

TEST(a_wake_up_starts_a_job_at_once)
{
    CHECK(in_time(starts_at_once));
}

TEST(B10_progress_is_stored_and_folded)
{
    struct bench_task t;
    const char *id;

    bench_start(&b, 0);
    serve_start(&w, &b, NULL, NULL);
    id = bench_call(&b, "sleep", "{\"ms\":1200}");
    CHECK(serve_wait_logged(&w, "JOB_STARTED", 1, 10000));
    do
        CHECK(bench_read(&b, id, &t));
    while (t.progress[0] == '\0' && !task_is_terminal(t.state));
    CHECK(strncmp(t.progress, "{\"progress\":", 12) == 0); /* the first one, on a fast machine */
    CHECK(strtoul(t.progress + 12, NULL, 10) % 250 == 0 && strstr(t.progress, ",\"total\":1200"));
    CHECK(bench_ended(&b, id, 10000, &t));
    CHECK(strstr(t.outcome, "slept for 1200 ms") != NULL);
    end_all();
}

TEST(a_handler_that_waits_ends_at_once_when_cancelled)
{
    const char *id;

    bench_start(&b, 0);
    serve_start(&w, &b, NULL, WORDS("--slots", "1"));
    id = bench_call(&b, "sleep", "{\"ms\":60000}");
    CHECK(serve_wait_logged(&w, "JOB_STARTED", 1, 10000));
    CHECK(bench_cancel(&b, id));
    CHECK(serve_wait_logged(&w, "JOB_ENDED", 1, 10000));
    id = bench_call(&b, "sleep", "{\"ms\":60000}");
    CHECK(serve_wait_logged(&w, "JOB_STARTED", 2, 10000));
    CHECK(kill(w.pid, SIGTERM) == 0);
    CHECK(bench_cancel(&b, id));
    CHECK(proc_wait(w.pid, 10000) == 0);
    bench_stop(&b);
}

static bool is_flat(void *arg)
{
    const unsigned *before = arg;

    return ps_fds_of(w.pid) <= *before;
}

TEST(B5_B23_a_hundred_runs_leave_descriptors_flat_and_no_zombie)
{
    struct bench_task t;
    const char *ids[100];
    unsigned before;

    bench_start(&b, 0);
    serve_start(&w, &b, tool_of("sleep $0 & echo $0", ""), WORDS("--slots", "4"));
    CHECK(bench_ended(&b, bench_call(&b, "run", "{}"), 10000, &t));
    before = ps_fds_of(w.pid);
    for (int i = 0; i < 100; i++) {
        ids[i] = bench_call(&b, "run", "{}");
        if (i % 4 == 3)
            CHECK(bench_cancel(&b, ids[i]) || true);
        if (i % 20 == 19)
            CHECK(bench_ended(&b, ids[i - 1], 10000, &t));
    }
    CHECK(bench_ended(&b, ids[98], 10000, &t));
    CHECK(ps_wait(mark, 0, 10000));
    CHECK(wait_for(10000, is_flat, &before));
    CHECK(ps_zombies_of(w.pid) == 0);
    end_all();
}
