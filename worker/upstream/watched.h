/* watched.h - the resources of a wrapped server that somebody watches: subscribes and unsubscribes
 * to match, and again on a new connection. */
#pragma once

#include "worker/upstream/peer.h"

struct watched;

struct watched *watched_new(void);
void watched_free(struct watched *w);
/* These and no others; copied. */
void watched_set(struct watched *w, const struct span *uris, size_t count);
/* Is this one of them, or a part of one? */
bool watched_has(const struct watched *w, struct span uri);
/* The connection is there, or is not. */
void watched_up(struct watched *w, struct peer *p);
void watched_down(struct watched *w);
