/* store_task.h - the broker's side of tasks: create, read and wait, list, cancel, answer.
 *
 * Every call is one atomic function in Redis. Callbacks are told exactly once, later. `limit` is
 * the principal's rate (per 1000 s; 0 is none): shared by all brokers, counted in the same call;
 * over it the call ends with ERR_RATE and r->retry_ms. A foreign task and an unknown one are both
 * ERR_NOT_FOUND, by the same path.
 */
#pragma once

#include "common/store.h"

struct store_create {
    struct span id; /* from id_new(); the same id may be sent again after a lost reply */
    struct span owner; /* owner key */
    struct span tool;
    enum task_priority priority;
    uint64_t ttl_ms;
    uint64_t poll_ms;
    uint64_t max_active; /* 0: no limit; over it ERR_LIMIT */
    uint64_t max_running; /* 0: no limit; over it the task is parked */
    uint64_t attempts;
    uint64_t limit; /* rate */
    bool hidden; /* a plain call */
    char dialect;
    bool wait; /* register this broker's interest in the same step */
    struct span session; /* or empty */
    struct span params; /* raw bytes, as the client sent them */
    struct span idem; /* digest of the idempotency key, or empty */
    struct span idem_args; /* digest of tool and arguments, compared on a repeat */
    struct span token; /* raw progress token, or empty */
    struct span caller; /* JSON {"name":...,"scopes":[...]} for the runner */
    struct span trace; /* traceparent, or empty */
    struct span caps; /* the client's capabilities, raw, or empty */
    struct span request; /* raw JSON-RPC id of a plain call, or empty */
    struct span outcome; /* not empty: the task is created already ended with this result */
    bool outcome_is_error; /* of that result */
    struct span message; /* statusMessage of that end */
    struct span stream; /* id of the stream reserved for a plain call, or empty */
    struct span level; /* the least level of log lines that the call asked for (stateless dialect),
                          or empty */
    uint64_t ask_ms; /* how long a question may stay unanswered; 0: the worker's own limit */
};

struct store_result {
    struct task task; /* when the call gives one; the id of a repeated create may be another */
    uint64_t retry_ms; /* ERR_RATE */
    bool repeated; /* create: the idempotency key or id was known */
};
/* r is never NULL; its task is only filled in when e is ERR_OK (cancel: also ERR_TERMINAL). */
typedef void store_task_fn(void *arg, enum err e, const struct store_result *r);

/* ERR_LIMIT, ERR_RATE, ERR_CONFLICT (idempotency key with other arguments), ERR_OUT_OF_SPACE. */
void store_create(struct store *s, const struct store_create *c, store_task_fn *fn, void *arg);

struct store_get {
    struct span id; /* must have passed id_parse() */
    struct span owner;
    uint64_t limit;
    bool wait; /* not terminal yet: register this broker's interest atomically with the read */
    bool outcome; /* send the outcome along when there is one */
    bool brief; /* with outcome: of a task that goes on, only its state, dialect, expiry and whether
                   it is hidden are asked for; the rest of it is empty */
    bool hidden_too; /* a plain call of our own (the broker's own waiters); else not found */
};
void store_get(struct store *s, const struct store_get *g, store_task_fn *fn, void *arg);

void store_cancel(struct store *s, struct span id, struct span owner, uint64_t limit,
                  bool hidden_too, store_task_fn *fn, void *arg);

/* Ascending by creation, after a sequence number; up to `count`, and none only when there are none;
 * more: others may follow. */
typedef void store_list_fn(void *arg, enum err e, const struct task *tasks, size_t count, bool more,
                           uint64_t retry_ms);
void store_list(struct store *s, struct span owner, uint64_t after_seq, unsigned count,
                uint64_t limit, store_list_fn *fn, void *arg);

/* The answer to a question of a running job; session: the one that was asked, empty in the
 * stateless dialect. ERR_NOT_FOUND, also when that session was not asked; ERR_CONFLICT when that
 * key is not outstanding (any more). */
void store_answer(struct store *s, struct span id, struct span owner, struct span session,
                  struct span key, struct span answer, store_task_fn *fn, void *arg);

struct store_question {
    struct span key;
    struct span method;
    struct span params; /* raw, or empty */
};
/* Every question of a task that is not answered yet. */
typedef void store_questions_fn(void *arg, enum err e, const struct store_question *q,
                                size_t count);
void store_questions(struct store *s, struct span id, struct span owner, store_questions_fn *fn,
                     void *arg);

/* A plain call becomes a listed task. ERR_TERMINAL: it has ended and stays hidden; r has it. */
void store_promote(struct store *s, struct span id, struct span owner, store_task_fn *fn,
                   void *arg);

/* Counts operations against the rate of a principal that no other call counts: all of them or, over
 * the rate, none. */
typedef void store_done_fn(void *arg, enum err e, uint64_t retry_ms);
void store_throttle(struct store *s, struct span owner, uint64_t limit, unsigned count,
                    store_done_fn *fn, void *arg);

/* Due work of one partition (delayed, lapsed leases, expired): any process may do it, often.
 * next_ms: until something is due, at most 1000. Also kept up by workers. */
typedef void store_tick_fn(void *arg, enum err e, uint64_t next_ms, unsigned done);
void store_tick(struct store *s, unsigned partition, store_tick_fn *fn, void *arg);
