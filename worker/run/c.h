/* c.h - the runner of handlers: each job on one of some threads; there are more of them, up to
 * RUN_WAITING_FACTOR times as many, when handlers wait for answers.
 *
 * Threads and loop meet in two queues under one lock; the loop is woken by one eventfd, which is
 * written only when there was nothing to be seen before.
 */
#pragma once

#include "worker/errand_worker.h"
#include "worker/run.h"

struct event_base;

/* tool->handler of every job is a const struct errand_tool. */
struct runner *c_new(struct event_base *base, const struct run_sink *sink, unsigned threads);
/* Does a handler still run? Then the runner cannot be freed. */
bool c_is_busy(const struct runner *r);
