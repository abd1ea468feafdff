/* inflight.h - the waiting requests of this broker, by session and id. */
#pragma once

#include "broker/req.h"

struct inflight *inflight_new(struct broker *b);
void inflight_free(struct inflight *f);
/* A plain call is about to be made: the id of the stream that will carry what its job says, or an
 * absent one when the client takes none. The waiter is added. */
struct span inflight_reserve(struct req *q);
/* The request waits for the task of q->wait (already added): it becomes an event stream after a
 * moment when its client takes one, can be cancelled by its id, and fn is told at the end. */
void inflight_wait(struct req *q, uint64_t expires_ms, waiter_fn *fn);
/* It stops waiting, to take a step: its waiter is out, q->wait.id stays. */
void inflight_pause(struct req *q);
/* The client of that session has cancelled a request (U-05), which may wait anywhere: every broker,
 * this one too, hears a name of it, which is short however long the id is. */
void inflight_tell_cancel(struct inflight *f, struct span session, struct span raw_id);
/* That name was heard: the request ends without an answer; a plain call's job is cancelled. */
void inflight_cancel(struct inflight *f, struct span session, struct span name);
/* Drain, to be repeated: readers are sent elsewhere. A stream is suspended and resumes at another
 * broker, as soon as it is one; a client that takes none is told to ask again. With all, plain
 * calls are sent away too, and nobody is given time to become a stream. */
void inflight_drain(struct inflight *f, bool all);
size_t inflight_count(const struct inflight *f);
