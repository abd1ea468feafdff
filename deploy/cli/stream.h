/* stream.h - text/event-stream as it arrives: the data of each event. */
#pragma once

#include "common/buf.h"

#include <stdbool.h>

typedef void stream_fn(void *arg, struct span data);

struct stream {
    stream_fn *fn;
    void *arg;
    struct buf line;
    struct buf data;
    bool has_data;
    bool after_cr;
    bool failed; /* an event was larger than max */
};

void stream_init(struct stream *s, size_t max, stream_fn *fn, void *arg);
void stream_fini(struct stream *s);
/* Calls fn for every event that ends in these bytes and has data (an empty one too, without
 * bytes). False when an event is larger than max: give up. */
bool stream_feed(struct stream *s, const char *p, size_t n);
