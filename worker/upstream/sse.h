/* sse.h - the events of a text/event-stream, as they come. */
#pragma once

#include "common/buf.h"

#include <stdbool.h>
#include <stdint.h>

enum { SSE_ID_MAX = 4096 };

struct sse {
    struct buf line;
    struct buf data;
    struct buf id; /* of the last event that had one: where a stream goes on */
    uint64_t retry_ms; /* as the server asks for it; 0: it has not */
    bool was_cr; /* the last line ended in CR: an LF belongs to it */
    bool is_long; /* the event is too long and is left out */
    /* data: of one event, not empty; borrowed. NULL p: an event was too long. */
    void (*on_event)(void *arg, struct span data);
    void *arg;
};

/* max: of the data of one event. */
void sse_init(struct sse *s, size_t max, void (*on_event)(void *arg, struct span data), void *arg);
void sse_fini(struct sse *s);
/* Calls back from inside; the callback must not end it. */
void sse_feed(struct sse *s, struct span bytes);
/* The connection is another one: what was begun is forgotten. */
void sse_cut(struct sse *s);
