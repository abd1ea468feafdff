/* line_call.h - one request to a wrapped server on behalf of a job.
 *
 *     QUEUED -> SENT -> ended: done() is told once, and the call may be freed
 *
 * A call that is cancelled is told to the server, and has its grace; then it is ended (line.h).
 */
#pragma once

#include "common/list.h"
#include "worker/upstream/peer.h"

struct line;
struct call;

struct call_sink {
    void (*progressed)(void *arg, struct span params);
    void (*logged)(void *arg, struct span params);
    /* To be answered by call_answer(). */
    void (*asked)(void *arg, struct span id, struct span method, struct span params);
    void (*withdrew)(void *arg, struct span id);
    /* Never from inside call_cancel() or what starts it. */
    void (*done)(void *arg, const struct peer_reply *reply);
};

struct call_conf {
    const char *method;
    struct span params; /* a raw object; its _meta is left out. Copied */
    struct span
        meta; /* raw: the client's _meta, or {NULL, 0}. Copied but for what is the broker's */
    const char
        *tool; /* its name at the server; NULL: it is no tool. Borrowed as long as the call */
    bool is_tasked; /* the server wants it as a task */
    bool tells_who; /* the server may know for whom */
    const struct run_job *job; /* outlives the call */
    const struct call_sink *sink;
    void *arg;
};

struct call {
    struct list node; /* in a queue, or on a line */
    struct call_conf conf;
    struct line *line; /* NULL: QUEUED */
    char *members; /* of the params, without braces and _meta */
    char *meta; /* likewise, of _meta */
    uint64_t number; /* of the request that is waited for; 0: none */
    uint64_t token; /* of its progress */
    char *task; /* raw: the server's id for it, when the server made a task of it */
    bool is_cancelled;
    uint64_t due_ms; /* when its grace is over */
    struct event *timer; /* when cancelled */
    struct event_base *base;
};

struct call *call_new(struct event_base *base, const struct call_conf *conf);
void call_free(struct call *c);

/* The params as they are sent, with that token. */
void call_params(struct buf *out, const struct call *c);
/* The server, and what it asked. */
void call_answer(struct call *c, struct span id, struct span answer);
/* It is to end now, and is ended after grace_ms. May be repeated with less. */
void call_cancel(struct call *c, uint64_t grace_ms);
