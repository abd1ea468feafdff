/* store_running.h - what an operator looks at while it happens: tasks that run, brokers, Redis. */
#pragma once

#include "common/store.h"

struct store_running {
    struct span id;
    struct span tool;
    struct span worker; /* its short id */
    uint64_t age_ms; /* since the task was created */
    uint64_t attempt;
    bool asks; /* it waits for answers */
    struct span message;
};
/* The oldest first, n at most, of one partition; of a very long list of running tasks only a
 * thousand are looked at. */
typedef void store_running_fn(void *arg, enum err e, const struct store_running *tasks,
                              size_t count);
void store_running(struct store *s, unsigned partition, unsigned n, store_running_fn *fn,
                   void *arg);

/* A broker's link to Redis, by the name it gave itself (CLIENT LIST). */
struct store_broker {
    struct span id;
    struct span address; /* host:port of its end, or the path of Redis's own socket */
    uint64_t age_s;
    uint64_t idle_s;
};
/* ERR_FORBIDDEN: the user may not list connections. Brokers of every prefix are listed, for a
 * connection does not say which it serves. */
typedef void store_brokers_fn(void *arg, enum err e, const struct store_broker *brokers,
                              size_t count);
void store_brokers(struct store *s, store_brokers_fn *fn, void *arg);

/* Whether Redis's maxmemory-policy lets it drop keys, and with them tasks. */
typedef void store_may_evict_fn(void *arg, enum err e, bool may_evict);
void store_may_evict(struct store *s, store_may_evict_fn *fn, void *arg);
