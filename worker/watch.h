/* watch.h - the deadlines of what is in hand, looked at often while there is anything.
 *
 *     ttl passed              the job is stopped and the task forgotten
 *     lease not renewed       at four fifths of it the job is stopped, by the worker's own clock,
 *                             so that nothing of it is left when another worker may start it
 *     timeout passed          the job is stopped; its result says so
 *     told to stop, and still running a second after its grace: slot_is_late()
 */
#pragma once

#include "worker/slot.h"

struct event_base;
struct watch;

struct watch *watch_new(struct event_base *base, struct slots *slots, uint64_t lease_ms);
void watch_free(struct watch *w);
void watch_begin(struct watch *w); /* there is a slot */
