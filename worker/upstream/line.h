/* line.h - the calls that are under way on one connection to a wrapped server, and which of them is
 * meant by what comes from it.
 *
 * An answer names its request, and progress its token. A question or a log line names nothing; it
 * belongs
 *
 *     to the call with whose stream it came (over HTTP),
 *     else to the call that its _meta names, by the token of its progress or by its task,
 *     else to the only call that is under way.
 *
 * A question of which that is not clear waits: new calls are kept off the line meanwhile, and as
 * soon as one call is left the question is that one's. After LINE_UNCLEAR_MS it is refused. A tool
 * that has asked, or may have, is told by learned(): its next calls should each have a line alone.
 *
 * A call that is cancelled and goes on after its grace ends the connection of a child when it is
 * alone there. Else it is told as ended, spoilt() says that no more calls should be begun here, and
 * the connection ends with the last of the others.
 */
#pragma once

#include "worker/upstream/line_call.h"

enum { LINE_UNCLEAR_MS = 10 * 1000 };

struct line_sink {
    void (*up)(void *arg, struct line *l);
    /* It takes calls again, or has one less. */
    void (*freed)(void *arg, struct line *l);
    void (*learned)(void *arg, struct line *l, const char *tool);
    void (*spoilt)(void *arg, struct line *l);
    /* What is about no call: the server's lists and resources. */
    void (*noticed)(void *arg, const struct line *l, const char *method, struct span params);
    /* Frees the line before it returns. */
    void (*gone)(void *arg, struct line *l, const char *why);
};

struct line {
    struct list node; /* the owner's */
    struct peer *peer;
    struct event_base *base;
    struct tool_server *server;
    const struct line_sink *sink;
    void *arg;
    struct list calls; /* SENT */
    unsigned calls_n;
    unsigned ghosts; /* ended for us, but perhaps not for the server */
    struct list pending; /* the owner's: calls that it is opened for */
    struct list questions;
    struct list unclear; /* likewise, of no call yet */
    struct event *timer; /* of those */
    bool is_own; /* the owner's: it is for one call at a time */
    bool is_once; /* likewise: it ends with its call */
    bool is_closing;
};

/* job: see stdio.h. */
struct line *line_open(const struct peer_world *world, struct tool_server *server,
                       const struct run_job *job, const struct line_sink *sink, void *arg);
/* At once; its calls are not told. Not from inside a callback but gone(). */
void line_free(struct line *l);
/* When its calls have ended. */
void line_close(struct line *l);

/* Does it take a call now? */
bool line_is_open(const struct line *l);
void line_send(struct line *l, struct call *c); /* to a line that is up */

/* call.c's */
void line_answer(const struct call *c, struct span id, struct span answer);
void line_cancel_call(const struct call *c);
void line_end_call(struct call *c);
