/* server.h - a wrapped server, for as long as its worker serves it.
 *
 *     STARTING --the handshake--> LISTING --its lists are here--> UP
 *         ^                          '-------it goes----------.   | it goes
 *         '-----after a while, longer each time------------ RESTING
 *
 * What it offers stays offered for its startTimeout after it went; calls wait so long for it to
 * come back. Its lists are read again when it says that they have changed.
 *
 * Calls share one connection. One with `alone` gets one of its own, which is used again for the
 * next of that kind; one with `isolate` gets one that ends with it.
 */
#pragma once

#include "worker/tools.h"
#include "worker/upstream/line.h"

struct server;

struct server_sink {
    /* What it offers is something else now. */
    void (*changed)(void *arg, struct server *s);
    /* A resource that is watched, or a part of one, has changed; uri decoded, borrowed. */
    void (*updated)(void *arg, struct server *s, struct span uri);
    /* After server_close(): nothing of it is left, free it. */
    void (*closed)(void *arg, struct server *s);
};

/* conf is held. The callbacks come on later turns of the loop. */
struct server *server_open(const struct peer_world *world, struct tool_server *conf,
                           const struct server_sink *sink, void *arg);
/* No more calls are begun: those that wait are told as UNSENT; ends when those under way have. */
void server_close(struct server *s);
void server_free(struct server *s); /* at once, and nobody is told */

const struct tool_server *server_conf(const struct server *s);
/* What it offers at the moment; borrowed. */
const struct tools *server_offers(const struct server *s);
/* Takes the call on; its sink's done() comes. */
void server_call(struct server *s, struct call *c, bool isolate, bool alone);
/* These resources are to be watched, and no others. */
void server_watch(struct server *s, const struct span *uris, size_t count);
