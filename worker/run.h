/* run.h - what every kind of runner is to the worker: it starts a job, and it stops one.
 *
 * A runner never talks to Redis and knows nothing of leases; what it says goes through the sink.
 * A job is told as ended exactly once, when nothing of it runs any more: by itself, or some time
 * after it was stopped. It may be told from inside start(), never from inside stop(). What is
 * said after a stop may count for nothing: that is not the runner's business.
 */
#pragma once

#include "common/span.h"
#include "worker/tool.h"

#include <stdbool.h>
#include <stdint.h>

/* Jobs that wait for answers take no place, but no more than this many times the places run. */
enum { RUN_WAITING_FACTOR = 4 };

/* Why a job is stopped: for runners whose work is elsewhere. */
enum run_stop {
    RUN_UNWANTED, /* nobody waits for it any more: what runs elsewhere is to be stopped, too */
    RUN_PASSED_ON, /* another worker goes on with it */
};

/* A job as its runner sees it. It and all it points at live until it is told as ended. */
struct run_job {
    const struct tool *tool;
    const char *id;
    unsigned attempt; /* from 1 */
    struct span arguments; /* a JSON object, as the client sent it; NUL-terminated. All params, when
                              the tool is what a server offers beside tools */
    struct span meta; /* the client's _meta: raw, or empty */
    const char *principal; /* "" for nobody in particular */
    const char *trace; /* traceparent of this execution, which its requests carry; or "" */
    struct span handle; /* what an earlier attempt had kept, or empty */
    enum run_stop stop; /* once it is stopped */
    void *own; /* the runner's */
};

struct run_end {
    bool passing; /* it failed in passing and should run again; why says how */
    bool is_error;
    bool rpc_error; /* result is a JSON-RPC error object: the outcome as it came from elsewhere */
    char *result; /* a CallToolResult, from now on the receiver's; NULL when passing */
    size_t n;
    const char *why; /* borrowed */
};

struct run_sink {
    void (*ended)(struct run_job *job, const struct run_end *end);
    /* {NULL, 0}: unchanged. progress is raw JSON. Borrowed. */
    void (*said)(struct run_job *job, struct span message, struct span progress);
    /* A log line for the client. level is one of MCP's names, logger a raw JSON string or {NULL,
     * 0}, data raw JSON in one line. */
    void (*logged)(struct run_job *job, struct span level, struct span logger, struct span data);
    /* A question to the client, by a JSON-RPC id (raw) that no other open one of this job has;
     * params raw JSON in one line, or {NULL, 0}. It is answered once, by the runner's answered(),
     * unless the job ends or takes it back before. */
    void (*asked)(struct run_job *job, struct span id, struct span method, struct span params);
    /* Waits for that no longer. */
    void (*withdrew)(struct run_job *job, struct span id);
    /* Keeps what a later attempt needs to find the work again that goes on elsewhere; at most
     * once. The runner's kept() says when it is safe, maybe from inside; before, nothing else may
     * be done. */
    void (*keep)(struct run_job *job, struct span handle);
    /* From now on the runner's called() is told what comes by callback, and what has come. */
    void (*listen)(struct run_job *job);
};

struct runner {
    const struct run_sink *sink;
    void (*start)(struct runner *r, struct run_job *job);
    /* Ask it to end now, and make it end after grace_ms where the runner can. May be repeated
     * with less. */
    void (*stop)(struct runner *r, struct run_job *job, uint64_t grace_ms);
    /* answer: {"result":...} or {"error":...}. May be called from inside asked(). */
    void (*answered)(struct runner *r, struct run_job *job, struct span id, struct span answer);
    /* For runners that keep and listen; else NULL. called() says whether that has decided what
     * becomes of the job; what has not is forgotten, and the next is told. */
    void (*kept)(struct runner *r, struct run_job *job);
    bool (*called)(struct runner *r, struct run_job *job, struct span body);
    void (*free)(struct runner *r); /* when no job is left, or the process is about to end */
};
