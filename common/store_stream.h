/* store_stream.h - event streams in Redis: who holds one, what it carried, where it goes on.
 *
 * A stream is a session's GET stream, a waiting tasks/result, or a plain call. Which of them
 * carries a message of a task is decided in Redis, in the step that makes the message, so two
 * brokers can never both send it. What a stream carried is kept for a while: any broker can go on
 * where another one stopped.
 */
#pragma once

#include "common/store.h"

enum {
    STREAM_ID_LEN = 8,
    STREAM_LIVE_MS = 10 * 60 * 1000, /* without renewal */
    STREAM_DROPPED_MS = 5 * 60 * 1000, /* after its client left */
};

enum store_stream_kind { STREAM_GET = 'g', STREAM_RESULT = 'r', STREAM_CALL = 'c' };

struct store_stream {
    struct span id; /* from id_short() */
    enum store_stream_kind kind;
    struct span session; /* empty: the stateless dialect */
    struct span owner;
    struct span task; /* empty: GET */
    struct span request; /* raw JSON-RPC id that it answers; empty: GET */
};

/* One thing a stream carried: a whole JSON-RPC message, or a task whose status is to be told. */
struct store_stream_event {
    struct span entry; /* its place in the stream: "<ms>-<n>"; grows */
    bool is_task;
    struct span data; /* the message, when it is one */
    struct task task; /* else */
};

/* stream is filled in by resume only. gap: what followed was no longer all there. */
typedef void store_stream_fn(void *arg, enum err e, const struct store_stream *stream, bool gap,
                             const struct store_stream_event *events, size_t count);

/* This process holds the stream now; outstanding questions of its task come back as events, asked
 * again under fresh ids. ERR_NOT_FOUND: the session or task is not that owner's. */
void store_stream_open(struct store *s, const struct store_stream *stream, store_stream_fn *fn,
                       void *arg);
/* Goes on after an entry ("0": from the start). ERR_NOT_FOUND: no such stream of that session and
 * owner. */
void store_stream_resume(struct store *s, struct span id, struct span last, struct span session,
                         struct span owner, store_stream_fn *fn, void *arg);
/* What followed an entry; for a process that may have missed messages. */
void store_stream_read(struct store *s, unsigned partition, struct span id, struct span last,
                       store_stream_fn *fn, void *arg);
/* Renews up to 64 streams of one partition; lost: those that are another process's now. */
typedef void store_stream_lost_fn(void *arg, enum err e, const struct span *lost, size_t count);
void store_stream_keep(struct store *s, unsigned partition, const struct span *ids, size_t count,
                       store_stream_lost_fn *fn, void *arg);
/* The client left, or the stream has ended: its record stays for ttl_ms. Best effort. */
void store_stream_drop(struct store *s, unsigned partition, struct span id, uint64_t ttl_ms);
