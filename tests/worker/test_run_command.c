#include "worker/run/command.h"

#include "common/json.h"
#include "tests/lib/proc.h"
#include "tests/lib/ps.h"
#include "tests/lib/test.h"
#include "worker/result.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct event_base *base;
static struct children *set;
static struct runner *runner;
static struct tool tool;

static struct {
    unsigned ends;
    bool passing;
    bool is_error;
    size_t n;
    char result[65536];
    char why[16384];
} seen;

static void on_ended(struct run_job *job, const struct run_end *end)
{
    (void)job;
    seen.ends++;
    seen.passing = end->passing;
    seen.is_error = end->is_error;
    seen.n = end->n;
    (void)snprintf(seen.result, sizeof(seen.result), "%s", end->passing ? "" : end->result);
    (void)snprintf(seen.why, sizeof(seen.why), "%s", end->passing ? end->why : "");
    if (!end->passing)
        CHECK(json_check_limits((struct span){end->result, end->n}, 64, 0, NULL, NULL) == ERR_OK);
    free(end->result);
}

static const struct run_sink sink = {.ended = on_ended};

static void begin(const char *run, const char *more)
{
    const struct tool_source src = {"t.json", "/tmp", 1, TOOL_COMMAND};
    char text[8192];
    struct buf why;

    base = event_base_new();
    set = children_new(base);
    runner = command_new(set, &sink);
    buf_init(&why, 4096);
    (void)snprintf(text, sizeof(text),
                   "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"run\":%s%s}", run,
                   more);
    if (!tool_read(&tool, &src, span_of(text), &why)) {
        printf("%s\n", buf_span(&why).p);
        exit(2);
    }
    buf_fini(&why);
    memset(&seen, 0, sizeof(seen));
}

static void finish(void)
{
    runner->free(runner);
    children_free(set);
    event_base_free(base);
    tool_fini(&tool);
}

static bool has_ended(void *arg)
{
    (void)arg;
    return seen.ends > 0;
}

static struct run_job job;

static void start(const char *arguments)
{
    job = (struct run_job){.tool = &tool,
                           .id = "the-id",
                           .attempt = 1,
                           .arguments = span_of(arguments),
                           .principal = "bob",
                           .trace = ""};
    runner->start(runner, &job);
}

static void run(const char *command, const char *more, const char *arguments)
{
    begin(command, more);
    start(arguments);
    CHECK(turn_until(base, 10000, has_ended, NULL));
    CHECK(seen.ends == 1);
    finish();
}

static bool result_is(const char *text, bool is_error)
{
    struct buf b;
    bool same;

    buf_init(&b, 65536);
    result_text(&b, span_of(text), is_error);
    same = !seen.passing && seen.is_error == is_error && strcmp(seen.result, buf_span(&b).p) == 0;
    if (!same)
        printf("%s\n%s\n", seen.result, buf_span(&b).p);
    buf_fini(&b);
    return same;
}

TEST(text_is_its_output_and_arguments_are_its_input)
{
    run("{\"command\":[\"cat\"]}", "", "{\"a\": 1.50}");
    CHECK(result_is("{\"a\": 1.50}", false));
    run("{\"command\":[\"echo\",\"-n\",\"{a}\"]}", "", "{\"a\":\"x;y\"}");
    CHECK(result_is("x;y", false));
    run("{\"command\":[\"sh\",\"-c\",\"pwd; echo $ERRAND_PRINCIPAL\"]}", "", "{}");
    CHECK(result_is("/tmp\nbob\n", false));
    run("{\"command\":[\"pwd\"],\"cwd\":\"/usr\"}", "", "{}");
    CHECK(result_is("/usr\n", false));
    run("{\"command\":[\"printf\",\"a\\\\377b\"]}", "", "{}");
    CHECK(result_is("a\xef\xbf\xbd"
                    "b",
                    false));
}

TEST(json_output_is_structured_content)
{
    run("{\"command\":[\"cat\"],\"output\":\"json\"}", "", "{\"n\":9007199254740993}");
    CHECK(strcmp(seen.result,
                 "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"n\\\":9007199254740993}\"}],"
                 "\"structuredContent\":{\"n\":9007199254740993},\"isError\":false}") == 0);
    run("{\"command\":[\"echo\",\"[1]\"],\"output\":\"json\"}", "", "{}");
    CHECK(result_is("the output of the command is not what its tool promises: it is no JSON object",
                    true));
    run("{\"command\":[\"echo\",\"{\"],\"output\":\"json\"}", "", "{}");
    CHECK(seen.is_error);
}

TEST(a_whole_result_is_passed_on_as_it_is)
{
    static const char whole[] = "{\"content\":[{\"type\":\"text\",\"text\":\"\\u00e9\"}], "
                                "\"isError\" : true, \"x\":1.0}";

    run("{\"command\":[\"cat\"],\"output\":\"result\"}", "", whole);
    CHECK(strcmp(seen.result, whole) == 0 && seen.is_error);
    run("{\"command\":[\"cat\"],\"output\":\"result\"}", "", "{}");
    CHECK(seen.is_error && strstr(seen.result, "must be a list") != NULL);
}

TEST(B9_a_failure_says_what_it_complained_of_and_how_it_ended)
{
    run("{\"command\":[\"sh\",\"-c\",\"echo out; echo err >&2; exit 3\"]}", "", "{}");
    CHECK(result_is("err\nexit status 3", true));
    run("{\"command\":[\"sh\",\"-c\",\"echo out; exit 3\"]}", "", "{}");
    CHECK(result_is("out\nexit status 3", true));
    run("{\"command\":[\"sh\",\"-c\",\"exit 3\"]}", "", "{}");
    CHECK(result_is("exit status 3", true));
    run("{\"command\":[\"sh\",\"-c\",\"kill -9 $$\"]}", "", "{}");
    CHECK(result_is("killed by signal 9 (Killed)", true));
}

TEST(an_exit_is_a_passing_failure_only_where_the_tool_says_so)
{
    run("{\"command\":[\"sh\",\"-c\",\"echo no >&2; exit 3\"]}", ",\"retryOn\":[\"exit\"]", "{}");
    CHECK(seen.passing && strcmp(seen.why, "no\nexit status 3") == 0);
    run("{\"command\":[\"sh\",\"-c\",\"kill -9 $$\"]}", ",\"retryOn\":[\"exit\"]", "{}");
    CHECK(!seen.passing && seen.is_error);
}

TEST(what_cannot_be_started_is_a_passing_failure)
{
    run("{\"command\":[\"/nowhere/prog\"]}", "", "{}");
    CHECK(seen.passing);
    CHECK(strcmp(seen.why, "/nowhere/prog could not be started: No such file or directory") == 0);
    run("{\"command\":[\"sh\",\"-c\",\"kill -9 $PPID; sleep 5\"]}", "", "{}");
    CHECK(seen.passing && strcmp(seen.why, "the keeper of the command was killed") == 0);
}

TEST(arguments_that_no_command_line_can_carry_are_an_error_at_once)
{
    char *big = malloc(300000);

    run("{\"command\":[\"echo\",\"{a}\"]}", "", "{\"a\":\"\\u0000\"}");
    CHECK(!seen.passing && seen.is_error && strstr(seen.result, "U+0000") != NULL);
    memset(big, 'x', 300000);
    memcpy(big, "{\"a\":\"", 6);
    memcpy(big + 300000 - 3, "\"}", 3);
    run("{\"command\":[\"echo\",\"{a}\"]}", "", big);
    CHECK(!seen.passing && seen.is_error && strstr(seen.result, "too long") != NULL);
    free(big);
}

TEST(B21_output_over_the_limit_is_an_error)
{
    run("{\"command\":[\"head\",\"-c\",\"17000000\",\"/dev/zero\"]}", "", "{}");
    CHECK(result_is("the output is larger than 16 MiB; the command was stopped", true));
    run("{\"command\":[\"head\",\"-c\",\"10000000\",\"/dev/zero\"]}", "", "{}");
    CHECK(result_is("the output is larger than 16 MiB as JSON", true));
}

TEST(B5_a_stopped_command_ends_after_its_grace_with_all_it_started)
{
    char mark[32];
    char command[512];

    (void)snprintf(command, sizeof(command),
                   "{\"command\":[\"sh\",\"-c\",\"trap '' TERM; setsid sleep $0 & sleep $0 & wait; "
                   "while :; do sleep 1; done\",\"%s\"]}",
                   ps_mark(mark));
    begin(command, "");
    start("{}");
    CHECK(ps_wait(mark, 3, 10000));
    runner->stop(runner, &job, 100);
    CHECK(seen.ends == 0);
    CHECK(turn_until(base, 10000, has_ended, NULL));
    CHECK(seen.ends == 1 && ps_count(mark) == 0);
    finish();
}
