/* mcp.h - the runner of what wrapped servers offer: a job is a call.
 *
 * The server's result, or its JSON-RPC error, is the outcome as it came. A connection that is lost
 * during the call, or is not there, is a failure in passing.
 */
#pragma once

#include "worker/run.h"
#include "worker/upstream/servers.h"

/* servers is there as long as jobs are started or stopped; freed first, it forgets their calls. */
struct runner *mcp_runner_new(struct servers *servers, const struct run_sink *sink);
