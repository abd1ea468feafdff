/* announce.h - tells the brokers what this worker serves: when the store is ready, and as a
 * heartbeat. A tool that another worker announces differently is logged once. */
#pragma once

#include "common/registry.h"
#include "worker/slot.h"

struct announce;

struct announce *announce_new(struct event_base *base, struct store *store, struct slots *slots,
                              const struct store_worker *self, const struct tools *tools);
/* What is watched of wrapped servers, told with each answer to a heartbeat; borrowed. */
typedef void announce_wanted_fn(void *arg, const struct registry_wanted *wanted, size_t count);
void announce_on_wanted(struct announce *a, announce_wanted_fn *fn, void *arg);
void announce_free(struct announce *a); /* after the store */
void announce_ready(struct announce *a);
/* From now on these, which outlive the next such call; told at once. */
void announce_tools(struct announce *a, const struct tools *tools);
/* In good order: the tools are not kept alive by this worker any more. */
void announce_leave(struct announce *a);
