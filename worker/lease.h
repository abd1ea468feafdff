/* lease.h - the worker's heartbeat: every third of a lease, all that is in hand is renewed.
 *
 * Redis answers with what is not ours any more; that is dropped. What could not be renewed in
 * time slot.c stops by the worker's own clock.
 */
#pragma once

#include "worker/slot.h"

struct lease;

struct lease *lease_new(struct event_base *base, struct store *store, struct slots *slots,
                        const struct store_worker *self);
void lease_free(struct lease *l); /* after the store */
/* The store is ready (again): renew at once. */
void lease_ready(struct lease *l);
