/* top.h - one look at the whole installation: read from Redis, and shown. */
#pragma once

#include "common/buf.h"
#include "common/store_admin.h"
#include "deploy/cli/ops.h"

enum { TOP_SLOW_MAX = 20 };

struct top_queue {
    char *tool;
    uint64_t ready[TASK_PRIORITY_COUNT];
};
struct top_worker {
    char *id;
    char *info; /* raw JSON: host, pid, slots, busy, version */
    uint64_t started_ms;
    uint64_t seen_ms_ago;
};
struct top_broker {
    char *id;
    char *address;
    uint64_t age_s;
};
struct top_task {
    char *id;
    char *tool;
    char *worker;
    char *message;
    uint64_t age_ms;
    uint64_t attempt;
    bool asks;
};
struct top {
    struct store_totals totals;
    struct top_queue *queues;
    size_t queue_count;
    struct top_worker *workers;
    size_t worker_count;
    struct top_broker *brokers;
    size_t broker_count;
    bool brokers_unknown; /* this user may not list connections */
    struct top_task *slow; /* running, the oldest first */
    size_t slow_count;
};

/* EXIT_OK, and t is filled; else what failed has been said. top_fini() whatever it is. */
int top_read(struct top *t, struct ops *o);
void top_fini(struct top *t);
/* Lines for people, each ended by \n, with what is least of interest last. */
void top_show(struct buf *out, const struct top *t);
void top_json(struct buf *out, const struct top *t);
