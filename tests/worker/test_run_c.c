#include "worker/run/c.h"

#include "common/clock.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <event2/event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { JOBS = 2000 };

static struct event_base *base;
static struct runner *runner;
static unsigned ends;
static unsigned errors;
static unsigned passing;
static unsigned rpc_errors;
static unsigned says;
static char last[4096];
static char last_said[4096];
static pthread_t loop_thread;

static void on_ended(struct run_job *job, const struct run_end *end)
{
    CHECK(pthread_equal(pthread_self(), loop_thread));
    ends++;
    errors += end->is_error;
    passing += end->passing;
    rpc_errors += end->rpc_error;
    (void)snprintf(last, sizeof(last), "%s", end->passing ? end->why : end->result);
    free(end->result);
    job->own = NULL;
}

static void on_said(struct run_job *job, struct span message, struct span progress)
{
    (void)job;
    CHECK(pthread_equal(pthread_self(), loop_thread));
    says++;
    (void)snprintf(last_said, sizeof(last_said), "%.*s|%.*s", (int)message.n,
                   message.p != NULL ? message.p : "", (int)progress.n,
                   progress.p != NULL ? progress.p : "");
}

static const struct run_sink sink = {.ended = on_ended, .said = on_said};

static struct run_job make(const struct tool *tool)
{
    return (struct run_job){.tool = tool,
                            .id = "the-id",
                            .attempt = 1,
                            .arguments = SPAN("{\"text\":\"hi\"}"),
                            .principal = "",
                            .trace = ""};
}

static void begin(unsigned threads)
{
    ends = errors = passing = rpc_errors = says = 0;
    loop_thread = pthread_self();
    base = event_base_new();
    runner = c_new(base, &sink, threads);
}

static void finish(void)
{
    CHECK(!c_is_busy(runner));
    runner->free(runner);
    event_base_free(base);
}

static bool have_ended(void *arg)
{
    return ends >= *(const unsigned *)arg;
}

static bool wait_ends(unsigned n, unsigned ms)
{
    return turn_until(base, ms, have_ended, &n);
}

static void on_echo(struct errand_job *job, void *arg)
{
    (void)arg;
    errand_result_text(job, errand_argument_text(job, "text"));
}

static atomic_uint waiting;

static void on_wait(struct errand_job *job, void *arg)
{
    (void)arg;
    atomic_fetch_add(&waiting, 1);
    if (!errand_wait(job, 60000))
        errand_result_text(job, "waited");
}

static void on_silence(struct errand_job *job, void *arg)
{
    (void)job;
    (void)arg;
}

static void on_retry(struct errand_job *job, void *arg)
{
    (void)arg;
    errand_result_text(job, "this does not count");
    errand_retry(job, "no upstream");
}

static void on_progress(struct errand_job *job, void *arg)
{
    (void)arg;
    for (int i = 1; i <= 1000; i++)
        errand_progress(job, i, 1000, i == 1000 ? "done" : NULL);
    errand_result_text(job, "ok");
}

static const struct errand_tool tools[] = {{"", on_echo, NULL},
                                           {"", on_wait, NULL},
                                           {"", on_silence, NULL},
                                           {"", on_retry, NULL},
                                           {"", on_progress, NULL}};
static const struct tool echo = {.handler = &tools[0]};
static const struct tool waiter = {.handler = &tools[1]};
static const struct tool silent = {.handler = &tools[2]};
static const struct tool retrier = {.handler = &tools[3]};
static const struct tool teller = {.handler = &tools[4]};

static void run_one(const struct tool *tool)
{
    struct run_job job = make(tool);

    begin(1);
    runner->start(runner, &job);
    CHECK(c_is_busy(runner));
    CHECK(wait_ends(1, 10000));
    finish();
}

TEST(a_handler_runs_on_a_thread_and_ends_on_the_loop)
{
    run_one(&echo);
    CHECK(strcmp(last, "{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}],\"isError\":false}") ==
          0);
}

TEST(a_handler_that_says_nothing_has_failed)
{
    run_one(&silent);
    CHECK(errors == 1 && strstr(last, "the handler gave no result") != NULL);
}

TEST(the_last_outcome_counts)
{
    run_one(&retrier);
    CHECK(passing == 1 && strcmp(last, "no upstream") == 0);
}

TEST(progress_is_told_before_the_end_and_folded_when_it_comes_too_fast)
{
    run_one(&teller);
    CHECK(says >= 1 && says <= 1000);
    CHECK(strcmp(last_said, "done|{\"progress\":1000,\"total\":1000,\"message\":\"done\"}") == 0);
}

TEST(many_jobs_each_end_once)
{
    static struct run_job jobs[JOBS];

    begin(4);
    for (int i = 0; i < JOBS; i++) {
        jobs[i] = make(&echo);
        runner->start(runner, &jobs[i]);
    }
    CHECK(wait_ends(JOBS, 10000));
    CHECK(ends == JOBS && errors == 0);
    finish();
}

static bool are_waiting(void *arg)
{
    return atomic_load(&waiting) >= *(const unsigned *)arg;
}

TEST(a_stop_wakes_the_one_that_waits_and_no_other)
{
    struct run_job one = make(&waiter);
    struct run_job two = make(&waiter);
    unsigned both = 2;

    begin(2);
    atomic_store(&waiting, 0);
    runner->start(runner, &one);
    runner->start(runner, &two);
    CHECK(turn_until(base, 10000, are_waiting, &both));
    runner->stop(runner, &one, 100);
    CHECK(wait_ends(1, 10000));
    turn_for(base, 50);
    CHECK(ends == 1 && one.own == NULL && two.own != NULL);
    runner->stop(runner, &two, 100);
    CHECK(wait_ends(2, 10000));
    finish();
}

TEST(a_job_stopped_before_it_began_is_not_begun)
{
    struct run_job one = make(&waiter);
    struct run_job two = make(&waiter);
    unsigned first = 1;

    begin(1);
    atomic_store(&waiting, 0);
    runner->start(runner, &one);
    CHECK(turn_until(base, 10000, are_waiting, &first));
    runner->start(runner, &two);
    runner->stop(runner, &two, 100);
    runner->stop(runner, &one, 100);
    CHECK(wait_ends(2, 10000));
    CHECK(atomic_load(&waiting) == 1);
    finish();
}

static void on_protocol_error(struct errand_job *job, void *arg)
{
    errand_result_text(job, "this does not count");
    errand_rpc_error(job, -32042, "an \"address\" first", arg);
}

static void end_with_data(const char *data)
{
    const struct errand_tool t = {"", on_protocol_error, (void *)(uintptr_t)data};
    const struct tool tool = {.handler = &t};

    run_one(&tool);
}

TEST(a_handler_can_end_its_call_with_a_JSON_RPC_error)
{
    end_with_data("{\"a\":[1]}");
    CHECK(rpc_errors == 1 && errors == 0);
    CHECK(strcmp(last, "{\"code\":-32042,\"message\":\"an \\\"address\\\" first\","
                       "\"data\":{\"a\":[1]}}") == 0);
    end_with_data(NULL);
    CHECK(strcmp(last, "{\"code\":-32042,\"message\":\"an \\\"address\\\" first\"}") == 0);
    end_with_data("{\"a\":");
    CHECK(rpc_errors == 0 && errors == 1 && strstr(last, "is not what it should be") != NULL);
}
