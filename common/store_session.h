/* store_session.h - sessions of the handshake dialect: any broker serves any session. */
#pragma once

#include "common/store.h"

struct session {
    struct span id;
    struct span owner; /* owner key of the principal that made it */
    struct span version; /* negotiated, "2025-11-25" */
    struct span capabilities; /* the client's, raw JSON */
    struct span client; /* clientInfo, raw JSON */
    struct span level; /* logging level or empty */
    bool initialized;
};

typedef void session_fn(void *arg, enum err e, const struct session *s); /* ERR_NOT_FOUND */
typedef void session_done_fn(void *arg, enum err e);

/* The id is made by the caller (id_new in the owner's partition). Lives ttl_ms after its last use
 * (renewed at most once a minute). Counts as one operation against limit, the owner's rate per
 * 1000 s: ERR_RATE, try again after retry_ms. Of an owner that has SESSION_MAX others, the one that
 * has been idle for longest ends. */
enum { SESSION_MAX = 10000 };
typedef void session_made_fn(void *arg, enum err e, uint64_t retry_ms);
void session_create(struct store *s, const struct session *session, uint64_t ttl_ms, uint64_t limit,
                    session_made_fn *fn, void *arg);
/* ERR_NOT_FOUND also when it is another owner's (H-35). */
void session_read(struct store *s, struct span id, struct span owner, uint64_t ttl_ms,
                  session_fn *fn, void *arg);
void session_initialized(struct store *s, struct span id, session_done_fn *fn, void *arg);
void session_set_level(struct store *s, struct span id, struct span level, session_done_fn *fn,
                       void *arg);
/* The session is to be told when a resource of a wrapped server changes. ERR_LIMIT when it watches
 * SESSION_WATCH_MAX others; ERR_NOT_FOUND: no such session of that owner. Kept for ttl_ms, and as
 * long again each time session_watches() asks. */
enum { SESSION_WATCH_MAX = 128, SESSION_BATCH = 16 };
void session_watch(struct store *s, struct span id, struct span owner, struct span server,
                   struct span uri, uint64_t ttl_ms, session_done_fn *fn, void *arg);
/* ERR_NOT_FOUND when it was not. */
void session_unwatch(struct store *s, struct span id, struct span uri, session_done_fn *fn,
                     void *arg);
/* What up to SESSION_BATCH sessions of one partition watch: owner, server and uri in turn. */
typedef void session_watches_fn(void *arg, enum err e, const struct span *watches, size_t count);
void session_watches(struct store *s, unsigned partition, const struct span *ids, size_t count,
                     uint64_t ttl_ms, session_watches_fn *fn, void *arg);
/* Ends it for every broker at once (STORE_EV_SESSION_ENDED). Its tasks live on (H-30). */
void session_end(struct store *s, struct span id, struct span owner, session_done_fn *fn,
                 void *arg);
