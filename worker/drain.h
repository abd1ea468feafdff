/* drain.h - ends a worker in good order, within its grace.
 *
 *     WAITING   jobs run on; nothing is claimed; wake-ups are passed on to other workers
 *     STOPPING  what still runs is stopped and handed back, its attempt not charged
 *     LEAVING   the last words: releases of what would not stop, the goodbye to the registry
 *
 * WAITING ends early when nothing is left; STOPPING takes the last quarter of the grace, five
 * seconds at most.
 */
#pragma once

#include "worker/announce.h"
#include "worker/lane.h"
#include "worker/slot.h"

struct drain;
typedef void drain_done_fn(void *arg);

struct drain_conf {
    struct store *store;
    struct slots *slots;
    struct lanes *lanes;
    struct announce *announce;
    const struct store_worker *self;
    uint64_t grace_ms;
    drain_done_fn *on_done;
    void *arg;
};

struct drain *drain_begin(struct event_base *base, const struct drain_conf *conf);
void drain_free(struct drain *d); /* after the store */
