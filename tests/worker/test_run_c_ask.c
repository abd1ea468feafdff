/* What handlers ask, and what they are told: worker/run/c_ask.c and c_tell.c. */
#include "tests/lib/proc.h"
#include "tests/lib/test.h"
#include "worker/run/c.h"

#include <event2/event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct event_base *base;
static struct runner *runner;
static unsigned ends;
static char last[4096];
static pthread_t loop_thread;

static void on_ended(struct run_job *job, const struct run_end *end)
{
    ends++;
    (void)snprintf(last, sizeof(last), "%s", end->result);
    free(end->result);
    job->own = NULL;
}

static char last_logged[256];
static char last_asked[1024];
static const char *answer; /* what every question is answered with, at once; NULL: nothing */

static void on_logged(struct run_job *job, struct span level, struct span logger, struct span data)
{
    (void)job;
    (void)logger;
    (void)snprintf(last_logged, sizeof(last_logged), "%.*s %.*s", (int)level.n, level.p,
                   (int)data.n, data.p);
}

static void on_asked(struct run_job *job, struct span id, struct span method, struct span params)
{
    CHECK(pthread_equal(pthread_self(), loop_thread));
    (void)snprintf(last_asked, sizeof(last_asked), "%.*s %.*s", (int)method.n, method.p,
                   (int)params.n, params.p);
    if (answer != NULL)
        runner->answered(runner, job, id, span_of(answer));
}

static const struct run_sink sink = {.ended = on_ended, .logged = on_logged, .asked = on_asked};

static struct run_job make(const struct tool *tool)
{
    return (struct run_job){.tool = tool,
                            .id = "the-id",
                            .attempt = 1,
                            .arguments = SPAN("{}"),
                            .principal = "",
                            .trace = ""};
}

static void begin(const struct run_sink *with)
{
    ends = 0;
    loop_thread = pthread_self();
    base = event_base_new();
    runner = c_new(base, with, 1);
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

static bool wait_ends(unsigned n)
{
    return turn_until(base, 10000, have_ended, &n);
}

static const char *const words[] = {"accepted", "declined", "dismissed", "failed", "stopped"};

static void tell_said(struct errand_job *job, enum errand_said said, const char *text)
{
    char line[512];

    (void)snprintf(line, sizeof(line), "%s %s", words[said], text);
    errand_result_text(job, line);
}

static void on_question(struct errand_job *job, void *arg)
{
    const char *kind = arg;
    const char *text;
    enum errand_said said;

    errand_log(job, "notice", "a \"b\"");
    if (strcmp(kind, "form") == 0)
        said = errand_ask(job, "How many?", "{\n  \"type\": \"object\" }", &text);
    else if (strcmp(kind, "url") == 0)
        said = errand_ask_url(job, "Open", "https://x.test", &text);
    else if (strcmp(kind, "sample") == 0)
        said = errand_sample(job, "Say hi", 100, &text);
    else if (strcmp(kind, "bad") == 0)
        said = errand_ask(job, "How many?", "{", &text);
    else
        said = errand_roots(job, &text);
    tell_said(job, said, text);
}

static void ask(const char *kind, const char *with)
{
    const struct errand_tool t = {NULL, on_question, (void *)(uintptr_t)kind};
    const struct tool tool = {.handler = &t};
    struct run_job job = make(&tool);

    answer = with;
    last_asked[0] = last_logged[0] = '\0';
    begin(&sink);
    runner->start(runner, &job);
    CHECK(wait_ends(1));
    finish();
    CHECK(strcmp(last_logged, "notice \"a \\\"b\\\"\"") == 0);
}

TEST(E_05_a_handler_is_told_what_was_said)
{
    ask("form", "{\"result\":{\"action\":\"accept\",\"content\":{\"n\":1}}}");
    CHECK(strstr(last, "accepted {\\\"n\\\":1}") != NULL);
    CHECK(strcmp(last_asked, "elicitation/create {\"message\":\"How many?\","
                             "\"requestedSchema\":{\"type\":\"object\"}}") == 0);
    ask("form", "{\"result\":{\"action\":\"decline\"}}");
    CHECK(strstr(last, "declined {}") != NULL);
    ask("form", "{\"result\":{\"action\":\"cancel\"}}");
    CHECK(strstr(last, "dismissed {}") != NULL);
    ask("form", "{\"error\":{\"code\":-1,\"message\":\"x\"}}");
    CHECK(strstr(last, "failed {\\\"code\\\":-1") != NULL);
    ask("bad", NULL);
    CHECK(strstr(last, "failed {\\\"code\\\":-32602") != NULL && last_asked[0] == '\0');
}

TEST(a_handler_can_ask_for_an_address_a_model_and_the_roots)
{
    ask("url", "{\"result\":{\"action\":\"accept\"}}");
    CHECK(strstr(last, "accepted {}") != NULL);
    CHECK(strstr(last_asked, "\"mode\":\"url\"") != NULL);
    CHECK(strstr(last_asked, "\"elicitationId\":\"the-id-1\"") != NULL);
    ask("sample", "{\"result\":{\"role\":\"assistant\",\"model\":\"m\",\"content\":{}}}");
    CHECK(strstr(last, "accepted {\\\"role\\\"") != NULL);
    CHECK(strstr(last_asked, "\"maxTokens\":100") != NULL);
    ask("roots", "{\"result\":{\"roots\":[]}}");
    CHECK(strstr(last, "accepted {\\\"roots\\\":[]}") != NULL);
}

static bool has_asked(void *arg)
{
    (void)arg;
    return last_asked[0] != '\0';
}

TEST(a_handler_that_waits_for_an_answer_wakes_when_it_is_to_stop_and_others_run_meanwhile)
{
    const struct errand_tool t = {NULL, on_question, (void *)(uintptr_t) "form"};
    const struct tool tool = {.handler = &t};
    struct run_job jobs[2] = {make(&tool), make(&tool)};
    unsigned two = 2;
    unsigned one = 1;

    answer = NULL;
    last_asked[0] = '\0';
    begin(&sink);
    runner->start(runner, &jobs[0]);
    CHECK(turn_until(base, 10000, has_asked, NULL));
    answer = "{\"result\":{\"action\":\"decline\"}}";
    runner->start(runner, &jobs[1]); /* on another thread */
    CHECK(turn_until(base, 10000, have_ended, &one));
    CHECK(strstr(last, "declined") != NULL);
    runner->stop(runner, &jobs[0], 0);
    CHECK(turn_until(base, 10000, have_ended, &two));
    CHECK(strstr(last, "stopped") != NULL);
    finish();
}

/* --- several at once --- */

static struct run_job *asking; /* the job that asked, and the ids that it asked by, in order */
static char ids[8][32];
static unsigned id_count;

static void on_asked_together(struct run_job *job, struct span id, struct span method,
                              struct span params)
{
    (void)method;
    (void)params;
    asking = job;
    (void)snprintf(ids[id_count++ % 8], sizeof(ids[0]), "%.*s", (int)id.n, id.p);
}

static const struct run_sink together = {
    .ended = on_ended, .logged = on_logged, .asked = on_asked_together};

static void on_questions(struct errand_job *job, void *arg)
{
    struct errand_question all[] = {
        {.name = "first", .method = "elicitation/create", .params = "{\"message\": \"a\"}"},
        {.method = "roots/list"},
        {.name = "no name", .method = "roots/list"},
        {.name = "first", .method = "roots/list"},
        {.method = "roots/list", .params = "{"},
    };
    char line[1024];
    int n = 0;

    (void)arg;
    errand_ask_all(job, all, sizeof(all) / sizeof(all[0]));
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        n += snprintf(line + n, sizeof(line) - (size_t)n, "%s %s;", words[all[i].said],
                      all[i].answer);
    errand_result_text(job, line);
}

static const struct errand_tool asker = {"", on_questions, NULL};
static const struct tool asks_several = {.handler = &asker};

static bool have_been_asked(void *arg)
{
    return id_count >= *(const unsigned *)arg;
}

static void begin_several(struct run_job *job)
{
    unsigned two = 2;

    id_count = 0;
    begin(&together);
    runner->start(runner, job);
    CHECK(turn_until(base, 10000, have_been_asked, &two));
    CHECK(strcmp(ids[0], "\"first\"") == 0 && strcmp(ids[1], "1") == 0);
}

static void reply(const char *id, const char *with)
{
    runner->answered(runner, asking, span_of(id), span_of(with));
}

TEST(questions_asked_together_are_open_together_and_answered_in_any_order)
{
    struct run_job job = make(&asks_several);

    begin_several(&job);
    reply("1", "{\"result\":{\"roots\":[]}}");
    reply("1", "{\"result\":{\"roots\":[1]}}"); /* it is answered already */
    reply("2", "{\"result\":{}}"); /* nobody has asked that */
    turn_for(base, 50);
    CHECK(ends == 0);
    reply("\"first\"", "{\"result\":{\"action\":\"accept\",\"content\":{\"n\":1}}}");
    CHECK(wait_ends(1));
    CHECK(id_count == 2);
    CHECK(strstr(last, "accepted {\\\"n\\\":1};accepted {\\\"roots\\\":[]};failed") != NULL);
    CHECK(strstr(last, "must be 1 to 20 of") != NULL);
    CHECK(strstr(last, "asked together with this one has its name") != NULL);
    CHECK(strstr(last, "the params are no JSON") != NULL);
    finish();
}

TEST(a_stop_ends_the_wait_for_those_questions_that_are_open_and_keeps_the_answers_there_are)
{
    struct run_job job = make(&asks_several);

    begin_several(&job);
    reply("1", "{\"result\":{\"roots\":[]}}");
    runner->stop(runner, &job, 0);
    reply("\"first\"", "{\"result\":{\"action\":\"decline\"}}"); /* too late, or just in time */
    CHECK(wait_ends(1));
    CHECK(strstr(last, ";accepted {\\\"roots\\\":[]};failed") != NULL);
    finish();
}
