/* log.h - log lines of jobs -> Redis, and so to their clients: at most LOGS_A_SECOND of one job.
 * What is more is dropped, and one line says how many. Nothing is kept while Redis is away. */
#pragma once

#include "worker/slot.h"

struct event_base;
struct logs;

enum { LOGS_A_SECOND = 50 };

struct logs *logs_new(struct event_base *base, struct store *store, struct slots *slots);
void logs_free(struct logs *l); /* after the store */

/* A level that is none of MCP's is "info". */
void logs_logged(struct logs *l, struct slot *s, struct span level, struct span logger,
                 struct span data);
/* Says how many were dropped of a job that has ended: before its end is told. */
void logs_flush(struct logs *l, struct slot *s);
