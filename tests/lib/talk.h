/* talk.h - what a job and its client say to each other: more of moves.h, and what went where. */
#pragma once

#include "tests/lib/moves.h"

/* Streams, sessions and processes have short names in tests: the functions do not mind. */
bool move_log(struct lua *l, const char *id, unsigned fence, const char *level, const char *data);
/* An elicitation that the client makes a task of. */
bool move_host(struct lua *l, const char *id, unsigned fence, const char *key, const char *params);
bool move_unask(struct lua *l, const char *id, unsigned fence, const char *key, const char *answer);
/* The answer of a session. */
bool move_reply(struct lua *l, const char *id, const char *session, const char *key,
                const char *answer);
bool move_questions(struct lua *l, const char *id, const char *owner);
bool move_promote(struct lua *l, const char *id, const char *owner);

bool move_session(struct lua *l, const char *id, const char *owner);
/* A process holds a new stream of OWNER's. session: NULL for none; task: NULL for a GET stream. */
bool move_open(struct lua *l, const char *stream, char kind, const char *session, const char *task,
               const char *process);
bool move_resume(struct lua *l, const char *stream, const char *last, const char *session,
                 const char *process);
bool move_read(struct lua *l, const char *stream, const char *last);
bool move_drop(struct lua *l, const char *stream, const char *process, uint64_t ttl);
/* A session of OWNER's watches a resource of the server "docs": 2 at most, for a minute. */
bool move_watch(struct lua *l, const char *session, const char *uri);

/* How many events a stream has carried, and what the n-th was, from 0: "none" if there is none. */
size_t carried(struct lua *l, const char *stream);
const char *carried_at(struct lua *l, const char *stream, size_t n);
/* Its entry: good until the call after the next. */
const char *entry_at(struct lua *l, const char *stream, size_t n);
/* A task of OWNER's in session "s1" that runs: its fence. */
unsigned talking(struct lua *l, const char *id);
