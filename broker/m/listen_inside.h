/* listen_inside.h - what the files of the subscriptions share.
 *
 *     listen        opening and closing, what is sent
 *     listen_task   what becomes of the tasks
 */
#pragma once

#include "broker/m/listen.h"
#include "common/id.h"
#include "common/list.h"
#include "common/map.h"

#include <event2/util.h>

struct event;
struct req;
struct sse;

struct listener;

/* A task that a listener asked for. */
struct watch {
    struct map_node node; /* by task id */
    struct listener *of;
    char id[ID_LEN + 1];
    bool good; /* it is the principal's */
    bool crowded; /* to be looked at again, because we are not told of it any more */
    bool missed; /* something became of it before the stream was open */
    uint64_t version; /* the last that was told */
};

/* A resource that a listener asked for, at the server whose it is. */
struct listen_resource {
    char *server;
    char *uri;
};

struct listener {
    struct list node;
    struct listeners *all;
    struct req *q; /* while the ids are looked up */
    struct sse *sse; /* NULL until then */
    char *id; /* raw id of the request */
    char owner[ID_OWNER_LEN + 1];
    unsigned lists; /* CATALOG_ bits */
    struct listen_resource *resources;
    size_t resource_count;
    size_t looking; /* look-ups under way */
    size_t count;
    struct watch *watches;
};

struct listeners {
    struct broker *b;
    struct list all;
    struct map by_task;
    struct event *crowded; /* looks at those that are */
};

/* members: those of params, each followed by a comma, or "". */
void listener_notify(struct listener *one, const char *method, struct span members);
void listeners_on_crowded(evutil_socket_t fd, short what, void *arg);
/* The stream is open: reads the tasks that have changed meanwhile. */
void listener_catch_up(struct listener *one);
