/* store_job.h - the worker's side of tasks: claim, unclaim, beat, report, finish, retry, release.
 *
 * Every call but claim and unclaim names (id, fence): what a worker says after its fence is gone
 * changes nothing. All calls of one batch go to one partition, for a batch is one atomic function.
 */
#pragma once

#include "common/store.h"

enum { STORE_BATCH_MAX = 64 };

struct store_job {
    struct span id;
    uint64_t fence;
    unsigned attempt; /* from 1; a released job keeps its number */
    unsigned attempts; /* at most */
    uint64_t ttl_ms; /* until the task expires, by Redis's clock */
    struct span tool;
    struct span params;
    struct span caller;
    struct span trace;
    struct span token; /* raw progress token, or empty */
    struct span handle; /* what the runner stored in an earlier attempt, or empty */
    struct span caps; /* capabilities of the creating client, raw, or empty */
    bool hidden; /* a plain call */
    char dialect; /* of the creator: 'L' or 'M' */
    uint64_t ask_ms; /* how long a question may stay unanswered; 0: not said */
    uint64_t age_ms; /* since the task's creation, by Redis's clock */
};

struct store_worker {
    struct span wid; /* the process's short id */
    struct span pool; /* digest of the set of tools it serves: workers that share the same */
    const struct span *tools;
    size_t tool_count;
    uint64_t lease_ms;
};

/* Up to n ready jobs, best priority first. Fewer than n: this worker is registered idle in the
 * same step and is woken (STORE_EV_WAKE) when something comes. n == 0: passes a wake-up on to
 * another idle worker if anything is ready. Jobs are borrowed during the callback. */
typedef void store_claim_fn(void *arg, enum err e, const struct store_job *jobs, size_t count);
/* The answer is the claim's number, for store_unclaim(). */
uint64_t store_claim(struct store *s, unsigned partition, const struct store_worker *w, unsigned n,
                     store_claim_fn *fn, void *arg);

/* The answer of that claim, or of that finish which claimed, was lost, and it was the last here:
 * what it may have taken is handed back, and no attempt is charged. count: how many. Until it is
 * answered, that worker claims nothing more in that partition. */
typedef void store_unclaim_fn(void *arg, enum err e, uint64_t count);
void store_unclaim(struct store *s, unsigned partition, const struct store_worker *w,
                   uint64_t number, store_unclaim_fn *fn, void *arg);

enum store_verdict {
    STORE_V_OK,
    STORE_V_DONE, /* this very attempt had already ended it: a lost reply, drop it */
    STORE_V_STALE, /* another attempt holds it */
    STORE_V_ENDED, /* it has ended otherwise: cancelled, ... */
    STORE_V_GONE, /* expired */
    STORE_V_DEAD, /* retry: that was the last attempt */
};

struct store_outcome {
    struct span id;
    uint64_t fence;
    enum task_state state; /* TASK_RESULT or TASK_ERROR */
    bool is_error;
    struct span message; /* statusMessage */
    struct span outcome; /* raw result, or raw error object */
    bool dead; /* also a dead letter (never asked for by a runner's own result) */
};
/* Ends up to STORE_BATCH_MAX tasks and claims up to n more in the same step. The answer is the
 * number of that claim. */
typedef void store_finish_fn(void *arg, enum err e, const enum store_verdict *verdicts,
                             size_t count, const struct store_job *jobs, size_t job_count);
uint64_t store_finish(struct store *s, unsigned partition, const struct store_worker *w,
                      const struct store_outcome *outcomes, size_t count, unsigned n,
                      store_finish_fn *fn, void *arg);

struct store_held {
    struct span id;
    uint64_t fence;
};
/* Renews every lease held in this partition. lost: the ids to abandon, borrowed. */
typedef void store_beat_fn(void *arg, enum err e, const struct span *lost, size_t count);
void store_beat(struct store *s, unsigned partition, const struct store_worker *w,
                const struct store_held *held, size_t count, store_beat_fn *fn, void *arg);

typedef void store_verdict_fn(void *arg, enum err e, enum store_verdict v);
/* message: new statusMessage ({NULL, 0}: unchanged); progress: a raw JSON object, likewise; value:
 * the number in it as text, or empty. A client that gave a token is sent it while value grows. */
void store_report(struct store *s, const struct store_held *h, struct span message,
                  struct span progress, struct span value, store_verdict_fn *fn, void *arg);
/* A log line for the client, sent if its level is wanted: level is one of MCP's eight names, logger
 * a raw JSON string or empty, data raw JSON. */
void store_log(struct store *s, const struct store_held *h, struct span level, struct span logger,
               struct span data, store_verdict_fn *fn, void *arg);
/* The runner's handle of outside work, stored before anything else happens. */
void store_handle(struct store *s, const struct store_held *h, struct span handle,
                  store_verdict_fn *fn, void *arg);
/* This attempt failed in passing: run it again after delay_ms, or, when it was the last, end it
 * with `error` (raw JSON-RPC error object) and make a dead letter. */
void store_retry(struct store *s, const struct store_held *h, uint64_t delay_ms,
                 struct span message, struct span error, store_verdict_fn *fn, void *arg);
/* Handed back unfinished by a draining worker: at the head of its queue, attempt not charged. */
void store_release(struct store *s, unsigned partition, const struct store_held *held, size_t count,
                   store_verdict_fn *fn, void *arg);

/* A question of a running job, under a key of its own: any text without line breaks. If the key was
 * asked before with the same content and is answered, answer is what was said (a re-run gets it at
 * once); else the task is input_required and STORE_EV_INPUT comes. hosted: the client makes a task
 * of it; what it says to the question itself is the answer, but the task stays input_required until
 * store_unask gives the final one. ERR_CONFLICT: the key stands for another question; ERR_LIMIT:
 * this task has too many. */
typedef void store_ask_fn(void *arg, enum err e, enum store_verdict v, struct span answer);
void store_ask(struct store *s, const struct store_held *h, struct span key, struct span method,
               struct span params, bool hosted, store_ask_fn *fn, void *arg);
/* The job waits for this question no longer. answer: the final one, kept for a re-run; empty: it
 * gave up, and the question and any answer are forgotten. */
void store_unask(struct store *s, const struct store_held *h, struct span key, struct span answer,
                 store_verdict_fn *fn, void *arg);

/* For the store_*.c modules only: an answer that is a verdict. */
struct redisReply;
bool store_read_verdict(const struct redisReply *r, enum store_verdict *out);
