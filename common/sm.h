/* sm.h - a declared state machine: a table of states and the moves allowed from each.
 *
 * An undeclared move is a bug and ends the process; trace it in the caller when it matters
 */
#pragma once

#include <stdint.h>

struct sm_row {
    const char *name;
    uint32_t to; /* SM_TO(A) | SM_TO(B) */
};

#define SM_TO(state) (1U << (state))

struct sm {
    const struct sm_row *rows;
    const char *what; /* for the trace: "link", "slot" */
    unsigned state;
};

void sm_init(struct sm *m, const char *what, const struct sm_row *rows, unsigned first);
void sm_move(struct sm *m, unsigned to);
