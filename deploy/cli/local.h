/* local.h - one job of one tool, run by this process as a worker would, without Redis.
 *
 * The slot, its deadlines and the runners are the worker's own. What the job tells goes to the
 * person's status, what it asks to the person. There is one attempt: a failure in passing is told
 * as an error that says so. Ctrl-C stops the job, with its grace; a second one kills it.
 */
#pragma once

#include "deploy/cli/conf.h"
#include "deploy/cli/mcp.h"
#include "worker/tools.h"

/* tools are moved away. name is one of them, or of what their MCP servers offer, which are started
 * and waited for then. arguments: a checked object; ones that do not fit are an error result. What
 * the job brought is in reply as if a broker had said it: MCP_RESULT, MCP_ERROR, or MCP_STOPPED. */
enum mcp_end local_run(const struct conf *c, struct tools *tools, const char *name,
                       struct span arguments, struct mcp_reply *reply, struct buf *why);
