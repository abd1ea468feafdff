/* tools.h - the tools a broker lists. */
#pragma once

#include "deploy/cli/conf.h"
#include "deploy/cli/mcp.h"

/* Walks a paged list: each item of the member `items` of every page of `method`. Stops when fn
 * says false. Returns the exit status; what goes wrong has been said. */
typedef bool tools_item_fn(void *arg, struct span item);
int tools_walk(struct mcp *m, const struct conf *c, const char *method, const char *items,
               tools_item_fn *fn, void *arg);

enum tool_support { TOOL_NO_TASKS, TOOL_MAY_TASK, TOOL_ONLY_TASKS };
enum tool_support tools_support(struct span tool);
/* EXIT_FAILED and said so when there is no tool of that name. */
int tools_look_up(struct mcp *m, const struct conf *c, const char *name,
                  enum tool_support *support);
