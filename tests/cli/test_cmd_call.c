#include "common/clock.h"
#include "deploy/cli/command.h"
#include "tests/lib/proc.h"
#include "tests/lib/site.h"
#include "tests/lib/test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct site site;
static struct prog p;

#define WORDS(...) ((const char *const[]){"errand", __VA_ARGS__, NULL})

/* The first 24 characters of the line that says where a task was left, or of standard output. */
static void id_of(const char *text, char id[25])
{
    (void)snprintf(id, 25, "%.24s", text);
}

TEST(a_call_runs_as_a_task_and_prints_its_result)
{
    site_start(&site, "none");
    ERRAND(&site, &p, "call", "nap", "{\"s\":\"0.5\"}");
    CHECK(p.status == EXIT_OK);
    CHECK(strstr(p.err, "nap: working") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "call", "quick");
    CHECK(p.status == EXIT_OK && strcmp(p.out, "quick\n") == 0);
    prog_fini(&p);
    ERRAND(&site, &p, "call", "nap", "{\"s\":\"0\"}", "--json");
    CHECK(p.status == EXIT_OK && p.out[0] == '{' && strstr(p.out, "related-task") != NULL);
    CHECK(strstr(p.out, "\"isError\":false") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "call", "nap", "{\"s\":\"0\"}", "--json", "--plain");
    CHECK(p.status == EXIT_OK && p.out[0] == '{' && strstr(p.out, "related-task") == NULL);
    prog_fini(&p);
    site_errand_start(&site, &p, WORDS("call", "nap", "-"), NULL, "{\"s\":\"0\"}\n");
    CHECK(prog_end(&p, 20000) && p.status == EXIT_OK);
    prog_fini(&p);
    site_stop(&site);
}

TEST(what_fails_is_status_1)
{
    site_start(&site, "none");
    ERRAND(&site, &p, "call", "must");
    CHECK(p.status == EXIT_FAILED && strstr(p.out, "exit status 3") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "call", "must", "--json");
    CHECK(p.status == EXIT_FAILED && strstr(p.out, "\"isError\":true") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "call", "nosuch");
    CHECK(p.status == EXIT_FAILED && strstr(p.err, "there is no tool \"nosuch\"") != NULL);
    prog_fini(&p);
    site_stop(&site);
}

TEST(what_a_tool_cannot_do_is_refused_and_nothing_runs)
{
    site_start(&site, "none");
    ERRAND(&site, &p, "call", "quick", "--detach");
    CHECK(p.status == EXIT_USAGE && p.out[0] == '\0' && strstr(p.err, "leave out --detach"));
    prog_fini(&p);
    ERRAND(&site, &p, "call", "quick", "--ttl", "5m");
    CHECK(p.status == EXIT_USAGE && p.out[0] == '\0' && strstr(p.err, "leave out --ttl"));
    prog_fini(&p);
    ERRAND(&site, &p, "call", "must", "--plain");
    CHECK(p.status == EXIT_USAGE && p.out[0] == '\0' && strstr(p.err, "leave out --plain"));
    prog_fini(&p);
    ERRAND(&site, &p, "call", "nap", "{\"s\":\"60\"}", "--plain", "--detach");
    CHECK(p.status == EXIT_USAGE && p.out[0] == '\0' && strstr(p.err, "--plain or --detach"));
    prog_fini(&p);
    ERRAND(&site, &p, "queue", "--json");
    CHECK(p.status == EXIT_OK && strstr(p.out, "\"tasks\":0,") != NULL);
    prog_fini(&p);
    site_stop(&site);
}

TEST(a_detached_task_is_followed_later)
{
    char id[25];

    site_start(&site, "none");
    ERRAND(&site, &p, "call", "nap", "{\"s\":\"3\"}", "--detach", "--ttl", "5m");
    CHECK(p.status == EXIT_OK && strlen(p.out) == 25);
    id_of(p.out, id);
    prog_fini(&p);
    ERRAND(&site, &p, "get", id);
    CHECK(p.status == EXIT_OK && strstr(p.out, "working") != NULL);
    CHECK(strstr(p.out, "300000 ms") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "result", id);
    CHECK(p.status == EXIT_OK && strstr(p.err, "working") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "get", id, "--json");
    CHECK(p.status == EXIT_OK && strstr(p.out, "\"status\":\"completed\"") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "call", "nap", "{\"s\":\"0\"}", "--detach", "--json");
    CHECK(p.status == EXIT_OK && strncmp(p.out, "{\"taskId\":\"", 11) == 0);
    prog_fini(&p);
    site_stop(&site);
}

TEST(ctrl_c_cancels_the_task)
{
    site_start(&site, "none");
    site_errand_start(&site, &p, WORDS("call", "nap", "{\"s\":\"60\"}"), NULL, NULL);
    REQUIRE(prog_says(&p, "working"));
    prog_signal(&p, SIGINT);
    CHECK(prog_end(&p, 10000) && p.status == EXIT_STOPPED);
    CHECK(strstr(p.err, "errand: cancelled") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "queue", "--json");
    CHECK(strstr(p.out, "\"cancelled\":1") != NULL && strstr(p.out, "\"unfinished\":0") != NULL);
    prog_fini(&p);
    site_stop(&site);
}

TEST(a_second_ctrl_c_leaves_the_task_and_says_its_id)
{
    const char *at;
    char id[25];

    site_start(&site, "none");
    site_errand_start(&site, &p, WORDS("call", "nap", "{\"s\":\"60\"}"), NULL, NULL);
    REQUIRE(prog_says(&p, "working"));
    (void)kill(site.broker, SIGSTOP); /* so that the cancelling has no end */
    prog_signal(&p, SIGINT);
    REQUIRE(prog_says(&p, "cancelling"));
    prog_signal(&p, SIGINT);
    CHECK(prog_end(&p, 20000) && p.status == EXIT_STOPPED);
    (void)kill(site.broker, SIGCONT);
    REQUIRE((at = strstr(p.err, "errand result ")) != NULL);
    id_of(at + strlen("errand result "), id);
    prog_fini(&p);
    ERRAND(&site, &p, "get", id);
    CHECK(p.status == EXIT_OK);
    prog_fini(&p);
    site_stop(&site);
}

static void outlive_a_broker(const char *const *words)
{
    uint64_t begun = clock_mono_ms();

    site_errand_start(&site, &p, words, NULL, NULL);
    REQUIRE(prog_says(&p, "working"));
    site_kill_broker(&site);
    REQUIRE(prog_says(&p, "trying again"));
    site_start_broker(&site);
    CHECK(prog_end(&p, 30000) && p.status == EXIT_OK);
    CHECK(clock_mono_ms() - begun >= 4000); /* the same job to its end */
    prog_fini(&p);
    ERRAND(&site, &p, "queue", "--json");
    CHECK(strstr(p.out, "\"ended\":{\"result\":1,") != NULL);
    prog_fini(&p);
}

TEST(a_call_outlives_its_broker)
{
    site_start(&site, "none");
    outlive_a_broker(WORDS("call", "nap", "{\"s\":\"4\"}"));
    site_stop(&site);
}

static bool is_running(void *arg)
{
    struct prog q;
    bool running;

    (void)arg;
    ERRAND(&site, &q, "queue", "--json");
    running = strstr(q.out, "\"running\":1") != NULL;
    prog_fini(&q);
    return running;
}

TEST(a_plain_call_outlives_its_broker_too)
{
    site_start(&site, "none");
    site_errand_start(&site, &p, WORDS("call", "nap", "{\"s\":\"4\"}", "--plain"), NULL, NULL);
    REQUIRE(wait_for(10000, is_running, NULL));
    site_kill_broker(&site);
    site_start_broker(&site);
    CHECK(prog_end(&p, 30000) && p.status == EXIT_OK);
    prog_fini(&p);
    ERRAND(&site, &p, "queue", "--json");
    CHECK(strstr(p.out, "\"ended\":{\"result\":1,") != NULL); /* once */
    prog_fini(&p);
    site_stop(&site);
}
