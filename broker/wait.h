/* wait.h - who waits here for the end of a task.
 *
 *     add (PRE) -> the call that registers our interest in Redis -> wait_start -> told once
 *
 * A waiter is in the table before that call leaves, so nothing can slip between. While it is PRE
 * its end is only remembered (the call's own answer may tell it); once started it is told exactly
 * once: the outcome, or ERR_NOT_FOUND when the task expired. Messages can be lost with the
 * subscriber link, so waiters are read again after every gap, when their task should have
 * expired, and once a minute in any case.
 */
#pragma once

#include "common/id.h"
#include "common/list.h"
#include "common/map.h"
#include "common/store_task.h"

struct waits;

/* The task is terminal and has its outcome. The waiter is out of the table. */
typedef void waiter_fn(void *arg, enum err e, const struct task *t);

struct waiter {
    struct map_node node;
    struct list due;
    char id[ID_LEN + 1];
    char owner[ID_OWNER_LEN + 1];
    waiter_fn *fn;
    void (*on_input)(void *arg); /* the task asks for input; NULL: nobody minds */
    void *arg;
    uint64_t expires_ms;
    bool in; /* the table */
    bool started;
    bool early; /* something came while PRE */
};

struct waits *waits_new(struct event_base *base, struct store *store);
void waits_free(struct waits *w); /* tells nobody */
size_t waits_count(const struct waits *w);

void wait_add(struct waits *w, struct waiter *one, struct span id, struct span owner);
/* A repeated create named another task: wait for that one. */
void wait_rekey(struct waits *w, struct waiter *one, struct span id);
void wait_start(struct waits *w, struct waiter *one, uint64_t expires_ms, waiter_fn *fn, void *arg);
void wait_del(struct waits *w, struct waiter *one); /* harmless when it is not in */

void waits_event(struct waits *w, const struct store_event *ev);
/* Others have taken our place among those that are told of this task: it is read again in a while,
 * which takes a place back. */
void waits_crowded(struct waits *w, struct span id);
void waits_gap(struct waits *w); /* read everybody again */
