/* The tools of the suite's scenarios for tasks. Those that become one by themselves do so well
 * before they say anything: their calls are promoted after 50 ms. */
#include "tests/interop/conformance/kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMOTED_MS = 500 };

#define OPTIONAL \
    ",\"taskSupport\":\"optional\",\"promoteAfter\":\"50ms\",\"pollInterval\":\"200ms\""
#define REQUIRED ",\"taskSupport\":\"required\",\"pollInterval\":\"200ms\""
#define STRING(name) "\"" name "\":{\"type\":\"string\"}"
#define OBJECT(properties) "\"inputSchema\":{\"type\":\"object\",\"properties\":{" properties "}}"
#define ASK(message, property) \
    "{\"mode\":\"form\",\"message\":\"" message \
    "\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{" property "}}}"

static const char elicit[] = "elicitation/create";

static void on_greet(struct errand_job *job, void *arg)
{
    const char *name = errand_argument_text(job, "name");

    (void)arg;
    say(job, "Hello, %s!", name != NULL ? name : "");
}

static void on_compute(struct errand_job *job, void *arg)
{
    const char *label = errand_argument_text(job, "label");
    double seconds = 0;

    (void)arg;
    (void)errand_argument_number(job, "seconds", &seconds);
    if (!errand_wait(job, seconds > 0 ? (uint64_t)(seconds * 1000) : 0))
        say(job, "computed %s", label != NULL ? label : "");
}

static void on_failure(struct errand_job *job, void *arg)
{
    (void)arg;
    if (!errand_wait(job, 1000))
        errand_error(job, "This job always fails");
}

static void on_protocol_error(struct errand_job *job, void *arg)
{
    (void)arg;
    if (!errand_wait(job, PROMOTED_MS))
        errand_rpc_error(job, -32603, "This job ends as an error of the protocol", NULL);
}

static void on_delete(struct errand_job *job, void *arg)
{
    const char *file = errand_argument_text(job, "filename");
    char message[256];
    const char *answer;
    enum errand_said said;

    (void)arg;
    if (errand_wait(job, PROMOTED_MS))
        return;
    (void)snprintf(message, sizeof(message), "Are you sure you want to delete '%s'?",
                   file != NULL ? file : "");
    said = errand_ask(job, message,
                      "{\"type\":\"object\",\"properties\":{\"confirm\":{\"type\":\"boolean\"}},"
                      "\"required\":[\"confirm\"]}",
                      &answer);
    if (said == ERRAND_FAILED)
        errand_error(job, answer);
    else if (said == ERRAND_ACCEPTED && strstr(answer, "true") != NULL)
        say(job, "Deleted %s", file != NULL ? file : "");
    else
        errand_result_text(job, "Deletion cancelled");
}

static void on_two(struct errand_job *job, void *arg)
{
    struct errand_question q[] = {
        {.name = "first", .method = elicit, .params = ASK("First?", STRING("value"))},
        {.name = "second", .method = elicit, .params = ASK("Second?", STRING("value"))},
    };

    (void)arg;
    if (errand_wait(job, PROMOTED_MS))
        return;
    errand_ask_all(job, q, COUNT_OF(q));
    if (!errand_cancelled(job))
        say(job, "Got [%s,%s]", q[0].answer, q[1].answer);
}

/* Asks first, in a round, and is a task from then on. */
static void on_name_then_task(struct errand_job *job, void *arg)
{
    const char *answer =
        ask_named(job, "user_name", elicit, ASK("What is your name?", STRING("name")));
    char *name;

    (void)arg;
    if (answer == NULL)
        return;
    name = member(answer, "name");
    if (!errand_wait(job, PROMOTED_MS))
        say(job, "Hello, %s!", name);
    free(name);
}

static const struct errand_tool tools[] = {
    {DECLARE("greet", "Greets at once.",
             "\"inputSchema\":{\"type\":\"object\",\"properties\":{" STRING(
                 "name") "},\"required\":[\"name\"]},\"taskSupport\":\"forbidden\""),
     on_greet, NULL},
    {DECLARE("slow_compute", "Takes so many seconds.",
             OBJECT("\"seconds\":{\"type\":\"number\"}," STRING("label")) OPTIONAL),
     on_compute, NULL},
    {DECLARE("failing_job", "Fails after a second.", NO_ARGUMENTS REQUIRED), on_failure, NULL},
    {DECLARE("protocol_error_job", "Ends as an error of the protocol.", NO_ARGUMENTS OPTIONAL),
     on_protocol_error, NULL},
    {DECLARE("confirm_delete", "Asks before it deletes nothing.",
             OBJECT(STRING("filename")) OPTIONAL),
     on_delete, NULL},
    {DECLARE("multi_input", "Asks two things at once.", NO_ARGUMENTS OPTIONAL), on_two, NULL},
    {DECLARE("test_tool_with_task", "Asks, then takes its time.",
             NO_ARGUMENTS ",\"taskSupport\":\"required\",\"pollInterval\":\"200ms\","
                          "\"promoteAfter\":\"3s\""),
     on_name_then_task, NULL},
};

const struct tool_list task_tools = {tools, COUNT_OF(tools)};
