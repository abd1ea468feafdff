/* follow.h - waiting for a task: its result as soon as there is one, its status meanwhile. */
#pragma once

#include "deploy/cli/conf.h"
#include "deploy/cli/mcp.h"
#include "deploy/cli/person.h"

/* Waits on tasks/result and asks for the status at the task's own interval, over any number of
 * broker restarts. What its job asks is
 * asked of the person. Prints the result, and returns the exit status. Ctrl-C cancels the task when
 * cancel is true, a second one (or the first) only stops waiting and says the id. */
int follow(struct mcp *m, const struct conf *c, struct person *p, const char *id, bool cancel);

/* Prints what a call brought (JSON as it came, or for people) and returns the exit status. */
int follow_print(const struct conf *c, enum mcp_end end, const struct mcp_reply *r,
                 const struct buf *why);
