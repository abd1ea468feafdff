#include "common/json.h"
#include "common/mem.h"
#include "common/seal.h"
#include "tests/lib/jobapi.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"
#include "worker/result.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the good way --- */

TEST(a_job_is_submitted_once_kept_polled_and_its_last_answer_is_the_result)
{
    jobapi_open("");
    jobapi.poll[0] = "200 OK||{\"state\":\"RUNNING\",\"percent\":40,\"detail\":\"hot\"}";
    jobapi.poll[1] = "200 OK||{\"state\":\"DONE\", \"n\":9007199254740993}";
    jobapi_run();
    CHECK(jobapi.submits == 1 && jobapi.polls == 2 && seen.keeps == 1 && seen.listens == 1);
    CHECK(strcmp(seen.handle, "\"j/1\"") == 0);
    CHECK(!seen.passing && !seen.is_error);
    CHECK(
        strstr(seen.result, "\"structuredContent\":{\"state\":\"DONE\", \"n\":9007199254740993}"));
    CHECK(strcmp(seen.message, "hot") == 0);
    CHECK(strcmp(seen.progress, "{\"progress\":40,\"total\":100}") == 0);
    CHECK(strstr(jobapi.others, "GET /jobs/j%2F1 ") != NULL);
    jobapi_close();
}

TEST(a_submit_says_who_it_is_for_and_where_to_call_back)
{
    char tag[SEAL_HASH_LEN + 1];
    char part[256];

    jobapi_open("");
    jobapi_run();
    CHECK(strstr(jobapi.last, "\r\nIdempotency-Key: 01abcdefghijklmnopqrstuv\r\n") != NULL);
    CHECK(strstr(jobapi.last, "\r\nContent-Type: application/json\r\n") != NULL);
    CHECK(strstr(jobapi.last, "\r\nX-Key: k-4711\r\n") != NULL);
    CHECK(strstr(jobapi.last, "\r\nX-Tool: t\r\n") != NULL);
    CHECK(strstr(jobapi.last, "\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-") != NULL);
    CHECK(strstr(jobapi.last, "{\"params\":{\"a\": 1.50},\"to\":") != NULL);
    seal_tag(tag, jobapi_secret, "hook-signed", SPAN("01abcdefghijklmnopqrstuv"));
    (void)snprintf(part, sizeof(part),
                   "\"to\":\"https://errand.example/hooks/01abcdefghijklmnopqrstuv/%s\"", tag);
    CHECK(strstr(jobapi.last, part) != NULL);
    CHECK(strstr(jobapi.last, "\"sign\":\"whsec_") != NULL);
    CHECK(strstr(jobapi.others, "Idempotency") == NULL && strstr(jobapi.others, "X-Key") == NULL);
    jobapi_close();
}

TEST(a_result_of_its_own_is_fetched_as_text_json_or_whole)
{
    jobapi_open("/jobs/{job}/output\"}");
    jobapi.result[0] = "200 OK||plain \"text\"";
    jobapi_run();
    CHECK(jobapi.results == 1 && jobapi_has("\"text\":\"plain \\\"text\\\"\"}],\"isError\":false"));
    jobapi_close();
    jobapi_open("/jobs/{job}/output\",\"as\":\"json\",\"at\":\"/out\"}");
    jobapi.result[0] = "200 OK||{\"out\":{\"x\":1e400}}";
    jobapi_run();
    CHECK(jobapi_has("\"structuredContent\":{\"x\":1e400}"));
    jobapi_close();
    jobapi_open("/jobs/{job}/output\",\"as\":\"result\"}");
    jobapi.result[0] = "200 OK||{\"content\":[],\"isError\":true}";
    jobapi_run();
    CHECK(seen.is_error && strcmp(seen.result, "{\"content\":[],\"isError\":true}") == 0);
    jobapi_close();
    jobapi_open(",\"result\":{\"as\":\"text\",\"at\":\"/detail\"}");
    jobapi.poll[0] = "200 OK||{\"state\":\"DONE\",\"detail\":\"a\\u00e9\"}";
    jobapi_run();
    CHECK(jobapi.results == 0 && jobapi_has("\"text\":\"a\xc3\xa9\""));
    jobapi_close();
}

/* --- failures --- */

TEST(a_submit_that_fails_in_passing_is_sent_again_with_the_same_key)
{
    jobapi_open("");
    jobapi.submit[0] = "503 Away||later";
    jobapi.submit[1] = "429 Slow|Retry-After: 0\r\n|";
    jobapi.submit[2] = "200 OK||{\"id\":7}";
    jobapi_run();
    CHECK(jobapi.submits == 3 && !seen.is_error && strcmp(seen.handle, "7") == 0);
    CHECK(strstr(jobapi.others, "GET /jobs/7 ") != NULL);
    CHECK(strstr(jobapi.last, "Idempotency-Key: 01abcdefghijklmnopqrstuv") != NULL);
    jobapi_close();
}

TEST(Retry_After_is_waited_for)
{
    jobapi_open("");
    jobapi.submit[0] = "429 Slow|Retry-After: 3600\r\n|";
    jobapi_start("");
    CHECK(jobapi_comes_to(&jobapi.submits, 1));
    turn_for(jobapi.base, 700); /* long after the own interval */
    CHECK(jobapi.submits == 1 && seen.ends == 0);
    jobapi.job.stop = RUN_PASSED_ON;
    jobapi.runner->stop(jobapi.runner, &jobapi.job, 1000);
    CHECK(seen.ends == 0 && jobapi_ends());
    jobapi_close();
}

TEST(a_submit_that_goes_on_failing_is_a_passing_failure)
{
    static const char *const bad[] = {"500 No||oops k-4711", "200 OK||{", "CUT||",
                                      "409 Conflict||busy"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        jobapi_open("");
        jobapi.submit[0] = bad[i];
        jobapi_run();
        CHECK(jobapi.submits == 3 && seen.passing && seen.keeps == 0 && jobapi_has("submit: "));
        CHECK(strstr(seen.why, "k-4711") == NULL);
        jobapi_close();
    }
}

TEST(a_submit_that_is_refused_is_an_error_without_secrets)
{
    jobapi_open("");
    jobapi.submit[0] = "400 Bad||no such key: k-4711 <";
    jobapi_run();
    CHECK(jobapi.submits == 1 && seen.is_error);
    CHECK(jobapi_has("submit: HTTP 400: no such key: *** <"));
    jobapi_close();
    jobapi_open("");
    jobapi.submit[0] = "302 Found|Location: /elsewhere\r\n|";
    jobapi_run();
    CHECK(seen.is_error && jobapi_has("a redirect that is not followed"));
    jobapi_close();
    jobapi_open("");
    jobapi.submit[0] = "200 OK||{\"ID\":1}";
    jobapi_run();
    CHECK(seen.is_error && jobapi_has("the answer has no job at /id"));
    jobapi_close();
}

TEST(a_secret_is_hidden_before_what_was_said_is_cut)
{
    char said[2048] = "400 Bad||";
    size_t n = strlen(said);

    jobapi_open("");
    memset(said + n, 'x', 997);
    (void)snprintf(said + n + 997, 64, "k-4711 and so on");
    jobapi.submit[0] = said;
    jobapi_run();
    CHECK(seen.is_error && jobapi_has("xxx***") && !jobapi_has("k-4"));
    jobapi_close();
}

TEST(a_progress_that_is_no_number_of_use_is_none)
{
    static char poll[16384] = "200 OK||{\"state\":\"RUNNING\",\"detail\":\"hot\",\"percent\":1";
    size_t n = strlen(poll);

    jobapi_open("");
    memset(poll + n, '0', 8170);
    (void)snprintf(poll + n + 8170, 8, "}");
    jobapi.poll[0] = poll;
    jobapi.poll[1] = "200 OK||{\"state\":\"DONE\"}";
    jobapi_run();
    CHECK(seen.said == 1 && strcmp(seen.message, "hot") == 0 && strcmp(seen.progress, "") == 0);
    jobapi_close();
}

TEST(a_hanging_socket_is_given_up_in_time)
{
    jobapi_open("");
    jobapi.submit[0] = NULL;
    jobapi_start("");
    CHECK(jobapi_comes_to(&jobapi.submits, 2)); /* the first was given up */
    CHECK(seen.ends == 0);
    jobapi_close();
}

TEST(polls_may_fail_for_a_while)
{
    jobapi_open("");
    jobapi.poll[0] = "502 Bad||";
    jobapi.poll[1] = "200 OK||<html>";
    jobapi.poll[2] = "200 OK||{\"id\":1}";
    jobapi.poll[3] = "200 OK||{\"state\":\"RUNNING\"}";
    jobapi.poll[4] = "CUT||";
    jobapi.poll[5] = "404 Not Found||";
    jobapi.poll[6] = "200 OK||{\"state\":\"DONE\"}";
    jobapi_run();
    CHECK(!seen.is_error && !seen.passing && jobapi.polls == 7 && jobapi.submits == 1);
    jobapi_close();
}

TEST(polls_that_go_on_failing_are_a_passing_failure_and_the_next_attempt_polls_on)
{
    jobapi_open("");
    jobapi.poll[0] = "503 Away||";
    jobapi_run();
    CHECK(seen.passing && jobapi.polls == 4 && jobapi_has("poll: HTTP 503"));
    memset(&seen, 0, sizeof(seen));
    jobapi.polls = 0;
    jobapi.poll[0] = "200 OK||{\"state\":\"DONE\"}";
    jobapi_start("\"j/1\"");
    CHECK(jobapi_ends());
    CHECK(jobapi.submits == 1 && seen.keeps == 0 && seen.listens == 1 && !seen.is_error);
    jobapi_close();
}

TEST(polls_that_are_refused_again_and_again_end_it)
{
    jobapi_open("");
    jobapi.poll[0] = "404 Not Found||no such job";
    jobapi_run();
    CHECK(seen.is_error && jobapi.polls == 3 && jobapi_has("poll: HTTP 404: no such job"));
    CHECK(jobapi.cancels == 1); /* if it is there after all */
    jobapi_close();
}

TEST(a_job_that_failed_or_was_killed_is_an_error_that_says_so)
{
    jobapi_open("");
    jobapi.poll[0] = "200 OK||{\"state\":\"FAILED\",\"detail\":\"disk full on k-4711\"}";
    jobapi_run();
    CHECK(seen.is_error &&
          jobapi_has("disk full on ***\\nthe job failed: its state is \\\"FAILED\\\""));
    jobapi_close();
    jobapi_open("");
    jobapi.poll[0] = "200 OK||{\"state\":\"KILLED\"}";
    jobapi_run();
    CHECK(seen.is_error && jobapi_has("the job was cancelled by others"));
    jobapi_close();
}

TEST(an_unknown_state_is_asked_about_again_but_not_for_ever)
{
    jobapi_open("");
    jobapi.poll[0] = "200 OK||{\"state\":\"ODD\"}";
    jobapi.poll[1] = "200 OK||{\"state\":\"ODD\"}";
    jobapi.poll[2] = "200 OK||{\"state\":\"DONE\"}";
    jobapi_run();
    CHECK(!seen.is_error && jobapi.polls == 3);
    jobapi_close();
    jobapi_open("");
    jobapi.poll[0] = "200 OK||{\"state\":\"ODD\"}";
    jobapi_run();
    CHECK(seen.is_error && jobapi.polls == 4 && jobapi_has("its state is \\\"ODD\\\""));
    CHECK(jobapi.cancels == 1);
    jobapi_close();
}

TEST(a_result_that_fails_in_passing_is_fetched_again)
{
    jobapi_open("/jobs/{job}/output\",\"as\":\"json\"}");
    jobapi.result[0] = "503 Away||";
    jobapi.result[1] = "200 OK||{\"half\":";
    jobapi.result[2] = "200 OK||{\"whole\":1}";
    jobapi_run();
    CHECK(jobapi.results == 3 && jobapi_has("\"structuredContent\":{\"whole\":1}"));
    jobapi_close();
    jobapi_open("/jobs/{job}/output\",\"as\":\"json\"}");
    jobapi.result[0] = "200 OK||[1]";
    jobapi_run();
    CHECK(jobapi.results == 3 && seen.is_error && jobapi_has("it is no JSON object"));
    jobapi_close();
    jobapi_open("/jobs/{job}/output\"}");
    jobapi.result[0] = "403 No||";
    jobapi_run();
    CHECK(jobapi.results == 1 && seen.is_error && jobapi_has("result: HTTP 403"));
    jobapi_close();
}

/* --- callbacks --- */

TEST(B26_a_callback_ends_the_wait_for_the_next_poll)
{
    jobapi_open("");
    jobapi.poll[0] = "200 OK||{\"state\":\"RUNNING\"}";
    jobapi_start("");
    CHECK(jobapi_comes_to(&jobapi.polls, 1));
    CHECK(!jobapi.runner->called(jobapi.runner, &jobapi.job,
                                 SPAN("{\"state\":\"RUNNING\",\"percent\":60}")));
    CHECK(strcmp(seen.progress, "{\"progress\":60,\"total\":100}") == 0);
    CHECK(!jobapi.runner->called(jobapi.runner, &jobapi.job, SPAN("nonsense")) && seen.ends == 0);
    CHECK(jobapi.runner->called(jobapi.runner, &jobapi.job,
                                SPAN("{\"state\":\"DONE\",\"by\":\"call\"}")));
    CHECK(seen.ends == 1 && jobapi_has("\\\"by\\\":\\\"call\\\""));
    jobapi_close();
}

TEST(B26_what_a_callback_begins_is_not_begun_again_when_the_next_poll_would_be_due)
{
    jobapi_open("/jobs/{job}/output\"}");
    jobapi.poll[0] = "200 OK||{\"state\":\"RUNNING\"}";
    jobapi.result[0] = NULL; /* hangs */
    jobapi_start("");
    CHECK(jobapi_comes_to(&seen.said, 1));
    CHECK(jobapi.runner->called(jobapi.runner, &jobapi.job, SPAN("{\"state\":\"DONE\"}")));
    CHECK(jobapi_comes_to(&jobapi.results, 1));
    turn_for(jobapi.base, 100);
    CHECK(jobapi.results == 1 && seen.ends == 0);
    jobapi_close();
    jobapi_open("");
    jobapi.poll[0] = "200 OK||{\"state\":\"RUNNING\"}";
    jobapi.cancel[0] = NULL;
    jobapi_start("");
    CHECK(jobapi_comes_to(&seen.said, 1));
    for (int i = 0; i < 3; i++)
        CHECK(!jobapi.runner->called(jobapi.runner, &jobapi.job, SPAN("{\"state\":\"ODD\"}")));
    CHECK(jobapi.runner->called(jobapi.runner, &jobapi.job, SPAN("{\"state\":\"ODD\"}")));
    CHECK(jobapi_comes_to(&jobapi.cancels, 1));
    turn_for(jobapi.base, 100);
    CHECK(jobapi.cancels == 1 && seen.ends == 0);
    jobapi_close();
}

/* --- stopping --- */

static void stop(enum run_stop why, uint64_t grace_ms)
{
    jobapi.job.stop = why;
    jobapi.runner->stop(jobapi.runner, &jobapi.job, grace_ms);
    CHECK(seen.ends == 0);
}

TEST(B5_who_cancels_cancels_the_job_elsewhere)
{
    jobapi_open("");
    jobapi.poll[0] = "200 OK||{\"state\":\"RUNNING\"}";
    jobapi.cancel[0] = "503 Away||";
    jobapi.cancel[1] = "204 Gone||";
    jobapi_start("");
    CHECK(jobapi_comes_to(&jobapi.polls, 1));
    stop(RUN_UNWANTED, 5000);
    CHECK(jobapi_ends());
    CHECK(jobapi.cancels == 2 && strstr(jobapi.others, "DELETE /jobs/j%2F1 ") != NULL);
    jobapi_close();
}

TEST(a_job_that_is_passed_on_is_left_alone)
{
    jobapi_open("");
    jobapi.poll[0] = "200 OK||{\"state\":\"RUNNING\"}";
    jobapi_start("");
    CHECK(jobapi_comes_to(&jobapi.polls, 1));
    stop(RUN_PASSED_ON, 5000);
    CHECK(jobapi_ends());
    CHECK(jobapi.cancels == 0 && seen.passing);
    jobapi_close();
}

TEST(B5_a_job_that_is_cancelled_while_it_is_passed_on_is_cancelled_elsewhere)
{
    jobapi_open("");
    jobapi.poll[0] = "200 OK||{\"state\":\"RUNNING\"}";
    jobapi.cancel[0] = "204 Gone||";
    jobapi_start("");
    CHECK(jobapi_comes_to(&jobapi.polls, 1));
    stop(RUN_PASSED_ON, 20000);
    stop(RUN_UNWANTED, 20000);
    stop(RUN_UNWANTED, 20000);
    CHECK(jobapi_ends());
    CHECK(jobapi.cancels == 1);
    jobapi_close();
}

static struct asked submit_held;

static void hold_submit(void *arg, const struct asked *a)
{
    if (strcmp(a->path, "/jobs") != 0) {
        jobapi_serve(arg, a);
        return;
    }
    jobapi.submits++;
    submit_held = *a;
}

TEST(a_submit_under_way_is_waited_for_when_its_job_is_stopped)
{
    static const enum run_stop whys[] = {RUN_UNWANTED, RUN_PASSED_ON};

    for (unsigned i = 0; i < 2; i++) {
        jobapi_open("");
        jobapi.api.fn = hold_submit;
        jobapi_start("");
        CHECK(jobapi_comes_to(&jobapi.submits, 1));
        stop(whys[i], 20000);
        turn_for(jobapi.base, 50);
        CHECK(seen.ends == 0);
        upstream_answer(&submit_held, "200 OK", "", "{\"id\":\"j/1\"}");
        CHECK(jobapi_ends());
        CHECK(jobapi.cancels == (whys[i] == RUN_UNWANTED ? 1U : 0U));
        CHECK(seen.keeps == (whys[i] == RUN_UNWANTED ? 0U : 1U));
        CHECK(jobapi.polls == 0);
        jobapi_close();
    }
}

TEST(a_stop_ends_with_its_grace_whatever_the_API_does)
{
    jobapi_open("");
    jobapi.poll[0] = "200 OK||{\"state\":\"RUNNING\"}";
    jobapi.cancel[0] = NULL; /* hangs */
    jobapi_start("");
    CHECK(jobapi_comes_to(&jobapi.polls, 1));
    stop(RUN_UNWANTED, 2000);
    CHECK(jobapi_comes_to(&jobapi.cancels, 1));
    CHECK(jobapi_ends());
    jobapi_close();
    jobapi_open("");
    seen.auto_keep = false; /* Redis is away */
    jobapi_start("");
    CHECK(jobapi_comes_to(&seen.keeps, 1));
    stop(RUN_PASSED_ON, 10000);
    stop(RUN_PASSED_ON, 10);
    CHECK(jobapi_ends());
    CHECK(jobapi.polls == 0);
    jobapi_close();
}

TEST(nothing_is_done_before_the_handle_is_safe)
{
    jobapi_open("");
    seen.auto_keep = false;
    jobapi_start("");
    CHECK(jobapi_comes_to(&seen.keeps, 1));
    turn_for(jobapi.base, 100);
    CHECK(jobapi.polls == 0);
    jobapi.runner->kept(jobapi.runner, &jobapi.job);
    CHECK(jobapi_ends());
    CHECK(jobapi.polls == 1);
    jobapi_close();
}
