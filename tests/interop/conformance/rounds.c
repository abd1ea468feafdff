/* Questions that a client of the stateless dialect answers in rounds, by their names. */
#include "tests/interop/conformance/kit.h"

#include <stdlib.h>

#define ASK(message, property, type) \
    "{\"mode\":\"form\",\"message\":\"" message \
    "\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"" property \
    "\":{\"type\":\"" type "\"}},\"required\":[\"" property "\"]}}"
#define SAMPLE(prompt) \
    "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"" prompt \
    "\"}}],\"maxTokens\":100}"
#define NAME ASK("What is your name?", "name", "string")
#define CAPITAL SAMPLE("What is the capital of France?")

static const char elicit[] = "elicitation/create";
static const char sample[] = "sampling/createMessage";
static const char roots[] = "roots/list";

static void on_name(struct errand_job *job, void *arg)
{
    const char *answer = ask_named(job, "user_name", elicit, NAME);
    char *name;

    (void)arg;
    if (answer == NULL)
        return;
    name = member(answer, "name");
    say(job, "Hello, %s!", name);
    free(name);
}

static void on_capital(struct errand_job *job, void *arg)
{
    const char *answer = ask_named(job, "capital_question", sample, CAPITAL);
    char *text;

    (void)arg;
    if (answer == NULL)
        return;
    text = sampled(answer);
    say(job, "%s", text);
    free(text);
}

static void on_roots(struct errand_job *job, void *arg)
{
    const char *answer = ask_named(job, "client_roots", roots, NULL);

    (void)arg;
    if (answer != NULL)
        say(job, "%s", answer);
}

static void on_confirm(struct errand_job *job, void *arg)
{
    (void)arg;
    if (ask_named(job, "confirm", elicit, ASK("Please confirm", "ok", "boolean")) != NULL)
        errand_result_text(job, "state-ok");
}

/* All at once: what this client cannot be asked fails, the rest is asked. */
static void on_several(struct errand_job *job, void *arg)
{
    struct errand_question q[] = {
        {.name = "user_name", .method = elicit, .params = NAME},
        {.name = "greeting", .method = sample, .params = SAMPLE("Generate a greeting")},
        {.name = "client_roots", .method = roots},
    };

    (void)arg;
    errand_ask_all(job, q, COUNT_OF(q));
    if (!errand_cancelled(job))
        say(job, "[%s,%s,%s]", q[0].answer, q[1].answer, q[2].answer);
}

static void on_able(struct errand_job *job, void *arg)
{
    struct errand_question q[] = {
        {.name = "user_name", .method = elicit, .params = NAME},
        {.name = "capital_question", .method = sample, .params = CAPITAL},
    };

    (void)arg;
    errand_ask_all(job, q, COUNT_OF(q));
    if (!errand_cancelled(job))
        say(job, "[%s,%s]", q[0].answer, q[1].answer);
}

static void on_steps(struct errand_job *job, void *arg)
{
    const char *answer =
        ask_named(job, "step1", elicit, ASK("Step 1: What is your name?", "name", "string"));
    char *name;
    char *color;

    (void)arg;
    if (answer == NULL)
        return;
    name = member(answer, "name");
    answer = ask_named(job, "step2", elicit,
                       ASK("Step 2: What is your favorite color?", "color", "string"));
    if (answer != NULL) {
        color = member(answer, "color");
        say(job, "%s likes %s", name, color);
        free(color);
    }
    free(name);
}

#define ROUND(name, description, handler) \
    { \
        DECLARE("test_input_required_result_" name, description, NO_ARGUMENTS), handler, NULL \
    }

static const struct errand_tool tools[] = {
    ROUND("elicitation", "Asks the person for a name.", on_name),
    ROUND("sampling", "Asks the model for a capital.", on_capital),
    ROUND("list_roots", "Asks for the client's folders.", on_roots),
    ROUND("request_state", "Asks for a confirmation.", on_confirm),
    ROUND("tampered_state", "Asks for a confirmation.", on_confirm),
    ROUND("multiple_inputs", "Asks three things at once.", on_several),
    ROUND("multi_round", "Asks one thing after the other.", on_steps),
    ROUND("capabilities", "Asks what this client can be asked.", on_able),
};

const struct tool_list round_tools = {tools, COUNT_OF(tools)};
