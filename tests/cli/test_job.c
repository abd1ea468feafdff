/* What scripts do inside a job: errand progress, log, ask and sample, run by a real worker. */
#include "deploy/cli/job.h"

#include "tests/lib/prog.h"
#include "tests/lib/serve.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#define FORM_CAPS "{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{}}"

static struct bench b;
static struct serving w;
static const char *task;

/* Runs a script, in which $E is errand, as a job of a client with these capabilities. */
static void begin(const char *script, const char *caps)
{
    char tools[1024];
    char path[128];
    FILE *f;

    bench_start(&b, 0);
    (void)snprintf(path, sizeof(path), "%s/job.sh", b.redis.dir);
    f = fopen(path, "w");
    if (f == NULL)
        exit(2);
    (void)fprintf(f, "E=%s/errand\n%s\n", ERRAND_BIN, script);
    (void)fclose(f);
    (void)snprintf(tools, sizeof(tools),
                   "{\"tools\":[{\"name\":\"job\",\"inputSchema\":{\"type\":\"object\"},"
                   "\"run\":{\"command\":[\"sh\",\"%s\"]}}]}",
                   path);
    serve_start(&w, &b, tools, NULL);
    task = bench_create(&b, &(struct bench_create){.tool = "job", .caps = caps});
}

static void answer(const char *method, const char *text)
{
    const char *key = bench_question(&b, task, method, 10000);

    CHECK(key != NULL);
    CHECK(key != NULL && bench_answer(&b, task, key, text));
}

static void end(const char *outcome)
{
    struct bench_task t;

    CHECK(bench_ended(&b, task, 10000, &t));
    CHECK(strstr(t.outcome, outcome) != NULL);
    if (strstr(t.outcome, outcome) == NULL)
        printf("%s\n", t.outcome);
    CHECK(serve_term(&w, 10000) == 0);
    bench_stop(&b);
}

TEST(a_script_tells_how_far_it_is)
{
    struct bench_task t;

    begin("$E progress 3 10 'a \"b\"' && $E progress 4.5 half && $E progress x; echo $?", NULL);
    CHECK(bench_ended(&b, task, 10000, &t));
    CHECK(strcmp(t.progress, "{\"progress\":4.5,\"message\":\"half\"}") == 0);
    end("\"2\\n\"");
}

TEST(a_script_asks_with_fields)
{
    begin("$E ask --message 'Which?' --field color:red\\|green=red --field n?:integer=3 --field "
          "ok:boolean; echo $?",
          FORM_CAPS);
    REQUIRE(bench_question(&b, task, "elicitation/create", 10000) != NULL);
    CHECK(
        strstr(bench_params(),
               "\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"color\":{\"type\":"
               "\"string\",\"enum\":[\"red\",\"green\"],\"default\":\"red\"},\"n\":{\"type\":"
               "\"integer\",\"default\":3},\"ok\":{\"type\":\"boolean\"}},\"required\":[\"color\","
               "\"ok\"]}") != NULL);
    answer("elicitation/create",
           "{\"result\":{\"action\":\"accept\",\"content\":{\"color\":\"green\",\"ok\":true}}}");
    end("{\\\"color\\\":\\\"green\\\",\\\"ok\\\":true}\\n0\\n");
}

TEST(E_05_a_script_tells_decline_from_cancel)
{
    begin("$E ask --message A --field a:string; echo $?; $E ask --message B --field a:string; echo "
          "$?; $E ask --message C --field a:string; echo $?",
          FORM_CAPS);
    answer("elicitation/create", "{\"result\":{\"action\":\"decline\"}}");
    answer("elicitation/create", "{\"result\":{\"action\":\"cancel\"}}");
    answer("elicitation/create", "{\"error\":{\"code\":-1,\"message\":\"no\"}}");
    end("\"3\\n4\\n1\\n\"");
}

TEST(a_script_asks_for_an_address_and_the_model)
{
    begin(
        "$E ask --message Open --url https://x.test/a; echo $?; $E sample 'Say hi' --max-tokens 7",
        FORM_CAPS);
    REQUIRE(bench_question(&b, task, "elicitation/create", 10000) != NULL);
    CHECK(strstr(bench_params(), "\"mode\":\"url\",\"url\":\"https://x.test/a\"") != NULL);
    answer("elicitation/create", "{\"result\":{\"action\":\"accept\"}}");
    REQUIRE(bench_question(&b, task, "sampling/createMessage", 10000) != NULL);
    CHECK(strstr(bench_params(), "\"maxTokens\":7") != NULL);
    answer("sampling/createMessage",
           "{\"result\":{\"role\":\"assistant\",\"model\":\"m\",\"content\":{\"type\":\"text\","
           "\"text\":\"hi\"}}}");
    end("{}\\n0\\nhi\\n");
}

TEST(two_that_ask_at_once_are_each_given_their_own_answer)
{
    begin("{ a=$($E ask --message A --field a:string); echo \"A $a\"; } & { b=$($E ask --message B "
          "--field b:string); echo \"B $b\"; } & wait",
          FORM_CAPS);
    for (int i = 0; i < 2; i++) {
        REQUIRE(bench_question(&b, task, "elicitation/create", 10000) != NULL);
        if (strstr(bench_params(), "\"message\":\"A\"") != NULL)
            answer("elicitation/create",
                   "{\"result\":{\"action\":\"accept\",\"content\":{\"a\":\"1\"}}}");
        else
            answer("elicitation/create",
                   "{\"result\":{\"action\":\"accept\",\"content\":{\"b\":\"2\"}}}");
    }
    {
        struct bench_task t;

        CHECK(bench_ended(&b, task, 10000, &t));
        CHECK(strstr(t.outcome, "A {\\\"a\\\":\\\"1\\\"}") != NULL);
    }
    end("B {\\\"b\\\":\\\"2\\\"}");
}

TEST(a_client_that_cannot_be_asked_is_said)
{
    begin("$E ask --message A --field a:string 2>&1; echo $?; $E sample x 2>&1; echo $?", "{}");
    end("errand: this client cannot be asked (no elicitation)\\n1\\nerrand: this client has no "
        "model "
        "to ask (no sampling)\\n1\\n");
}

TEST(outside_a_job_it_says_so)
{
    static const char *const rows[][4] = {{"progress", "1", NULL},
                                          {"log", "info", "x", NULL},
                                          {"sample", "x", NULL},
                                          {"ask", "--message=m", "--field=a:string", NULL}};
    struct prog p;

    for (int i = 0; i < 4; i++) {
        const char *const words[] = {"errand", rows[i][0], rows[i][1], rows[i][2], NULL};

        prog_start(&p, words, NULL, NULL);
        CHECK(prog_end(&p, 10000) && p.status == 1);
        CHECK(strstr(p.err, "there is no job here") != NULL);
        prog_fini(&p);
    }
}
