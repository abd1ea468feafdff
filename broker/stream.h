/* stream.h - the event streams that this broker holds, and their records in Redis.
 *
 *     reserved -> opening -> open -> ended
 *
 * A plain call reserves a stream when it is made, so that the first thing its job says has a place
 * to go; a waiting tasks/result and a GET begin as opening. What a stream carries is decided and
 * kept in Redis (store_stream.h), so another broker can go on where this one stops. Streams of the
 * handshake dialect carry event ids; those of the stateless one have no session and none.
 */
#pragma once

#include "broker/broker.h"
#include "common/store_stream.h"

struct stream;
struct stream_expected;

struct streams *streams_new(struct broker *b);
void streams_free(struct streams *s);

struct stream_use {
    enum store_stream_kind kind;
    const char *session; /* "" in the stateless dialect */
    const char *owner;
    unsigned partition;
    const char *task; /* "" for GET */
    struct span request; /* raw id that the stream answers; copied */
    bool tasks; /* GET: the session's revision has tasks */
};

/* on_wanted: something is to be sent on a reserved stream: start it. */
typedef void stream_wanted_fn(void *arg);
/* The client left, fell behind, or another broker took the stream: it is gone when this returns. */
typedef void stream_gone_fn(void *arg);

struct stream *stream_reserve(struct streams *s, const struct stream_use *use,
                              stream_wanted_fn *on_wanted, void *arg);
/* http is fresh or held, and consumed. */
void stream_start(struct stream *st, struct http_req *http, stream_gone_fn *on_gone, void *arg);
struct stream *stream_open(struct streams *s, const struct stream_use *use, struct http_req *http,
                           stream_gone_fn *on_gone, void *arg);
/* Goes on with a stream that another broker, or this one, had: its record was just resumed. */
struct stream *stream_resume(struct streams *s, const struct store_stream *record,
                             const char *owner, unsigned partition, bool tasks,
                             struct http_req *http, stream_gone_fn *on_gone, void *arg);
/* What the client had missed when Redis gave us the stream, and what came since. Frees x. */
void stream_replay(struct stream *st, struct stream_expected *x,
                   const struct store_stream_event *events, size_t count);

/* A visit comes back for a stream and asks Redis for it. Messages come by a way of their own: those
 * that overtake the answer are kept here, since there is no stream yet to take them. Ends in
 * stream_replay() or in stream_unexpect(). */
struct stream_expected *stream_expect(struct streams *s, struct span id, bool tasks);
void stream_unexpect(struct stream_expected *x);

const char *stream_id(const struct stream *st);
bool stream_is_started(const struct stream *st);
/* Its client has the id that it can come back with, if there is one. */
bool stream_is_open(const struct stream *st);
/* A reserved stream that is not needed. */
void stream_cancel(struct stream *st);
/* The answer its request waited for, and the end. Both free st. */
void stream_answer(struct stream *st, struct span message);
void stream_end(struct stream *st);
/* Ends the connection, not the stream: the client is told when to come back, and resumes at any
 * broker (H-12, H-13). Frees st; on_gone is not told. */
void stream_suspend(struct stream *st);

/* What Redis tells: see store.h. */
void streams_event(struct streams *s, const struct store_event *ev);
void streams_taken(struct streams *s, struct span id);
/* It carries its session's messages no longer, or again. */
void streams_silent(struct streams *s, struct span id, bool silent);
/* Its client comes back for it, maybe before we saw it leave: what we hold of it ends, without a
 * word to Redis, where the new visit takes it over. Another session's or owner's is left alone. */
void streams_supersede(struct streams *s, struct span id, const char *session, const char *owner);
void streams_session_ended(struct streams *s, struct span session);
void streams_gap(struct streams *s); /* messages may have been missed: read every stream again */
void streams_say(struct streams *s, const char *method); /* a notification without params: to each
                                                            session we hold, once (W-11) */
/* The ids of all sessions whose GET streams we hold, up to max of one partition at a time; one may
 * be told more than once. */
enum { STREAMS_BATCH_MAX = 64 };
typedef void streams_batch_fn(void *arg, unsigned partition, const struct span *ids, size_t count);
void streams_each_session(struct streams *s, size_t max, streams_batch_fn *fn, void *arg);
/* Drain, to be repeated: every GET stream but those whose record is still being made. */
void streams_suspend_all(struct streams *s);
