/* say.h - what a job says of itself in MCP's words -> the sink. What is not as MCP wants it is
 * dropped. */
#pragma once

#include "worker/run.h"

/* Of notifications/progress. */
void say_progress(const struct run_sink *sink, struct run_job *job, struct span params);
/* Of notifications/message. */
void say_log(const struct run_sink *sink, struct run_job *job, struct span params);
