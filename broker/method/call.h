/* call.h - a tools/call as both dialects read it, and the job it becomes. */
#pragma once

#include "broker/catalog.h"
#include "broker/req.h"

enum { CALL_NAME_MAX = 128, CALL_WHY_MAX = 4096 };

/* What the client asked for, read from params. */
struct call {
    char name[CALL_NAME_MAX + 1];
    struct span arguments;
    bool as_task;
    uint64_t ttl_ms; /* 0: it did not say */
    struct span token;
    char trace[TRACE_TEXT_LEN + 1]; /* what the job is given: a child of what came */
    char idem[23]; /* "" : none */
    char idem_args[23];
    struct span outcome; /* not empty: the task is made already ended, with this error result */
    struct span message; /* its statusMessage */
    struct span params; /* what the job gets; absent: the params of the request */
};

/* From q->rpc.params; on a mistake fails the request and returns false. Spans point into the body.
 * task metadata is looked at only when the session's revision has tasks. */
bool call_read(struct req *q, struct call *c);

/* Of params._meta only: token, trace and idempotency key; the rest of c stays. */
bool call_read_meta(struct req *q, struct call *c);

/* Has the client every capability that the tool cannot do without? caps: what it declared, raw. */
bool call_is_capable(const struct tool *t, struct span caps);

/* Do the arguments fit the tool's inputSchema (W-16, W-17)? Else one sentence in why. */
bool call_fits(const struct call *c, const struct tool *t, struct buf *why);
/* That sentence as a CallToolResult with isError. */
void call_refusal(struct buf *result, struct span why);

/* Makes the job: what client, tool and broker say together. q is in a step until fn is told.
 * q->hidden says whether it is a plain call; then the waiter is added, and a stream reserved when
 * the client takes one. */
void call_create(struct req *q, const struct call *c, const struct tool *t, store_task_fn *fn);
/* First thing in that callback: counts it; false when the client has left, or the request has
 * failed. */
bool call_created(struct req *q, enum err e, const struct store_result *r) MUST_USE;
/* What is returned as a handle is told to fn once it is as durable as --durability says: at once,
 * or from a later step. Otherwise the request fails, and the task is cancelled, unless its client
 * can ask for it again by an idempotency key. */
typedef void call_durable_fn(struct req *q, const struct store_result *r);
void call_durable(struct req *q, const struct store_result *r, call_durable_fn *fn);
