/* req.h - one MCP request: who owns it, and how it is answered.
 *
 * A request has exactly one step in flight, and that step owns it. Before a step leaves:
 * req_step(q); first thing in its callback: if (!req_back(q)) return; - false means that the
 * client left meanwhile and the request is gone. A method ends in exactly one of req_result,
 * req_fail*, req_quiet, or in a wait (inflight.h) that does.
 */
#pragma once

#include "broker/broker.h"
#include "broker/l/version.h"
#include "broker/principal.h"
#include "broker/rpc.h"
#include "broker/wait.h"
#include "common/event.h"
#include "common/trace.h"

struct method;
struct event;
struct stream;

struct req {
    struct broker *b;
    struct http_req *http; /* NULL: the client left, or the answer is an event stream */
    struct stream *stream; /* reserved for a plain call, or what the answer became */
    struct principal who;
    struct rpc rpc; /* spans into the body: valid while http is not NULL */
    char *id; /* the raw id, once the request outlives its body */
    char session[ID_LEN + 1];
    enum l_version version;
    char dialect; /* 'L' or 'M' */
    struct {
        struct span capabilities; /* in the body */
        bool tasks; /* the extension is declared on this request */
        const char *level; /* log level asked for; static; NULL: none */
    } m; /* dialect M */
    char digest[23]; /* M: of method, name and arguments, for requestState */
    char *about; /* resources/read: the address, a raw JSON string; ours */
    bool may_promote; /* M: the call may become a task after timeout_ms */
    uint64_t
        asked_at; /* M: version of the task when its questions were last asked for; 0: unknown */
    unsigned answers; /* M: calls under way that store answers */
    enum err unanswered; /* why one of them may not be stored, and should be sent again */
    const struct method *method;
    const char *name; /* of the method, or "other": for metrics; static */
    uint64_t began_us;
    struct trace trace; /* our own span; empty: the client named none, and nothing was begun */
    char parent[TRACE_SPAN_LEN + 1]; /* the client's */
    bool held;
    bool failed; /* answered with an error */
    bool gone; /* the client left while a step was in flight */
    bool stepping;
    /* while it waits for a task */
    bool hidden; /* a plain call: the task is ours to name to nobody */
    void (*abandon)(struct req *q); /* its client left: what that means for the job (M only) */
    bool has_key; /* of idempotency */
    bool is_guest; /* by which it found the job of another request, which it never cancels */
    bool plain_handle; /* the facade's: the handle is answered as text */
    struct waiter wait;
    void (*leave)(struct req *q); /* takes it off the list of waiting requests */
    struct map_node inflight; /* by session and raw id, for notifications/cancelled */
    char *inflight_key;
    uint64_t timeout_ms;
    struct event *timer; /* see req_timer() */
    void (*on_timer)(void *arg);
    bool stream_now; /* something is to be sent before the answer */
    struct list soon; /* waits to become an event stream, */
    uint64_t stream_at_ms; /* at this time */
};

/* Takes a traceparent that came with the request, if it is one: in a header, or, which counts for
 * more, raw in _meta. */
void req_trace(struct req *q, struct span raw);
void req_begin_trace(struct req *q); /* one of its own, unless one came */
/* A line of the audit log: who did what to which task, in which request and trace. */
void req_log(const struct req *q, enum event_kind e, const struct task *t);

/* Of a fresh MCP POST. */
struct req *req_new(struct broker *b, struct http_req *http);

/* The request lives past its handler: from here on its client may leave. */
void req_hold(struct req *q);
void req_step(struct req *q);
bool req_back(struct req *q) MUST_USE;

/* Each ends the request. */
void req_result(struct req *q, struct span result);
void req_fail(struct req *q, enum err e);
void req_fail_why(struct req *q, enum err e, const char *why);
void req_fail_data(struct req *q, enum err e, struct span why, struct span data);
void req_fail_retry(struct req *q, enum err e,
                    uint64_t retry_ms); /* ERR_RATE and its kind; 0: not known */
void req_error_raw(struct req *q, struct span error); /* a stored JSON-RPC error, as it is */
void req_quiet(struct req *q); /* no JSON-RPC answer: 202, or the stream just ends */

/* Frees a request whose client was handed over to something else. */
void req_release(struct req *q);
void req_suspend(struct req *q); /* its started stream ends here, and resumes elsewhere */

/* fn is told once when ms have passed and the request still waits. One at a time. */
void req_timer(struct req *q, uint64_t ms, void (*fn)(void *arg));

/* The raw id, wherever it is now. */
struct span req_id(const struct req *q);

/* For the modules that write an answer in a way of their own: the broker's scratch, emptied, and
 * what sends it and ends the request. */
struct buf *req_scratch(struct req *q);
void req_end_with(struct req *q, int status, struct buf *out);
/* The client left: a held request, or one that became a stream. */
void req_on_gone(void *arg);
void req_on_stream_gone(void *arg);
