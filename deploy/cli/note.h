/* note.h - what a job tells while it runs, shown on standard error. */
#pragma once

#include "common/span.h"
#include "deploy/cli/status.h"

/* Progress changes the status; log lines, and the news that what was to be done at an address is
 * done, get a line of their own. True: it was one of the latter. */
bool note_show(struct status *s, struct span method, struct span params);
