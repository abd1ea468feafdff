/* http.h - the runner of jobs on other people's HTTP APIs: submit, poll or callback, fetch, cancel.
 *
 *     SUBMITTING -> KEEPING -> POLLING -> FETCHING -> ended
 *
 * The submit carries the task's id as its Idempotency-Key, so an API that knows that header makes
 * one job of a submit that is sent again; once answered, the job's handle is kept in Redis before
 * anything else is done, and an attempt that is given a handle polls and never submits. A job that
 * nobody wants any more is CANCELLING first; one that is passed on is left alone, but a submit
 * under way is waited for, as long as the grace lasts. See docs/tools.md.
 */
#pragma once

#include "worker/run.h"

struct event_base;

struct http_conf {
    const char *public_url; /* how the outside reaches a broker, or NULL: no callbacks */
    /* The installation's secret; called when a job is submitted. */
    const unsigned char *(*secret)(void *arg);
    void *arg;
};

struct runner *http_runner_new(struct event_base *base, const struct run_sink *sink,
                               const struct http_conf *conf);
