/* command.h - the runner of commands: one child a job.
 *
 * The arguments go to its standard input and, by name, into its words; its standard output is the
 * result, as the tool's "output" says; an exit status other than 0, a signal, and output that is
 * not what it should be are results with isError. Only a child that could not be started, or was
 * lost with its keeper, has failed in passing.
 */
#pragma once

#include "worker/child.h"
#include "worker/run.h"

/* set is there as long as jobs are started or stopped; freed first, it takes their children along.
 */
struct runner *command_new(struct children *set, const struct run_sink *sink);
