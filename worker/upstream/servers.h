/* servers.h - the wrapped servers of this worker. */
#pragma once

#include "common/registry.h"
#include "worker/upstream/server.h"

struct servers;

struct servers_sink {
    void (*changed)(void *arg); /* what they offer */
    void (*updated)(void *arg, const char *server, struct span uri);
};

struct servers *servers_new(const struct peer_world *world, const struct servers_sink *sink,
                            void *arg);
void servers_free(struct servers *all); /* at once, with their calls, untold */
/* These and no others: what is declared as before goes on as it is, and what is declared otherwise
 * is served as it was until what it is now is there. Held. */
void servers_set(struct servers *all, struct tool_server *const *confs, size_t count);
/* Adds what they offer now; of tools of one name the first one counts, and the others are logged.
 */
void servers_offer(const struct servers *all, struct tools *out);
/* The one that a tool came from; NULL: it is not served any more. */
struct server *servers_find(const struct servers *all, const struct tool_server *conf);
/* Ends them in good order; fn comes when it is done, on a later turn. */
void servers_close(struct servers *all, void (*fn)(void *arg), void *arg);
struct event_base *servers_base(const struct servers *all);

/* These resources are watched by somebody, and no others. */
void servers_watch(struct servers *all, const struct registry_wanted *wanted, size_t count);
