/* early.h - cancellations that come before their jobs: what tells of them is another link than the
 * one that the answer to a claim comes on.
 *
 * A task that was cancelled never runs again, so remembering one too many does no harm. */
#pragma once

#include "common/span.h"

#include <stdbool.h>

struct event_base;
struct early;

/* Is there a job of that task that can be stopped? Then it is stopped, and true. An attempt that is
 * over, or about to be, is none: the next one may be on its way. */
typedef bool early_fn(void *arg, struct span task);

struct early *early_new(struct event_base *base, early_fn *fn, void *arg);
void early_free(struct early *e);

/* A task is cancelled: its job is stopped now, or remembered when there is none. */
void early_cancelled(struct early *e, struct span task);
/* There is a new job: fn is called soon, on a later turn of the loop. */
void early_taken(struct early *e);
