/* facade.h - plain tools for clients that have no tasks (--facade): task_status, task_wait,
 * task_cancel. They see and touch what the same principal would by the tasks methods, and for them
 * a tool that runs only as a task answers with the task's handle as text.
 */
#pragma once

#include "broker/method/call.h"
#include "broker/req.h"

/* The option is on, and this request's client declares no tasks. */
bool facade_applies(const struct req *q);
/* A tool of that name is not to be had where the facade applies: its own is called. */
bool facade_has(const char *name);
/* Appends the tools to a list of which `count` are there already. */
void facade_list(const struct req *q, struct buf *out, size_t count);
/* true: it was a call of one of them, and is taken care of. */
bool facade_call(struct req *q, const struct call *c);
/* The handle of a fresh task, as a tool result in text. */
void facade_handle(struct req *q, const struct task *t);
