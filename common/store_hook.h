/* store_hook.h - the work that tasks have begun elsewhere: its callbacks, which wait in the task
 * for the worker that runs it or the next one that does; and what is left of it when a task has
 * ended.
 */
#pragma once

#include "common/store_job.h"

enum { STORE_HOOK_MAX = 256 << 10 }; /* bytes of one callback */

/* A callback has come, with a right token: ERR_OK: it is there for the job, or was already;
 * ERR_TERMINAL: the task has ended; ERR_NOT_FOUND; ERR_LIMIT: too much waits already. */
typedef void store_hook_fn(void *arg, enum err e);
void store_hook(struct store *s, struct span id, unsigned partition, struct span body,
                store_hook_fn *fn, void *arg);

/* What waits for a job: see store_hook_next(). at: how many bytes of callbacks its task has
 * forgotten so far; forget: how many it should have, those that have decided nothing. */
typedef void store_heard_fn(void *arg, enum err e, enum store_verdict v, struct span calls,
                            uint64_t at);
void store_heard(struct store *s, const struct store_held *h, uint64_t forget, store_heard_fn *fn,
                 void *arg);
/* Takes the first callback off the calls; false at the end. */
bool store_hook_next(struct span *calls, struct span *body);

/* Work elsewhere whose task ended while no worker was there to stop it. */
struct store_left {
    struct span tool;
    struct span line; /* names it: the task's id, a blank, the handle */
};
/* What is left of these tools in one partition, some of it; done is forgotten first. Borrowed. */
typedef void store_left_fn(void *arg, enum err e, const struct store_left *left, size_t count);
void store_abandoned(struct store *s, unsigned partition, const struct span *tools,
                     size_t tool_count, const struct store_left *done, size_t done_count,
                     store_left_fn *fn, void *arg);
