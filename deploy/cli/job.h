/* job.h - the line from a command to the worker that runs it: ERRAND_FD, a socket that carries one
 * JSON-RPC message a line (docs/tools.md).
 *
 * The processes of one job share the line. A lock keeps their lines whole, and lets only one at a
 * time ask and read what it is answered.
 */
#pragma once

#include "common/buf.h"

#include <stdbool.h>

/* The descriptor; -1, and said so, when this is no job or its line is closed. */
int job_open(void);
/* Writes params of a notification. EXIT_OK, or it has been said what failed. */
int job_tell(const char *method, struct span params);
/* Asks, and waits. EXIT_OK: *answer is the response's result or error, raw, within text, which is
 * the caller's to free. */
struct job_answer {
    struct buf text;
    struct span result;
    struct span error;
};
int job_ask(const char *method, struct span params, struct job_answer *answer);
/* An error in answer, said on standard error; EXIT_FAILED. */
int job_failed(const struct job_answer *answer);
