/* ask.h - questions of running jobs to the people, and models, behind their clients.
 *
 * A question is checked (ask_check.h), put down in Redis under a key, and waited for: an answer
 * comes with STORE_EV_INPUT, and is looked for every 20 s and whenever messages may have been
 * missed. What the client says is checked (ask_answer.h) before the job is given it. A question
 * that nobody has answered within the task's limit is taken back, and answered with an error.
 *
 * The key is the job's own id for the question when that is a short text that can be a key, and no
 * other question had it; else a digest of method and params, and how often this attempt has asked
 * just that. So an attempt that asks what an earlier one has asked, in the same order, is given the
 * same answers, and two questions that differ never share a key.
 *
 * A client that makes a task of a question (MCP's tasks.requests of its capabilities) is asked that
 * way; see ask_host.h.
 */
#pragma once

#include "worker/slot.h"

struct event_base;
struct asks;

enum {
    ASK_OPEN_MAX = 32, /* of one job */
    ASK_DEFAULT_MS = 10 * 60 * 1000, /* when the broker has not said */
    ASK_TIMED_OUT = -32001,
};

struct asks *asks_new(struct event_base *base, struct store *store, struct slots *slots);
void asks_free(struct asks *all); /* after the store and the slots */

/* slots.h's */
void asks_asked(struct asks *all, struct slot *s, struct span id, struct span method,
                struct span params);
void asks_withdrew(struct asks *all, struct slot *s, struct span id);
void asks_hushed(struct asks *all, struct slot *s);

/* STORE_EV_INPUT. */
void asks_input(struct asks *all, struct span task, struct span key);
/* The store is ready (again), or messages may have been missed. */
void asks_look(struct asks *all);
