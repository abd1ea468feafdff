/* boot.h - from the command line to the exit code: what errand-worker and every program with
 * handlers of its own have in common. */
#pragma once

#include "worker/errand_worker.h"

/* tools NULL: those of the files of --tools. */
int worker_boot(int argc, char **argv, const struct errand_tool *tools, size_t count);
