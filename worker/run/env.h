/* env.h - the environment of a child: what every child gets, what its declaration lets through or
 * sets, and what tells it of its job. */
#pragma once

#include "common/buf.h"
#include "worker/run.h"
#include "worker/tool_server.h"

struct env {
    char **items; /* owned, NULL-terminated */
    size_t n;
};

void env_init(struct env *e); /* PATH, HOME and LANG as the worker has them */
void env_fini(struct env *e); /* wiped */
/* In place of what there was of that name. What tells of the job is nobody's to set. */
void env_set(struct env *e, const char *name, const char *value);
/* As the worker has it, if it has it. */
void env_pass(struct env *e, const char *name);
/* ERRAND_TASK_ID, ERRAND_ATTEMPT, ERRAND_PRINCIPAL, TRACEPARENT; fd: ERRAND_FD, 0: none. */
void env_job(struct env *e, const struct run_job *job, int fd);
/* Of a child that serves MCP; job may be NULL. False, and one sentence in why, when a variable that
 * "env" refers to is not set; e is initialised all the same. */
bool env_of_server(struct env *e, const struct tool_server *s, const struct run_job *job,
                   struct buf *why);
