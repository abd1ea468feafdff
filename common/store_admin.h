/* store_admin.h - what operators ask: queues, dead letters. */
#pragma once

#include "common/store.h"

struct store_queue {
    struct span tool;
    uint64_t ready[TASK_PRIORITY_COUNT];
};
struct store_totals {
    uint64_t running, delayed, parked, active, tasks, dead;
    uint64_t ended[TASK_STATE_COUNT]; /* since the installation began */
    uint64_t oldest_ready_ms; /* age of the oldest waiting task; 0 when none waits */
    uint64_t oldest_ms[TASK_PRIORITY_COUNT]; /* the same of each class */
    uint64_t dead_ever, lapsed_ever; /* dead letters made, leases lapsed, since then too */
};
/* Sums over partitions: counts are added up, the oldest is the oldest of all. */
void store_totals_add(struct store_totals *sum, const struct store_totals *t);
typedef void store_queue_fn(void *arg, enum err e, const struct store_totals *totals,
                            const struct store_queue *queues, size_t count);
void store_queue(struct store *s, unsigned partition, store_queue_fn *fn, void *arg);

struct store_dead {
    struct span entry; /* "<partition>-<stream id>": names the letter */
    struct span id; /* of the task */
    struct span tool;
    uint64_t attempts;
    uint64_t at_ms;
    struct span why;
    bool expired; /* the task's TTL has passed: it cannot be requeued */
};
typedef void store_dead_fn(void *arg, enum err e, const struct store_dead *dead, size_t count);
/* Oldest first, up to count, of one partition. */
void store_dead_list(struct store *s, unsigned partition, unsigned count, store_dead_fn *fn,
                     void *arg);
/* A new task with the same owner, tool and params, since a terminal state never changes; the
 * letter is removed in the same step. ERR_NOT_FOUND: no such letter; ERR_TERMINAL: expired. */
typedef void store_requeue_fn(void *arg, enum err e, struct span new_id);
void store_dead_requeue(struct store *s, struct span entry, store_requeue_fn *fn, void *arg);
void store_dead_drop(struct store *s, struct span entry, store_requeue_fn *fn, void *arg);
