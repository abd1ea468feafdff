/* worker_inside.h - the worker itself, shared by worker.c and worker_*.c only. */
#pragma once

#include "common/sm.h"
#include "worker/announce.h"
#include "worker/ask.h"
#include "worker/drain.h"
#include "worker/early.h"
#include "worker/health.h"
#include "worker/lane.h"
#include "worker/lease.h"
#include "worker/leftover.h"
#include "worker/log.h"
#include "worker/outside.h"
#include "worker/report.h"
#include "worker/runners.h"
#include "worker/watch.h"
#include "worker/worker.h"

#include <event2/util.h>

enum { WORKER_SIGNALS = 2 };

enum state { STARTING, SERVING, DRAINING };

struct worker {
    const struct worker_conf *conf;
    struct event_base *base;
    struct sm sm;
    struct tools declared; /* of the files, or of the program */
    struct roster roster; /* these, and what the wrapped servers offer */
    struct store *store;
    struct runners runners;
    struct slots *slots;
    struct watch *watch;
    struct early *early;
    struct lanes *lanes;
    struct report *report;
    struct logs *logs;
    struct asks *asks;
    struct outside *outside;
    struct leftovers *leftovers;
    struct lease *lease;
    struct announce *announce;
    struct health *health; /* NULL without --metrics */
    struct event *signals[WORKER_SIGNALS];
    struct event *hangup; /* NULL: nothing to be read again */
    struct event *awaiting; /* Redis, since the start */
    struct drain *drain;
    struct event *left; /* the wrapped servers had their time to end */
    int code;
};

/* The slots, which tell the parts of w what happens in them. */
struct slots *worker_slots(struct worker *w);
/* What is declared, and what the wrapped servers offer: held, the caller's. */
struct tools worker_tools(const struct worker *w);
/* From now on these are declared; moves them out of `tools`. */
void worker_declare(struct worker *w, struct tools *tools);
void worker_on_hangup(evutil_socket_t sig, short what, void *arg);
announce_wanted_fn worker_on_wanted;
extern const struct servers_sink worker_on_servers;
