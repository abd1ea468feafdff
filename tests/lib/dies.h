/* dies.h - does this end the process? Broken invariants must. */
#pragma once

#include <stdbool.h>

/* Runs fn in a child with its stderr closed; says whether it ended by abort(). */
bool dies(void (*fn)(void *arg), void *arg);
