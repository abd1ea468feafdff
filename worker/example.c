/* errand-example: two tools served by functions of this program. It takes the options of
 * errand-worker but --tools. */
#include "worker/errand_worker.h"

#include <stdio.h>

static const char echo_tool[] =
    "{\"name\":\"echo\",\"title\":\"Echo\",\"description\":\"Answers with the text it is given.\","
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},"
    "\"required\":[\"text\"]},\"taskSupport\":\"optional\"}";

static const char sleep_tool[] =
    "{\"name\":\"sleep\",\"title\":\"Sleep\",\"description\":\"Waits and tells how far it is.\","
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"ms\":{\"type\":\"integer\","
    "\"minimum\":0,\"maximum\":86400000}},\"required\":[\"ms\"]},\"taskSupport\":\"optional\"}";

static void on_echo(struct errand_job *job, void *arg)
{
    const char *text = errand_argument_text(job, "text");

    (void)arg;
    if (text == NULL)
        errand_error(job, "\"text\" must be a string without U+0000");
    else
        errand_result_text(job, text);
}

/* Waits in parts, so that it can tell how far it is; each part ends at once on a cancellation. */
static void on_sleep(struct errand_job *job, void *arg)
{
    const int64_t part = 250;
    int64_t ms;
    char text[64];

    (void)arg;
    if (!errand_argument_int(job, "ms", &ms) || ms < 0) {
        errand_error(job, "\"ms\" must be a whole number of milliseconds");
        return;
    }
    for (int64_t slept = 0; slept < ms; slept += part) {
        if (errand_wait(job, (uint64_t)(ms - slept < part ? ms - slept : part)))
            return; /* nobody waits for a result any more */
        if (slept + part >= ms)
            break;
        (void)snprintf(text, sizeof(text), "slept %lld of %lld ms", (long long)slept + part,
                       (long long)ms);
        errand_progress(job, (double)(slept + part), (double)ms, text);
    }
    (void)snprintf(text, sizeof(text), "slept for %lld ms", (long long)ms);
    errand_result_text(job, text);
}

int main(int argc, char **argv)
{
    static const struct errand_tool tools[] = {
        {echo_tool, on_echo, NULL},
        {sleep_tool, on_sleep, NULL},
    };

    return errand_worker_main(argc, argv, tools, sizeof(tools) / sizeof(tools[0]));
}
