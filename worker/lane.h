/* lane.h - the traffic with each partition: what has ended goes out, what is ready comes in.
 *
 * One exchange at a time a lane. What ends meanwhile piles up and goes in the next one, together
 * with the claim for the places that are free: the busier, the larger the batches. An idle lane
 * looks by itself every 250 ms or so, which covers a lost wake-up, and does the partition's due
 * work (store_tick) on the way.
 */
#pragma once

#include "worker/slot.h"

struct lanes;

struct lanes *lanes_new(struct event_base *base, struct store *store, struct slots *slots,
                        const struct store_worker *self);
void lanes_free(struct lanes *all); /* after the store and the slots */

/* The store is ready (again): the number of partitions is known, and nothing else is. */
void lanes_ready(struct lanes *all);
/* Something is ready in that partition. */
void lanes_wake(struct lanes *all, unsigned partition);
/* Messages may have been missed: look everywhere. */
void lanes_look(struct lanes *all);
/* A slot is SETTLING as a FINISH. The lane calls slot_settled(). */
void lanes_finish(struct lanes *all, struct slot *s);
/* Places may be free. Cheap: acts once, at the end of the loop's turn. */
void lanes_kick(struct lanes *all);
/* The worker is about to serve other tools, as another pool: none of the old one wakes it again,
 * and a wake-up that it has not acted upon is passed on. Before its self is changed. */
void lanes_leave_pool(struct lanes *all);
/* No more claims from now on; wake-ups are passed on. */
void lanes_drain(struct lanes *all);
/* May a claim under way still bring jobs? */
bool lanes_are_claiming(const struct lanes *all);
