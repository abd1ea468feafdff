/* task.h - what a task is: its canonical states, its outcome, and the record as read.
 *
 * The store keeps the outcome; each dialect derives its own status word when it is read.
 */
#pragma once

#include "common/span.h"

#include <stdbool.h>
#include <stdint.h>

enum task_state {
#define X(name, letter, terminal, l_word, to) TASK_##name,
#include "common/task.def"
#undef X
    TASK_STATE_COUNT
};

enum task_priority { TASK_HIGH, TASK_NORMAL, TASK_LOW, TASK_IDLE, TASK_PRIORITY_COUNT };

struct task {
    struct span id;
    enum task_state state;
    bool is_error; /* RESULT only: the CallToolResult had isError: true */
    bool hidden; /* a plain call: the same job, never named to the client */
    char dialect; /* of the creator: 'L' or 'M' */
    uint64_t created_ms;
    uint64_t updated_ms;
    uint64_t expires_ms;
    uint64_t poll_ms; /* 0: none */
    uint64_t version; /* grows with every change */
    uint64_t seq; /* order of creation in its partition */
    struct span message; /* statusMessage; may be empty */
    struct span progress; /* raw JSON or empty */
    struct span tool;
    struct span session; /* empty: none */
    struct span outcome; /* terminal: raw result or raw error object; {NULL, 0}: not sent along */
};

const char *task_state_name(enum task_state s);
bool task_is_terminal(enum task_state s);
bool task_may_move(enum task_state from, enum task_state to);
bool task_state_of(char letter, enum task_state *out);
char task_letter(enum task_state s);
/* The word of the 2025-11-25 dialect. iserror_fails: RESULT with isError is "failed" (T-89). */
const char *task_l_status(const struct task *t, bool iserror_fails);
bool task_priority_of(const char *name, enum task_priority *out); /* high normal low idle */
const char *task_priority_name(enum task_priority p);
