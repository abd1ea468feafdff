#include "worker/ask.h"

#include "common/clock.h"
#include "tests/lib/hand.h"
#include "tests/lib/proc.h"
#include "tests/lib/serve.h"
#include "tests/lib/test.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define FORM \
    "\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}," \
    "\"required\":[\"n\"]}"
#define ELICIT \
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"elicitation/" \
    "create\",\"params\":{\"message\":\"How many?\"," FORM "}}"
#define ACCEPT "{\"result\":{\"action\":\"accept\",\"content\":{\"n\":3}}}"
#define HOSTS \
    "{\"elicitation\":{},\"tasks\":{\"cancel\":{},\"requests\":{\"elicitation\":{\"create\":{}}}}" \
    "}"
#define BEGUN(ms) \
    "{\"result\":{\"task\":{\"taskId\":\"c-1\",\"status\":\"working\",\"pollInterval\":" #ms "}}}"
#define STATUS(word) \
    "{\"result\":{\"taskId\":\"c-1\",\"status\":\"" word "\",\"pollInterval\":100}}"

static struct bench b;
static struct serving w;

static char tools[1024];

static void print_answers(FILE *f, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        (void)fprintf(f, "IFS= read -r line <&3; printf '%%s\\n' \"$line\"\n");
}

/* Writes lines to descriptor 3 and prints that many answers; then one more, if then is not NULL. */
static void write_script(const char *lines, unsigned answers, const char *then)
{
    char path[128];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/ask.sh", b.redis.dir);
    f = fopen(path, "w");
    if (f == NULL)
        exit(2);
    (void)fprintf(f, "cat >&3 <<'EOF'\n%s\nEOF\n", lines);
    print_answers(f, answers);
    if (then != NULL) {
        (void)fprintf(f, "cat >&3 <<'EOF'\n%s\nEOF\n", then);
        print_answers(f, 1);
    }
    (void)fclose(f);
    (void)snprintf(tools, sizeof(tools),
                   "{\"tools\":[{\"name\":\"ask\",\"inputSchema\":{\"type\":\"object\"},"
                   "\"run\":{\"command\":[\"sh\",\"%s\"]}}]}",
                   path);
}

static void begin(const char *lines, unsigned answers, const char *const *more)
{
    bench_start(&b, 0);
    write_script(lines, answers, NULL);
    serve_start(&w, &b, tools, more);
}

static void end(void)
{
    CHECK(serve_term(&w, 10000) == 0);
    bench_stop(&b);
}

static const char *call(const char *caps)
{
    return bench_create(&b, &(struct bench_create){.tool = "ask", .caps = caps});
}

static bool outcome_has(const char *id, const char *text)
{
    struct bench_task t;
    bool has;

    if (!bench_ended(&b, id, 10000, &t))
        return false;
    has = strstr(t.outcome, text) != NULL;
    if (!has)
        printf("%s\n", t.outcome);
    return has;
}

static void host(const char *id, const char *method, const char *answer)
{
    const char *key = bench_question(&b, id, method, 10000);

    CHECK(key != NULL);
    CHECK(key != NULL && bench_answer(&b, id, key, answer));
}

TEST(T_31_T_32_a_question_is_put_down_and_its_answer_given_to_the_command)
{
    struct bench_task t;
    const char *key;
    const char *id;

    begin(ELICIT, 1, NULL);
    id = call("{\"elicitation\":{}}");
    key = bench_question(&b, id, "elicitation/create", 10000);
    REQUIRE(key != NULL);
    CHECK(strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
          strlen(key));
    CHECK(strlen(key) <= 64);
    CHECK(strstr(bench_params(), "{\"message\":\"How many?\"," FORM) == bench_params());
    CHECK(
        strstr(bench_params(), "\"_meta\":{\"io.modelcontextprotocol/related-task\":{\"taskId\":"));
    CHECK(strstr(bench_params(), id) != NULL);
    CHECK(bench_read(&b, id, &t) && t.state == TASK_INPUT);
    CHECK(bench_answer(&b, id, key, ACCEPT));
    CHECK(outcome_has(id,
                      "{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":7,\\\"result\\\":{\\\"action\\\":"
                      "\\\"accept\\\",\\\"content\\\":{\\\"n\\\":3}}}"));
    end();
}

TEST(E_05_decline_and_cancel_are_told_apart_and_errors_are_passed_on)
{
    static const char *const answers[] = {"{\"result\":{\"action\":\"decline\"}}",
                                          "{\"result\":{\"action\":\"cancel\"}}",
                                          "{\"error\":{\"code\":-1,\"message\":\"no\"}}"};
    static const char *const seen[] = {"\\\"decline\\\"", "\\\"cancel\\\"", "\\\"code\\\":-1"};

    begin(ELICIT, 1, NULL);
    for (int i = 0; i < 3; i++) {
        const char *id = call("{\"elicitation\":{}}");
        const char *key = bench_question(&b, id, "elicitation/create", 10000);

        REQUIRE(key != NULL);
        CHECK(bench_answer(&b, id, key, answers[i]));
        CHECK(outcome_has(id, seen[i]));
    }
    end();
}

TEST(E_06_an_answer_that_does_not_fit_is_an_error_for_the_command)
{
    static const char *const answers[] = {
        "{\"result\":{\"action\":\"accept\",\"content\":{\"n\":\"3\"}}}",
        "{\"result\":{\"action\":\"accept\"}}", "{\"result\":{\"action\":\"yes\"}}",
        "{\"result\":[]}"};

    begin(ELICIT, 1, NULL);
    for (int i = 0; i < 4; i++) {
        const char *id = call("{\"elicitation\":{}}");
        const char *key = bench_question(&b, id, "elicitation/create", 10000);

        REQUIRE(key != NULL);
        CHECK(bench_answer(&b, id, key, answers[i]));
        CHECK(outcome_has(id, "\\\"code\\\":-32603"));
    }
    end();
}

TEST(E_01_E_14_what_this_client_cannot_be_asked_is_refused_at_once)
{
    static const char lines[] =
        ELICIT "\n{\"jsonrpc\":\"2.0\",\"id\":\"u\",\"method\":\"elicitation/create\",\"params\":"
               "{\"mode\":\"url\",\"message\":\"m\",\"url\":\"https://x.test\","
               "\"elicitationId\":\"e\"}}\n"
               "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"sampling/createMessage\",\"params\":"
               "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"x\"}}],"
               "\"maxTokens\":5}}\n"
               "{\"jsonrpc\":\"2.0\",\"id\":10,\"method\":\"roots/list\"}\n"
               "{\"jsonrpc\":\"2.0\",\"id\":11,\"method\":\"tools/list\"}\n";
    const char *id;

    begin(lines, 5, NULL);
    id = call("{}");
    CHECK(outcome_has(id, "\\\"id\\\":7,\\\"error\\\":{\\\"code\\\":-32601"));
    CHECK(outcome_has(id, "\\\"id\\\":\\\"u\\\",\\\"error\\\":{\\\"code\\\":-32601"));
    CHECK(outcome_has(id, "\\\"id\\\":9,\\\"error\\\":{\\\"code\\\":-32601"));
    CHECK(outcome_has(id, "\\\"id\\\":10,\\\"error\\\":{\\\"code\\\":-32601"));
    CHECK(outcome_has(id, "\\\"id\\\":11,\\\"error\\\":{\\\"code\\\":-32601"));
    end();
}

TEST(an_attempt_that_asks_the_same_again_is_given_the_answer_of_the_one_before)
{
    static const char second[] =
        "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"elicitation/create\",\"params\":"
        "{\"message\":\"Sure?\"," FORM "}}";
    const char *id;

    begin("", 0, NULL);
    CHECK(serve_term(&w, 10000) == 0);
    write_script(ELICIT "\n", 1, second);
    serve_start(&w, &b, tools, (const char *const[]){"--lease", "1s", NULL});
    id = call("{\"elicitation\":{}}");
    host(id, "elicitation/create", ACCEPT);
    REQUIRE(bench_question(&b, id, "elicitation/create", 10000) != NULL);
    CHECK(strstr(bench_params(), "Sure?") != NULL);
    serve_kill(&w);
    serve_start(&w, &b, tools, (const char *const[]){"--lease", "1s", NULL});
    CHECK(serve_wait_logged(&w, "JOB_STARTED", 1, 10000));
    REQUIRE(bench_question(&b, id, "elicitation/create", 10000) != NULL);
    CHECK(strstr(bench_params(), "Sure?") != NULL); /* the first one was not asked again */
    host(id, "elicitation/create", "{\"result\":{\"action\":\"accept\",\"content\":{\"n\":4}}}");
    CHECK(outcome_has(id, "\\\"n\\\":3"));
    CHECK(outcome_has(id, "\\\"n\\\":4"));
    end();
}

TEST(T_107_another_attempt_goes_on_with_the_task_of_the_client)
{
    const char *id;

    begin(ELICIT, 1, (const char *const[]){"--lease", "1s", NULL});
    id = call(HOSTS);
    host(id, "elicitation/create", BEGUN(100));
    REQUIRE(bench_question(&b, id, "tasks/get", 10000) != NULL);
    serve_kill(&w);
    serve_start(&w, &b, tools, NULL);
    CHECK(serve_wait_logged(&w, "CLIENT_TASK", 1, 10000));
    host(id, "tasks/get", STATUS("completed"));
    host(id, "tasks/result", ACCEPT);
    CHECK(outcome_has(id, "\\\"n\\\":3"));
    end();
}

#define NAMED(message) \
    "{\"jsonrpc\":\"2.0\",\"id\":\"sure\",\"method\":\"elicitation/create\",\"params\":{" \
    "\"message\":\"" message "\"," FORM "}}"

TEST(a_short_name_is_the_key_and_one_that_was_used_otherwise_is_not)
{
    const char *key;
    const char *id;

    begin("", 0, NULL);
    CHECK(serve_term(&w, 10000) == 0);
    write_script(NAMED("$ERRAND_ATTEMPT"), 1, NULL);
    serve_start(&w, &b, tools, (const char *const[]){"--lease", "1s", NULL});
    id = call("{\"elicitation\":{}}");
    key = bench_question(&b, id, "elicitation/create", 10000);
    CHECK(key != NULL && strcmp(key, "sure") == 0);
    serve_kill(&w);
    write_script(NAMED("another"), 1, NULL);
    serve_start(&w, &b, tools, (const char *const[]){"--lease", "1s", NULL});
    CHECK(serve_wait_logged(&w, "JOB_STARTED", 1, 10000));
    key = bench_question(&b, id, "elicitation/create", 10000);
    for (int i = 0; i < 500 && key != NULL && strcmp(key, "sure") == 0; i++)
        key = bench_question(&b, id, "elicitation/create", 10000);
    REQUIRE(key != NULL);
    CHECK(strlen(key) == 22 && strstr(bench_params(), "another") != NULL);
    host(id, "elicitation/create", ACCEPT);
    CHECK(outcome_has(id, "\\\"n\\\":3"));
    end();
}

TEST(nobody_answers_in_time)
{
    const char *id;

    begin(ELICIT, 1, NULL);
    id = bench_create(
        &b, &(struct bench_create){.tool = "ask", .caps = "{\"elicitation\":{}}", .ask_ms = 300});
    CHECK(outcome_has(id, "\\\"error\\\":{\\\"code\\\":-32001"));
    CHECK(bench_questions(&b, id) == 0);
    end();
}

TEST(jobs_that_wait_for_people_take_no_place)
{
    const char *ids[5];
    unsigned asked = 0;

    begin(ELICIT, 1, (const char *const[]){"--slots", "1", NULL});
    for (int i = 0; i < 5; i++)
        ids[i] = call("{\"elicitation\":{}}");
    for (int i = 0; i < 4; i++)
        asked += bench_question(&b, ids[i], "elicitation/create", 10000) != NULL;
    CHECK(asked == 4);
    CHECK(bench_question(&b, ids[4], "elicitation/create", 10000) ==
          NULL); /* four times the places */
    for (int i = 0; i < 5; i++) {
        const char *key = bench_question(&b, ids[i], "elicitation/create", 10000);

        REQUIRE(key != NULL);
        CHECK(bench_answer(&b, ids[i], key, ACCEPT));
        CHECK(outcome_has(ids[i], "accept"));
    }
    end();
}

TEST(a_cancelled_job_stops_while_it_waits)
{
    struct bench_task t;
    const char *id;

    begin(ELICIT, 1, NULL);
    id = call("{\"elicitation\":{}}");
    REQUIRE(bench_question(&b, id, "elicitation/create", 10000) != NULL);
    CHECK(bench_cancel(&b, id));
    CHECK(bench_ended(&b, id, 10000, &t) && t.state == TASK_CANCELLED);
    CHECK(serve_wait_logged(&w, "JOB_ENDED", 1, 10000));
    end();
}

TEST(what_is_no_message_is_answered_without_an_id_and_the_job_goes_on)
{
    const char *id;

    begin("{\n[]\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", 3, NULL);
    id = call(NULL);
    CHECK(outcome_has(id, "{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"error\\\":{\\\"code\\\":-32700"));
    CHECK(outcome_has(id, "\\\"code\\\":-32600"));
    CHECK(outcome_has(id, "\\\"id\\\":1,\\\"result\\\":{}"));
    end();
}

static void run_script(const char *script)
{
    FILE *f;
    char path[128];

    begin("", 0, NULL);
    CHECK(serve_term(&w, 10000) == 0);
    (void)snprintf(path, sizeof(path), "%s/ask.sh", b.redis.dir);
    f = fopen(path, "w");
    REQUIRE(f != NULL);
    (void)fputs(script, f);
    (void)fclose(f);
    serve_start(&w, &b, tools, NULL);
    CHECK(outcome_has(call("{\"elicitation\":{}}"), "done"));
    end();
}

TEST(a_command_may_close_its_line_fill_it_with_garbage_or_read_nothing)
{
    run_script("exec 3>&-; echo done\n");
    run_script("i=0; while [ $i -lt 20000 ]; do echo garbage; i=$((i+1)); done >&3; echo done\n");
    run_script("head -c 3000000 /dev/zero >&3; echo done\n");
    run_script("printf '{\"jsonrpc\":\"2.0\",' >&3; echo done\n");
    run_script("exec 3<&-; (sleep 0.2; echo done)\n");
}

TEST(T_31_a_command_that_ends_without_its_answer_ends)
{
    run_script("echo '" ELICIT "' >&3; echo done\n");
}

/* --- tasks of the client's own --- */

TEST(T_106_T_47_a_task_of_the_client_is_looked_at_until_it_has_ended)
{
    struct bench_task t;
    const char *id;

    begin(ELICIT, 1, NULL);
    id = call(HOSTS);
    REQUIRE(bench_question(&b, id, "elicitation/create", 10000) != NULL);
    CHECK(strstr(bench_params(), ",\"task\":{\"ttl\":") != NULL);
    host(id, "elicitation/create", BEGUN(100));
    for (int i = 0; i < 3; i++) {
        REQUIRE(bench_question(&b, id, "tasks/get", 10000) != NULL);
        CHECK(strcmp(bench_params(), "{\"taskId\":\"c-1\"}") == 0); /* T-62 */
        CHECK(bench_read(&b, id, &t) && t.state == TASK_INPUT);
        host(id, "tasks/get", i < 2 ? STATUS("working") : STATUS("completed"));
        CHECK(bench_read(&b, id, &t) && t.state == TASK_INPUT);
    }
    host(id, "tasks/result", ACCEPT);
    CHECK(outcome_has(id, "\\\"n\\\":3"));
    end();
}

TEST(T_46_the_interval_of_the_client_is_kept)
{
    uint64_t began;
    const char *id;

    begin(ELICIT, 1, NULL);
    id = call(HOSTS);
    began = clock_mono_ms();
    host(id, "elicitation/create", BEGUN(900));
    host(id, "tasks/get", STATUS("input_required")); /* T-36: fetched before it has ended */
    CHECK(clock_mono_ms() - began >= 720);
    host(id, "tasks/result", ACCEPT);
    CHECK(outcome_has(id, "\\\"n\\\":3"));
    end();
}

TEST(T_22_a_client_that_answers_at_once_is_heard)
{
    const char *id;

    begin(ELICIT, 1, NULL);
    id = call(HOSTS);
    host(id, "elicitation/create", ACCEPT);
    CHECK(outcome_has(id, "\\\"n\\\":3"));
    end();
}

TEST(T_108_a_task_of_the_client_that_fails_is_an_error)
{
    static const char *const looks[] = {STATUS("cancelled"),
                                        "{\"error\":{\"code\":-32602,\"message\":\"gone\"}}",
                                        "{\"result\":{}}"};
    const char *id;

    begin(ELICIT, 1, NULL);
    for (int i = 0; i < 3; i++) {
        id = call(HOSTS);
        host(id, "elicitation/create", BEGUN(100));
        host(id, "tasks/get", looks[i]);
        CHECK(outcome_has(id, "\\\"error\\\":{\\\"code\\\":-32603"));
    }
    id = call(HOSTS);
    host(id, "elicitation/create", BEGUN(100));
    host(id, "tasks/get", STATUS("failed"));
    host(id, "tasks/result", "{\"error\":{\"code\":-5,\"message\":\"it broke\"}}");
    CHECK(outcome_has(id, "\\\"code\\\":-5"));
    end();
}

static char told[1024];

static void on_answered(struct runner *r, struct run_job *job, struct span id, struct span answer)
{
    (void)r;
    (void)job;
    CHECK(span_is(id, "7"));
    (void)snprintf(told, sizeof(told), "%.*s", (int)answer.n, answer.p);
}

TEST(a_question_that_is_too_large_is_refused_and_never_cut)
{
    struct event_base *base = event_base_new();
    struct buf params;
    struct asks *asks;
    struct hand h;
    struct slot *s;

    hand_open(&h, 1, "");
    h.runner.answered = on_answered;
    asks = asks_new(base, NULL, h.slots);
    s = hand_take(&h, "00abcdefghijklmnopqrstuv", 7, 60000);
    s->caps = SPAN("{\"elicitation\":{}}");
    buf_init(&params, 8 << 20);
    buf_adds(&params, "{" FORM ",\"message\":\"");
    for (int i = 0; i < 3 << 20; i++)
        buf_addc(&params, 'x');
    buf_adds(&params, "\"}");
    asks_asked(asks, s, SPAN("7"), SPAN("elicitation/create"), buf_span(&params));
    CHECK(strstr(told, "\"code\":-32602") != NULL && strstr(told, "larger than 2 MiB") != NULL);
    CHECK(!s->is_waiting);
    hand_end(&h, 0, "{}", false);
    asks_hushed(asks, s);
    slot_settled(s);
    hand_close(&h);
    asks_free(asks);
    buf_fini(&params);
    event_base_free(base);
}
