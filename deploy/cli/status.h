/* status.h - how a task goes, on standard error: one line with a bar that changes on a terminal,
 * else one line for each change. */
#pragma once

#include "common/span.h"

#include <stdbool.h>
#include <stdint.h>

struct status {
    const char *what; /* the tool or the task; outlives it */
    uint64_t begun_ms; /* by the monotonic clock */
    bool quiet;
    bool terminal;
    bool held;
    bool shown; /* something stands on the line */
    char state[32];
    char message[400]; /* cleaned */
    char progress[80]; /* "3/10" */
    int permille; /* of the bar; -1: there is none */
    char last[600];
};

void status_init(struct status *s, const char *what, bool quiet);
/* state: "working"; message: a JSON string, or absent. */
void status_show(struct status *s, const char *state, struct span message);
/* JSON numbers, total may be absent; message as above, and kept when it is absent. */
void status_progress(struct status *s, struct span done, struct span total, struct span message);
/* A line that stays; the status goes on below it. */
void status_line(struct status *s, const char *text);
/* While it is held the line belongs to somebody else. */
void status_hold(struct status *s, bool held);
void status_end(struct status *s); /* clears the line */
