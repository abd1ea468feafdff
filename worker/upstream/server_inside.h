/* server_inside.h - a wrapped server, shared by server.c and server_lists.c only. */
#pragma once

#include "common/sm.h"
#include "worker/upstream/pages.h"
#include "worker/upstream/server.h"
#include "worker/upstream/watched.h"

#include <event2/util.h>

enum state { STARTING, LISTING, UP, RESTING, CLOSING };

struct server {
    struct peer_world world;
    struct tool_server *conf;
    const struct server_sink *sink;
    void *arg;
    struct sm sm;
    struct line *main; /* NULL: RESTING, or CLOSING */
    struct list lines; /* the others: own ones, and those that end with their calls */
    struct list queue; /* of struct call: for the main one */
    struct event *rest; /* when RESTING ends */
    struct event *patience; /* when what it offered is withdrawn */
    struct event *closed;
    uint64_t rest_ms;
    uint64_t up_ms;
    char *items[PAGES_KIND_COUNT]; /* raw, or NULL */
    unsigned fetching; /* bits by kind */
    unsigned again; /* likewise: to be read again */
    struct event *relist; /* when */
    uint64_t listed_ms; /* when one was asked for last */
    struct tools offers;
    struct tool_list asked; /* tools that have asked something */
    struct watched *watched;
};

/* Reads all its lists; the server is UP once they are here. */
void server_fetch_all(struct server *s);
/* It says that these have changed, bits by kind: they are read again, once a second at most. */
void server_list_again(struct server *s, unsigned kinds);
/* relist's. */
void server_on_relist(evutil_socket_t fd, short what, void *arg);
