/* moves.h - the functions that move tasks, with the arguments a test seldom cares for left out.
 *
 * Each makes one call and leaves its answer in l->r, as lua_do does. Fields that are 0 or NULL
 * have the value in brackets.
 */
#pragma once

#include "tests/lib/lua.h"

#define ID(n) "AA000000000000000000000" #n /* n: one character */
#define OWNER "owner-aaaaaaaaaa"
#define OTHER "owner-bbbbbbbbbb"

struct new_task {
    const char *id;
    const char *owner; /* [OWNER] */
    const char *tool; /* ["t"] */
    unsigned priority; /* class 0..3 */
    uint64_t ttl; /* [60000] */
    uint64_t poll;
    uint64_t max_active;
    uint64_t max_running;
    uint64_t attempts; /* [3] */
    uint64_t rate;
    bool hidden;
    char dialect; /* ['L'] */
    const char *bid, *session, *idem, *digest, *token, *caller, *trace, *caps, *request;
    const char *params; /* ["{}"] */
    const char *outcome;
    bool is_error;
    const char *message;
    const char *stream, *level;
    uint64_t ask_ms;
};
bool move_create(struct lua *l, const struct new_task *t);
void say_create(struct lua *l, const struct new_task *t); /* all but lua_go */

struct hand {
    const char *wid; /* ["w1"] */
    const char *pool; /* ["p"] */
    const char *tools[4]; /* [{"t"}] */
    uint64_t lease; /* [60000] */
    bool reversed;
    unsigned number; /* of the claim */
};
bool move_claim(struct lua *l, const struct hand *h, unsigned n);
bool move_unclaim(struct lua *l, const char *wid, unsigned number);
/* claim of one with the usual hand; its fence, 0: nothing came. */
unsigned move_take(struct lua *l, const char *id);

struct end {
    const char *id;
    unsigned fence;
    char state; /* ['r'] */
    bool is_error;
    const char *message;
    const char *outcome; /* ["{}"] */
    bool dead;
};
bool move_finish(struct lua *l, const struct hand *h, const struct end *ends, size_t count,
                 unsigned n);
/* One outcome, nothing claimed; the verdict. */
const char *move_end(struct lua *l, const char *id, unsigned fence, const char *outcome);

bool move_beat(struct lua *l, const char *id, unsigned fence, uint64_t lease);
bool move_report(struct lua *l, const char *id, unsigned fence, const char *message,
                 const char *progress); /* NULL: not said; the number in it is its value */
bool move_handle(struct lua *l, const char *id, unsigned fence, const char *handle);
bool move_abandoned(struct lua *l, const char *tool, const char *line); /* NULL: forgets none */
bool move_hook(struct lua *l, const char *id, const char *body);
bool move_heard(struct lua *l, const char *id, unsigned fence, unsigned forget);
bool move_retry(struct lua *l, const char *id, unsigned fence, uint64_t delay);
bool move_release(struct lua *l, const char *id, unsigned fence);
/* An elicitation with these params. */
bool move_ask(struct lua *l, const char *id, unsigned fence, const char *key, const char *params);
/* In the stateless dialect. */
bool move_answer(struct lua *l, const char *id, const char *owner, const char *key,
                 const char *answer);
bool move_get(struct lua *l, const char *id, const char *owner, const char *bid);
bool move_cancel(struct lua *l, const char *id, const char *owner);
bool move_list(struct lua *l, const char *owner, uint64_t after, unsigned count);
bool move_tick(struct lua *l);

/* What time would bring: the lease lapses, the delay is over (both wait for a tick); the task
 * expires (its hash is gone, a tick cleans up). */
void lapse(struct lua *l, const char *id);
void come_due(struct lua *l, const char *id);
void expire(struct lua *l, const char *id, const char *owner);

/* A field of a task; "nil" when it is not there. */
const char *field(struct lua *l, const char *id, const char *name);
bool field_is(struct lua *l, const char *id, const char *name, const char *value);
/* Where a task stands: "ready", "running", "delayed", "parked", "ended", "gone", or
 * "lost": nowhere. */
const char *place(struct lua *l, const char *id);
bool is_at(struct lua *l, const char *id, const char *where);
