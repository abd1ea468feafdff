/* leftover.h - stops work elsewhere whose task ended while no worker was there to do it: cancelled
 * between two attempts, or given up after the last.
 *
 * A worker that serves tools of that kind asks Redis every few seconds, and sends each job's cancel
 * request once it is told of it. What was asked is forgotten, answered or not.
 */
#pragma once

#include "worker/roster.h"
#include "worker/run/http.h"

struct event_base;
struct leftovers;

struct leftovers *leftovers_new(struct event_base *base, struct store *store,
                                const struct roster *roster);
void leftovers_free(struct leftovers *l); /* after the store */
