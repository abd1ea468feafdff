/* registry.h - the tools that live workers announce.
 *
 * A worker announces what it serves and repeats it as a heartbeat; brokers read the list and drop
 * a tool that nobody has announced for the grace period. Of two definitions under one name the
 * one read last (by its worker, at its start or since) is listed; both sides are told of the
 * conflict.
 */
#pragma once

#include "common/store.h"

struct registry_tool {
    struct span name;
    struct span definition; /* the MCP Tool object, raw, without "execution" */
    struct span policy; /* JSON: {"taskSupport":"optional","ttl":ms,"pollInterval":ms,
                           "promoteAfter":ms,"attempts":n,"priority":"normal","timeout":ms,
                           "requires":{...},"immediateResponse":"..."} */
    uint64_t seen_ms_ago; /* by Redis's clock; reading only */
    bool conflict; /* two live workers differ; reading only */
};

struct registry_worker {
    struct span wid;
    struct span pool;
    struct span info; /* JSON: {"host":...,"pid":...,"slots":...,"busy":...,"version":...} */
    uint64_t started_ms;
    uint64_t seen_ms_ago; /* reading only */
};

/* Beside tools a worker announces each MCP server that it wraps, as the name '@' and the server's:
 * what it offers but tools. policy: {"prefix":"every_","timeout":ms,"attempts":n,"capabilities":
 * {...}}, of these resources, prompts and completions as the server declared them. definition:
 * {"resources":[...],"resourceTemplates":[...],"prompts":[...]}, the server's own items, prompts
 * with the prefix before their names. Its jobs are {"method":...,"params":{...}}. */

/* A resource that somebody watches. */
struct registry_wanted {
    struct span server;
    struct span uri;
};

/* What an announcement brings back. Borrowed. */
struct registry_announced {
    const struct span *conflicts; /* names whose listed definition is another worker's */
    size_t conflict_count;
    const struct registry_wanted *wanted; /* of the servers that are listed as this worker's own;
                                             together, for each server */
    size_t wanted_count;
};
/* r is never NULL; when e is not ERR_OK it is empty, and nothing is known. */
typedef void registry_announce_fn(void *arg, enum err e, const struct registry_announced *r);
void registry_announce(struct store *s, const struct registry_worker *w,
                       const struct registry_tool *tools, size_t count, registry_announce_fn *fn,
                       void *arg);
/* The worker leaves in good order: its tools are not kept alive by it any more. */
void registry_leave(struct store *s, struct span wid);

/* Every tool seen within grace_ms, sorted by name (deterministic: C-02). mark: changes when the
 * list, a definition or a conflict does; give the last one, or {NULL, 0}, and the answer to the
 * same is ERR_EXISTS, cheaply. */
enum { REGISTRY_MARK_LEN = 40 };
typedef void registry_read_fn(void *arg, enum err e, const struct registry_tool *tools,
                              size_t count, struct span mark);
void registry_read(struct store *s, uint64_t grace_ms, struct span known, registry_read_fn *fn,
                   void *arg);

typedef void registry_workers_fn(void *arg, enum err e, const struct registry_worker *w,
                                 size_t count);
void registry_workers(struct store *s, registry_workers_fn *fn, void *arg);

enum {
    REGISTRY_URI_MAX = 2048, /* of a resource that is watched */
    REGISTRY_WANT_MAX = 1024, /* watched resources of one server */
    REGISTRY_WANT_MS = 180 * 1000, /* how long brokers ask for at a time; every minute */
};

/* A broker: these resources of a server are watched for an owner for the next REGISTRY_WANT_MS; at
 * most 128 a call. ERR_LIMIT when REGISTRY_WANT_MAX others are, or three quarters of that and this
 * owner has more than a quarter. Workers are told of new ones (STORE_EV_WANTED), and
 * get the list with their next announcement. */
typedef void registry_want_fn(void *arg, enum err e);
void registry_want(struct store *s, struct span owner, struct span server, const struct span *uris,
                   size_t count, registry_want_fn *fn, void *arg);
/* The same of any owners and servers; watches: owner, server and uri in turn, those of one owner
 * and server best together. Nobody is told what became of it: it is asked for again every minute.
 */
void registry_want_all(struct store *s, const struct span *watches, size_t count);

/* A worker: a resource of a server has changed. Sessions that watch it, or a whole that it is a
 * part of, are told on their streams; every broker gets STORE_EV_UPDATED. While Redis is away that
 * waits; what comes again before it was told, or in the second after that, is told once more when
 * that second is over, and no oftener. */
void registry_updated(struct store *s, struct span server, struct span uri);
void registry_tell_changes(struct store *s); /* goes on with what waits; announcing does it too */
/* Is the resource the one that is watched, or a part of it? */
bool registry_is_part(struct span uri, struct span watched);
