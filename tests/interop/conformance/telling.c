/* What is told while a tool runs: progress, log lines, a result that takes its time. */
#include "tests/interop/conformance/kit.h"

static void on_progress(struct errand_job *job, void *arg)
{
    (void)arg;
    for (int done = 0; done <= 100; done += 50) {
        errand_progress(job, done, 100, NULL);
        if (errand_wait(job, 150)) /* apart: what comes too fast is folded into one */
            return;
    }
    errand_result_text(job, "done");
}

static void on_logging(struct errand_job *job, void *arg)
{
    static const char *const lines[] = {"Tool execution started", "Tool processing data",
                                        "Tool execution completed"};

    (void)arg;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        errand_log(job, "info", lines[i]);
        if (errand_wait(job, 50))
            return;
    }
    errand_result_text(job, "logged");
}

/* Longer than a connection that is closed meanwhile. */
static void on_reconnection(struct errand_job *job, void *arg)
{
    (void)arg;
    if (!errand_wait(job, 1500))
        errand_result_text(job, "Reconnection test completed successfully.");
}

static const struct errand_tool tools[] = {
    {DECLARE("test_tool_with_progress", "Tells how far it is.", NO_ARGUMENTS), on_progress, NULL},
    {DECLARE("test_tool_with_logging", "Writes to the client's log.", NO_ARGUMENTS), on_logging,
     NULL},
    {DECLARE("test_logging_tool", "Writes to a log that nobody asked for.", NO_ARGUMENTS),
     on_logging, NULL},
    {DECLARE("test_reconnection", "Takes longer than one connection.", NO_ARGUMENTS),
     on_reconnection, NULL},
};

const struct tool_list telling_tools = {tools, COUNT_OF(tools)};
