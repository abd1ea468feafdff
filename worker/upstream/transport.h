/* transport.h - what carries messages to a wrapped server and back: a child's pipes, or HTTP.
 *
 * Nothing is told from inside a call of one of these functions.
 */
#pragma once

#include "common/span.h"

#include <stdbool.h>
#include <stdint.h>

struct transport_sink {
    /* One message, not yet checked. via: the request of ours on whose stream it came, or 0: it may
     * belong to any. Borrowed. */
    void (*heard)(void *arg, struct span text, uint64_t via);
    /* A message was too long; id is that of the request that it answers, raw, or {NULL, 0}. */
    void (*missed)(void *arg, struct span id);
    /* A request of ours will have no answer. sent: the server may have acted on it. */
    void (*failed)(void *arg, uint64_t number, bool sent, const char *why);
    /* There is no connection any more; nothing is told after this. why is borrowed. */
    void (*gone)(void *arg, const char *why);
};

struct transport {
    const struct transport_sink *sink;
    void *arg;
    /* message: JSON in one line. number: that of a request of ours, 0 for anything else. */
    void (*send)(struct transport *t, struct span message, uint64_t number);
    /* The request is not waited for any longer. */
    void (*forget)(struct transport *t, uint64_t number);
    /* The handshake is over: the version that is spoken. */
    void (*agreed)(struct transport *t, const char *version);
    /* In good order, and by force after grace_ms; gone() comes. May be repeated with less. */
    void (*close)(struct transport *t, uint64_t grace_ms);
    void (*free)(struct transport *t); /* at once, untold */
};
