/* peer.h - one connection to a wrapped server, as its client: the handshake, and who waits for
 * which answer.
 *
 *     OPENING --initialize answered--> UP --close, or the server goes--> GONE
 *
 * The callbacks come on later turns of the loop only, but for the answers that peer_close() cuts
 * off: those come before gone().
 */
#pragma once

#include "common/fetch.h"
#include "worker/child.h"
#include "worker/run.h"
#include "worker/tool_server.h"

struct peer;

/* What peers are made of in this process. */
struct peer_world {
    struct event_base *base;
    struct children *children; /* NULL: no server is a command */
    struct fetcher *fetcher; /* NULL: none is a URL */
};

enum peer_outcome {
    PEER_RESULT,
    PEER_ERROR,
    PEER_LOST, /* there will be no answer; the server may have acted on the request */
    PEER_UNSENT, /* likewise; it has not */
    PEER_TOO_LONG, /* the answer was too long to be taken */
};

struct peer_reply {
    enum peer_outcome outcome;
    struct span value; /* the raw result, or error object */
    const char *why; /* LOST, UNSENT: in words */
};
typedef void peer_reply_fn(void *arg, const struct peer_reply *reply);

struct peer_sink {
    void (*up)(void *arg);
    /* via: the request of ours that it came with, or 0: not known. params raw or {NULL, 0}. */
    void (*noticed)(void *arg, const char *method, struct span params, uint64_t via);
    /* To be answered by peer_answer(). "ping" is not told. */
    void (*asked)(void *arg, struct span id, const char *method, struct span params, uint64_t via);
    /* Once; the answers that were waited for are told before, as LOST or UNSENT. */
    void (*gone)(void *arg, const char *why);
};

/* server is held. job: see stdio.h. */
struct peer *peer_open(const struct peer_world *world, struct tool_server *server,
                       const struct run_job *job, const struct peer_sink *sink, void *arg);
/* At once, and nobody is told. Not from inside a callback but gone(). */
void peer_free(struct peer *p);
/* gone() comes. May be repeated with less. */
void peer_close(struct peer *p, uint64_t grace_ms);

bool peer_is_up(const struct peer *p);
/* Once it is up; borrowed. What the server said in the handshake: raw. */
struct span peer_capabilities(const struct peer *p);
const char *peer_version(const struct peer *p);

/* Once it is up. The number of the next request: for who wants to name it in the params. */
uint64_t peer_next(const struct peer *p);
void peer_request(struct peer *p, const char *method, struct span params, peer_reply_fn *fn,
                  void *arg);
void peer_notify(struct peer *p, const char *method, struct span params);
void peer_answer(struct peer *p, struct span id, struct span answer);
/* The answer to that request is told to these. */
void peer_pass_on(struct peer *p, uint64_t number, peer_reply_fn *fn, void *arg);
/* The answer to that request is not told any more. Whether the server still works on it is not
 * known. */
void peer_forget(struct peer *p, uint64_t number);
