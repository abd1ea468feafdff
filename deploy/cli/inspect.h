/* inspect.h - errand tools check: a tools.json read as a worker reads it, and one of its tools run
 * here. Neither a broker nor Redis is asked. */
#pragma once

#include "deploy/cli/conf.h"

/* Prints what the file declares, or what is wrong with it: EXIT_OK or EXIT_FAILED. */
int inspect_file(const struct conf *c, const char *path);
/* Runs one tool once and prints what it brought. arguments: see arguments.h. */
int inspect_run(const struct conf *c, const char *path, const char *tool, const char *arguments);
