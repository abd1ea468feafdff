/* outside.h - work that jobs have begun elsewhere: its handle -> Redis, its callbacks <- Redis.
 *
 * A handle is sent until Redis has it, or the slot is ours no more. Callbacks wait in the task:
 * they are read when the job begins to listen, when STORE_EV_CALLED comes, and whenever messages
 * may have been missed.
 */
#pragma once

#include "worker/slot.h"

struct event_base;
struct outside;

struct outside *outside_new(struct event_base *base, struct store *store, struct slots *slots);
void outside_free(struct outside *o); /* after the store and the slots */

/* slots.h's */
void outside_keep(struct outside *o, struct slot *s, struct span handle);
void outside_listen(struct outside *o, struct slot *s);

/* STORE_EV_CALLED. */
void outside_called(struct outside *o, struct span task);
/* The store is ready (again), or messages may have been missed. */
void outside_look(struct outside *o);
