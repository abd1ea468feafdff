/* errand tools check: a file of tools looked at, and a tool run, where there is no Redis. */
#include "deploy/cli/inspect.h"

#include "deploy/cli/command.h"
#include "tests/lib/proc.h"
#include "tests/lib/ps.h"
#include "tests/lib/term.h"
#include "tests/lib/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char file[64];
static struct prog p;
static struct term t;

/* No Redis and no broker can be reached from here. */
static const char *const env[] = {"ERRAND_REDIS=redis://127.0.0.1:1/0",
                                  "ERRAND_URL=http://127.0.0.1:1/mcp", NULL};

static void put(const char *text)
{
    FILE *f;
    int fd;

    (void)snprintf(file, sizeof(file), "/tmp/errand-inspect-XXXXXX");
    fd = mkstemp(file);
    f = fd == -1 ? NULL : fdopen(fd, "w");
    if (f == NULL || fputs(text, f) == EOF || fclose(f) != 0)
        exit(2);
}

/* One tool "it" that runs a script; more: further members. */
static void put_tool(const char *script, const char *more)
{
    char text[4096];

    (void)snprintf(text, sizeof(text),
                   "{\"tools\":[{\"name\":\"it\",\"inputSchema\":{\"type\":\"object\","
                   "\"properties\":{\"n\":{\"type\":\"integer\"}}},"
                   "\"run\":{\"command\":[\"sh\",\"-c\",\"%s\",\"sh\",\"{n}\"]}%s}]}",
                   script, more);
    put(text);
}

static const char *const *words(const char *a, const char *b, const char *c, const char *d)
{
    static const char *argv[9];
    const char *const all[] = {"errand", "tools", "check", file, a, b, c, d, NULL};

    memcpy(argv, all, sizeof(all));
    return argv;
}

#define RUN(...) words("--run", "it", __VA_ARGS__)

static void check(const char *const *argv, int status)
{
    prog_start(&p, argv, env, NULL);
    CHECK(prog_end(&p, 20000));
    CHECK(p.status == status);
    if (p.status != status)
        printf("status %d\n%s%s", p.status, p.out, p.err);
    (void)unlink(file);
}

#define HAS(text, part) (strstr((text), (part)) != NULL || (printf("%s\n", (text)), false))

TEST(a_good_file_is_listed)
{
    put_tool("echo", ",\"timeout\":\"90s\",\"taskSupport\":\"required\"");
    check(words(NULL, NULL, NULL, NULL), EXIT_OK);
    CHECK(HAS(p.out, "it    required  90s      3         normal"));
    CHECK(p.err[0] == '\0');
    prog_fini(&p);
    put_tool("echo", ",\"title\":\"It \\u00e4\"");
    check(words("--json", NULL, NULL, NULL), EXIT_OK);
    CHECK(HAS(p.out, "\"tools\":[{\"definition\":{\"name\":\"it\","));
    CHECK(HAS(p.out, "\"title\":\"It \\u00e4\"},\"policy\":{\"taskSupport\":\"optional\""));
    prog_fini(&p);
}

TEST(a_program_that_is_not_on_this_machine_is_a_warning)
{
    put("{\"tools\":[{\"name\":\"it\",\"inputSchema\":{\"type\":\"object\"},"
        "\"run\":{\"command\":[\"./not-there.sh\"]}}]}");
    check(words(NULL, NULL, NULL, NULL), EXIT_OK);
    CHECK(HAS(p.err, "warning: tool \"it\": /tmp/./not-there.sh cannot be run here: No such file"));
    prog_fini(&p);
}

TEST(a_mistake_is_the_sentence_that_the_worker_says)
{
    put_tool("echo", ",\"timeout\":\"5 parsecs\"");
    check(words(NULL, NULL, NULL, NULL), EXIT_FAILED);
    CHECK(HAS(p.err, "errand: /tmp/errand-inspect-"));
    CHECK(HAS(p.err, "tool \"it\": \"timeout\""));
    prog_fini(&p);
    put("{\"tools\":[]}");
    check(words("--json", NULL, NULL, NULL), EXIT_FAILED);
    CHECK(HAS(p.out, "\"error\":\"/tmp/errand-inspect-"));
    CHECK(HAS(p.out, "there is no tool to serve"));
    prog_fini(&p);
}

TEST(a_run_gives_what_a_client_would_get)
{
    put_tool("echo attempt $ERRAND_ATTEMPT of n=$1 as [$ERRAND_PRINCIPAL]", "");
    check(RUN("{\"n\":7}", NULL), EXIT_OK);
    CHECK(strcmp(p.out, "attempt 1 of n=7 as []\n") == 0);
    prog_fini(&p);
    put_tool("cat; echo bad >&2; exit 3", "");
    check(RUN("{\"n\": 1e0}", "--json"), EXIT_FAILED);
    CHECK(HAS(p.out, "\"text\":\"bad\\nexit status 3\"}],\"isError\":true}"));
    prog_fini(&p);
    put_tool(
        "echo '{\\\"a\\\":1}'",
        ",\"outputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}");
    check(words(NULL, NULL, NULL, NULL), EXIT_FAILED); /* it needs "output": "json" */
    prog_fini(&p);
}

TEST(W_16_arguments_that_do_not_fit_are_refused_as_the_broker_would_and_nothing_runs)
{
    put_tool("echo ran >&2", "");
    check(RUN("{\"n\":\"x\"}", NULL), EXIT_FAILED);
    CHECK(HAS(p.out, "Invalid arguments for tool it: \"/n\" must be an integer"));
    CHECK(strstr(p.err, "ran") == NULL);
    prog_fini(&p);
    put_tool("echo", "");
    check(RUN("{\"n\":", NULL), EXIT_USAGE);
    prog_fini(&p);
    put_tool("echo", "");
    check(words("--run", "other", NULL, NULL), EXIT_USAGE);
    CHECK(HAS(p.err, "the file declares no tool \"other\""));
    prog_fini(&p);
}

TEST(what_the_job_tells_is_shown_on_standard_error)
{
    put_tool(ERRAND_BIN "/errand progress 1 4 'a quarter'; " ERRAND_BIN
                        "/errand log warning low; echo done",
             "");
    check(RUN(NULL, NULL), EXIT_OK);
    CHECK(strcmp(p.out, "done\n") == 0);
    CHECK(HAS(p.err, "it: working: 1/4: a quarter"));
    CHECK(HAS(p.err, "WARNING: low"));
    prog_fini(&p);
}

TEST(without_a_terminal_questions_are_declined_and_others_refused)
{
    put_tool(ERRAND_BIN "/errand ask --message sure --field a:boolean; echo asked $?; " ERRAND_BIN
                        "/errand sample hi; "
                        "echo sampled $?",
             "");
    check(RUN(NULL, NULL), EXIT_OK);
    CHECK(HAS(p.out, "asked 3\nsampled 1\n"));
    CHECK(HAS(p.err, "declined, as nobody is there to be asked: sure"));
    prog_fini(&p);
}

TEST(at_a_terminal_the_person_is_asked)
{
    put_tool(ERRAND_BIN "/errand ask --message 'Which one?' --field 'c:red|green'", "");
    term_start(&t, RUN(NULL, NULL), env);
    REQUIRE(term_says(&t, "Which one?"));
    REQUIRE(term_says(&t, "2) green"));
    term_type(&t, "2\r");
    CHECK(term_end(&t, 20000) && t.status == EXIT_OK);
    CHECK(strcmp(t.out, "{\"c\":\"green\"}\n") == 0);
    term_fini(&t);
    (void)unlink(file);
}

TEST(a_timeout_and_a_failure_in_passing_are_told_as_what_they_are)
{
    put_tool("sleep 100", ",\"timeout\":\"100ms\",\"grace\":\"100ms\"");
    check(RUN(NULL, NULL), EXIT_FAILED);
    CHECK(HAS(p.out, "longer than its timeout of 100ms and was stopped"));
    prog_fini(&p);
    put_tool("echo away >&2; exit 1", ",\"retryOn\":[\"exit\"],\"attempts\":4");
    check(RUN(NULL, NULL), EXIT_FAILED);
    CHECK(HAS(p.err, "it failed in passing; attempt 2 of 4 would follow in about 5s: away"));
    prog_fini(&p);
    put_tool("echo away >&2; exit 1", ",\"retryOn\":[\"exit\"],\"attempts\":1");
    check(RUN(NULL, NULL), EXIT_FAILED);
    CHECK(HAS(p.err, "it failed in passing; it has no other attempt: away"));
    prog_fini(&p);
}

TEST(B5_ctrl_c_stops_the_job_with_all_its_processes)
{
    char mark[32];
    char script[128];

    (void)snprintf(script, sizeof(script), "trap '' TERM; setsid sleep %s & sleep %s & wait; wait",
                   ps_mark(mark), mark);
    put_tool(script, ",\"grace\":\"200ms\"");
    prog_start(&p, RUN(NULL, NULL), env, NULL);
    CHECK(ps_wait(mark, 2, 10000));
    prog_signal(&p, SIGINT);
    CHECK(prog_end(&p, 10000) && p.status == EXIT_STOPPED);
    CHECK(ps_count(mark) == 0);
    prog_fini(&p);
    (void)unlink(file);
}
