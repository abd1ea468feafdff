/* runners.h - the runners of this process, one for each kind of tool that is served. */
#pragma once

#include "worker/roster.h"
#include "worker/run/http.h"
#include "worker/slot.h"
#include "worker/upstream/servers.h"

struct event_base;
struct children;

struct runners {
    const struct servers_sink *on_servers; /* these two are set before */
    void *arg;
    struct children *children; /* NULL without commands */
    struct servers *servers; /* these two are NULL without wrapped servers */
    struct fetcher *fetcher;
    struct http_conf http; /* set before the first runners_open() */
    struct runner *v[TOOL_RUN_COUNT]; /* NULL: no tool of that kind was ever served */
};

/* Opens what the roster needs and is not open yet, and tells the slots. threads: of handlers. */
void runners_open(struct runners *all, struct event_base *base, struct slots *slots,
                  const struct roster *roster, unsigned threads);
/* The wrapped servers are these from now on. */
void runners_serve(struct runners *all, struct event_base *base, const struct tools *tools);
void runners_close(struct runners *all); /* before the slots; ends what still runs */
/* A handler still runs and may touch anything: the process can only end as it stands. */
bool runners_are_deaf(const struct runners *all);
