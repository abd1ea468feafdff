/* One question each, in the shapes that forms and samplings can have. */
#include "tests/interop/conformance/kit.h"

#include <stdio.h>
#include <stdlib.h>

#define FORM(properties, required) \
    "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "]}"
#define TITLED(word, value, title) "{\"const\":\"" value "\",\"title\":\"" title "\"}" word
#define TITLES \
    TITLED(",", "value1", "First Option") \
    TITLED(",", "value2", "Second Option") TITLED("", "value3", "Third Option")
#define OPTIONS "[\"option1\",\"option2\",\"option3\"]"

static char user[] = FORM("\"username\":{\"type\":\"string\",\"description\":\"User's response\"},"
                          "\"email\":{\"type\":\"string\",\"description\":\"User's email "
                          "address\"}",
                          "\"username\",\"email\"");
static char defaults[] =
    FORM("\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
         "\"age\":{\"type\":\"integer\",\"default\":30},"
         "\"score\":{\"type\":\"number\",\"default\":95.5},"
         "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],"
         "\"default\":\"active\"},"
         "\"verified\":{\"type\":\"boolean\",\"default\":true}",
         "");
static char enums[] =
    FORM("\"untitledSingle\":{\"type\":\"string\",\"enum\":" OPTIONS "},"
         "\"titledSingle\":{\"type\":\"string\",\"oneOf\":[" TITLES "]},"
         "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"
         "\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
         "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
         "\"enum\":" OPTIONS "}},"
         "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":[" TITLES "]}}",
         "");
static char yes_or_no[] = FORM("\"ok\":{\"type\":\"boolean\"}", "");

/* arg: the form. */
static void on_form(struct errand_job *job, void *arg)
{
    static const char *const actions[] = {
        [ERRAND_ACCEPTED] = "accept", [ERRAND_DECLINED] = "decline", [ERRAND_DISMISSED] = "cancel"};
    const char *message = errand_argument_text(job, "message");
    const char *answer;
    enum errand_said said;

    said = errand_ask(job, message != NULL ? message : "Please fill in this form", arg, &answer);
    if (said == ERRAND_FAILED)
        errand_error(job, answer);
    else if (said != ERRAND_STOPPED)
        say(job, "User response: {\"action\":\"%s\",\"content\":%s}", actions[said], answer);
}

static void on_sampling(struct errand_job *job, void *arg)
{
    const char *prompt = errand_argument_text(job, "prompt");
    const char *answer;
    char *text;

    (void)arg;
    if (errand_sample(job, prompt != NULL ? prompt : "test", 100, &answer) != ERRAND_ACCEPTED) {
        errand_error(job, answer);
        return;
    }
    text = sampled(answer);
    say(job, "LLM response: %s", text);
    free(text);
}

/* As the example server of the official SDK asks it. */
static void on_haiku(struct errand_job *job, void *arg)
{
    const char *topic = errand_argument_text(job, "topic");
    const char *answer;
    char prompt[256];
    char *text;

    (void)arg;
    if (errand_wait(job, 300))
        return;
    (void)snprintf(prompt, sizeof(prompt), "Write a haiku about %s", topic != NULL ? topic : "it");
    if (errand_sample(job, prompt, 50, &answer) != ERRAND_ACCEPTED) {
        errand_error(job, answer);
        return;
    }
    text = sampled(answer);
    say(job, "Haiku:\n%s", text);
    free(text);
}

#define ONE_TEXT(name) \
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"" name \
    "\":{\"type\":\"string\"}},\"required\":[\"" name "\"]}"

static const struct errand_tool tools[] = {
    {DECLARE("test_sampling", "Asks the client's model.", ONE_TEXT("prompt")), on_sampling, NULL},
    {DECLARE("test_elicitation", "Asks the person.", ONE_TEXT("message")), on_form, user},
    {DECLARE("test_elicitation_sep1034_defaults", "Asks by a form with defaults.", NO_ARGUMENTS),
     on_form, defaults},
    {DECLARE("test_elicitation_sep1330_enums", "Asks by a form with choices.", NO_ARGUMENTS),
     on_form, enums},
    {DECLARE("test_streaming_elicitation", "Asks while its answer is a stream.", NO_ARGUMENTS),
     on_form, yes_or_no},
    {DECLARE("write_haiku", "Has the client's model write a haiku.",
             ONE_TEXT("topic") ",\"pollInterval\":\"200ms\""),
     on_haiku, NULL},
};

const struct tool_list asking_tools = {tools, COUNT_OF(tools)};
