#include "worker/run/c_job.h"

#include "tests/lib/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The job alone: nobody else is there to be locked out or told. */
static unsigned told;

void c_lock(struct c_runner *all)
{
    (void)all;
}

void c_unlock(struct c_runner *all)
{
    (void)all;
}

void c_sleep(struct c_runner *all, pthread_cond_t *cond, uint64_t ms)
{
    (void)all;
    (void)cond;
    (void)ms;
}

void c_tell(struct errand_job *job)
{
    (void)job;
    told++;
}

static struct errand_job job;
static struct run_job run;

static void begin(const char *arguments)
{
    run = (struct run_job){.id = "the-id",
                           .attempt = 2,
                           .arguments = span_of(arguments),
                           .principal = "bob",
                           .trace = "00-x"};
    job = (struct errand_job){.run = &run};
    c_job_init(&job);
}

TEST(it_shows_what_it_is)
{
    size_t n = 0;

    begin("{\"a\":1}");
    CHECK(strcmp(errand_arguments(&job, &n), "{\"a\":1}") == 0 && n == 7);
    CHECK(errand_arguments(&job, NULL) == run.arguments.p);
    CHECK(strcmp(errand_task_id(&job), "the-id") == 0 && errand_attempt(&job) == 2);
    CHECK(strcmp(errand_principal(&job), "bob") == 0);
    CHECK(strcmp(errand_traceparent(&job), "00-x") == 0);
    c_job_fini(&job);
}

TEST(arguments_are_had_by_name_and_type)
{
    int64_t i = 0;
    double d = 0;
    bool yes = false;

    begin("{\"t\":\"h\\u00e9\",\"i\":9007199254740993,\"d\":1.5,\"y\":true,\"z\":\"\\u0000\"}");
    CHECK(strcmp(errand_argument_text(&job, "t"), "h\xc3\xa9") == 0);
    CHECK(errand_argument_text(&job, "i") == NULL && errand_argument_text(&job, "z") == NULL);
    CHECK(errand_argument_text(&job, "none") == NULL);
    CHECK(errand_argument_int(&job, "i", &i) && i == 9007199254740993);
    CHECK(!errand_argument_int(&job, "d", &i) && !errand_argument_int(&job, "t", &i));
    CHECK(errand_argument_number(&job, "d", &d) && d > 1.4 && d < 1.6);
    CHECK(errand_argument_bool(&job, "y", &yes) && yes);
    CHECK(!errand_argument_bool(&job, "i", &yes));
    c_job_fini(&job);
}

static void check_outcome(const char *text, bool is_error)
{
    CHECK(job.has_outcome && job.is_error == is_error && !job.passing);
    CHECK(span_is(buf_span(&job.result), text));
    if (!span_is(buf_span(&job.result), text))
        printf("%s\n", buf_span(&job.result).p);
}

TEST(every_kind_of_outcome_is_a_result)
{
    begin("{}");
    errand_result_bytes(&job, "a\0b", 3);
    check_outcome("{\"content\":[{\"type\":\"text\",\"text\":\"a\\u0000b\"}],\"isError\":false}",
                  false);
    errand_result_json(&job, "{\"n\":1.0}", 9);
    check_outcome("{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"n\\\":1.0}\"}],"
                  "\"structuredContent\":{\"n\":1.0},\"isError\":false}",
                  false);
    errand_result_raw(&job, "{\"content\":[],\"isError\":true}", 29);
    check_outcome("{\"content\":[],\"isError\":true}", true);
    errand_error(&job, "no");
    check_outcome("{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"isError\":true}", true);
    errand_retry(&job, "later");
    CHECK(job.passing && span_is(buf_span(&job.result), "later"));
    errand_result_text(&job, "after all");
    CHECK(!job.passing && !job.is_error);
    c_job_fini(&job);
}

TEST(a_result_that_is_none_is_an_error_that_says_so)
{
    begin("{}");
    errand_result_json(&job, "[1]", 3);
    check_outcome("{\"content\":[{\"type\":\"text\",\"text\":\"the handler's result is not what it "
                  "should be: it is no JSON object\"}],\"isError\":true}",
                  true);
    errand_result_raw(&job, "{}", 2);
    CHECK(job.is_error && strstr(buf_span(&job.result).p, "no CallToolResult") != NULL);
    c_job_fini(&job);
}

TEST(B21_a_result_over_the_limit_is_an_error)
{
    size_t n = 17 << 20;
    char *big = malloc(n);

    begin("{}");
    memset(big, 'x', n);
    errand_result_bytes(&job, big, n);
    check_outcome("{\"content\":[{\"type\":\"text\",\"text\":\"the result is larger than 16 MiB as "
                  "JSON\"}],\"isError\":true}",
                  true);
    free(big);
    c_job_fini(&job);
}

TEST(progress_is_mcps_own_shape)
{
    begin("{}");
    told = 0;
    errand_progress(&job, 0.5, 0, NULL);
    CHECK(span_is(buf_span(&job.progress), "{\"progress\":0.5}") && job.message.n == 0);
    errand_progress(&job, 3, 10, "a \"b\"");
    CHECK(span_is(buf_span(&job.progress),
                  "{\"progress\":3,\"total\":10,\"message\":\"a \\\"b\\\"\"}"));
    CHECK(span_is(buf_span(&job.message), "a \"b\""));
    errand_progress(&job, (double)NAN, 10, NULL);
    CHECK(span_is(buf_span(&job.progress), "{\"progress\":0,\"total\":10}"));
    CHECK(span_is(buf_span(&job.message), "a \"b\"")); /* not said anew */
    CHECK(told == 3);
    c_job_fini(&job);
}

TEST(waiting_ends_when_the_time_has_passed_or_the_job_is_cancelled)
{
    begin("{}");
    CHECK(!errand_cancelled(&job) && !errand_wait(&job, 20));
    atomic_store(&job.cancelled, true);
    CHECK(errand_cancelled(&job) && errand_wait(&job, 60000) && errand_wait(&job, UINT64_MAX));
    CHECK(job.sleeper == NULL);
    c_job_fini(&job);
}
