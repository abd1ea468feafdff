/* report.h - what jobs say, and ends that are no results -> Redis.
 *
 * Progress is sent at once when the last report is old enough and answered, else folded into the
 * newest, and before the end of the job. A progress that is not more than the one before is none.
 * Retries and releases are sent until Redis has answered.
 */
#pragma once

#include "worker/slot.h"

struct report;

struct report *report_new(struct event_base *base, struct store *store, struct slots *slots);
void report_free(struct report *r); /* after the store and the slots */

void report_said(struct report *r, struct slot *s, struct span message, struct span progress);
/* Sends what is still untold of a job that has ended: before its end is told. */
void report_flush(struct report *r, struct slot *s);
/* A slot is SETTLING as a RETRY or a RELEASE. Calls slot_settled() once Redis has answered. */
void report_settle(struct report *r, struct slot *s);
/* The store is ready (again): sends what it has not taken. */
void report_ready(struct report *r);

/* When to run again after the n-th attempt: base doubled for each, at most an hour, and less by up
 * to half of it at random, so that what failed together does not come back together. */
uint64_t report_backoff(uint64_t base_ms, unsigned attempt);
