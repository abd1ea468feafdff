/* listen.h - subscriptions of the stateless dialect: streams of changes of lists, resources and
 * tasks.
 *
 * Each lives at one broker, on one socket, and dies with it. Its tasks' changes come to this
 * broker because their ids are registered in Redis as ours to be told (store_get with wait).
 */
#pragma once

#include "broker/broker.h"
#include "common/store_task.h"

struct listeners;

struct listeners *listeners_new(struct broker *b);
void listeners_free(struct listeners *l);
void listeners_event(struct listeners *l, const struct store_event *ev); /* STORE_EV_TASK */
void listeners_crowded(struct listeners *l,
                       struct span id); /* STORE_EV_CROWDED: looks in a while */
void listeners_changed(struct listeners *l, unsigned what); /* CATALOG_ bits */
void listeners_updated(struct listeners *l, struct span server, struct span uri);
void listeners_want(struct listeners *l); /* asks workers for what is listened to, once more */
void listeners_gap(struct listeners *l); /* read every task again */
/* Ends each with its result (B-05), but for those whose tasks are still being looked up. */
void listeners_drain(struct listeners *l);
