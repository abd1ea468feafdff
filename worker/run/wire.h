/* wire.h - what a command says on its descriptor 3, and what it is told there: JSON-RPC messages,
 * one a line.
 *
 *     from it    notifications/progress, notifications/message, notifications/cancelled; the
 *                requests elicitation/create, sampling/createMessage, roots/list, ping
 *     to it      the answers, and errors for what is no such message
 *
 * A line that is longer than WIRE_LINE_MAX or no JSON is answered with an error without an id, and
 * forgotten. What is not read does no harm: errors of that kind are dropped while there is much
 * that waits to be read, and when even the answers pile up, wire_is_stuck().
 */
#pragma once

#include "common/buf.h"
#include "worker/run.h"

enum {
    WIRE_LINE_MAX = 1 << 20,
    WIRE_UNREAD = 64 << 10, /* bytes not read by the command, from which on errors are dropped */
    WIRE_OUT_MAX = 48 << 20,
};

struct wire {
    const struct run_sink *sink;
    struct run_job *job;
    struct buf in; /* the beginning of a line */
    bool is_long; /* the rest of a line that is too long is skipped */
    struct buf out; /* what the command is to read, from out_at on */
    size_t out_at;
};

void wire_init(struct wire *w, const struct run_sink *sink, struct run_job *job);
void wire_fini(struct wire *w);
void wire_feed(struct wire *w, const char *p, size_t n);
/* answer: {"result":...} or {"error":...} */
void wire_answer(struct wire *w, struct span id, struct span answer);
struct span wire_unread(const struct wire *w);
void wire_was_read(struct wire *w, size_t n);
bool wire_is_stuck(const struct wire *w);
