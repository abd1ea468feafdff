/* offer.h - what a wrapped server has -> what this worker announces. */
#pragma once

#include "worker/tools.h"
#include "worker/upstream/pages.h"

struct offer_from {
    struct tool_server *server;
    struct span capabilities; /* the server's, raw */
    struct span items[PAGES_KIND_COUNT]; /* raw arrays; {NULL, 0}: it has no such list */
};

/* The tools that are allowed and can be served, and an entry for all else if there is any. What
 * cannot be served is logged. */
void offer_make(struct tools *out, const struct offer_from *from);
