/* mcp.h - an MCP client: one session with a broker, requests and their answers.
 *
 * Happy path: mcp_open -> mcp_call... -> mcp_free. For several requests at a time: mcp_begin,
 * mcp_turn until mcp_is_done, mcp_end. A session that the broker has forgotten is made again by
 * mcp_open(), which may be called at any time.
 */
#pragma once

#include "common/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct mcp;
struct mcp_request;

enum mcp_end {
    MCP_RESULT, /* reply->value is the raw result */
    MCP_ERROR, /* reply->value is the raw error object */
    MCP_BUSY, /* the broker cannot now; try again after reply->retry_s */
    MCP_LOST, /* no answer: the connection failed; whether anything happened is not known */
    MCP_GONE, /* the broker does not know the session: mcp_open() */
    MCP_DENIED, /* the key is missing, not good, or does not allow it */
    MCP_BROKEN, /* an answer that is no MCP */
    MCP_STOPPED /* by Ctrl-C */
};
struct mcp_reply {
    struct buf text; /* owns value; mcp_reply_fini() */
    struct span value;
    unsigned retry_s;
    bool begun; /* what was lost had begun to be answered */
};
void mcp_reply_init(struct mcp_reply *r);
void mcp_reply_fini(struct mcp_reply *r);

/* A notification that came before the answer: its method and raw params. */
typedef void mcp_note_fn(void *arg, struct span method, struct span params);

/* What a client can do for the broker. Without one it answers pings, and nothing else. */
struct mcp_peer {
    const char *capabilities; /* raw, for initialize */
    /* A request of the broker's. True: it is answered now or later, with mcp_answer(); it may be
     * that mcp_open() or a notification makes that pointless. False: it is refused. */
    bool (*request)(void *arg, struct span id, struct span method, struct span params);
    void (*turn)(void *arg); /* in every mcp_turn(); may call mcp_answer() and mcp_listen() */
    void *arg;
};

/* The texts outlive the session. */
struct mcp *mcp_new(const char *url, const char *key);
void mcp_set_patience(struct mcp *m, uint64_t ms); /* in place of the two minutes */
void mcp_set_peer(struct mcp *m, const struct mcp_peer *peer); /* copied; before mcp_open() */
/* initialize and initialized, once. Not MCP_RESULT: why says what is wrong. */
enum mcp_end mcp_open(struct mcp *m, struct buf *why);
void mcp_free(struct mcp *m); /* DELETEs the session, if there is one */
bool mcp_has_tasks(const struct mcp *m); /* the broker runs tools/call as tasks */
bool mcp_has_list(const struct mcp *m); /* it has tasks/list */

struct mcp_request *mcp_begin(struct mcp *m, const char *method, struct span params,
                              mcp_note_fn *note, void *arg);
void mcp_turn(struct mcp *m, unsigned ms);
bool mcp_is_done(const struct mcp_request *r);
/* Ends it, done or not; reply and why may be NULL then. */
enum mcp_end mcp_end(struct mcp_request *r, struct mcp_reply *reply, struct buf *why);

void mcp_notify(struct mcp *m, const char *method, struct span params); /* best effort, waits */

/* One request, patiently: a lost connection, a busy broker and a lost session are tried again for
 * up to two minutes, so the request must be one that may be sent twice. They count anew from the
 * end of an answer that had begun and lasted. */
enum mcp_end mcp_call(struct mcp *m, const char *method, struct span params, mcp_note_fn *note,
                      void *arg, struct mcp_reply *reply, struct buf *why);

/* Keeps the session's own stream open from here on, for what is said while no request waits; note
 * as above. Waits until it is open, or shortly. */
void mcp_hear(struct mcp *m, mcp_note_fn *note, void *arg);

/* Answers a request of the broker's; member is "result" or "error". Sent by mcp_turn(), again and
 * again while the broker is away, for as long as the session lives. */
void mcp_answer(struct mcp *m, struct span id, const char *member, struct span value);
bool mcp_is_answering(const struct mcp *m); /* an answer has not arrived yet */
void mcp_listen(struct mcp *m, int fd); /* mcp_turn() ends early for it; -1: no more */
