/* slot.h - the tasks that this worker has in hand.
 *
 * A slot is one claimed task from its claim until Redis has taken what became of it. Two things
 * go on in it, each with a table of its moves:
 *
 *     the run     RUNNING -> STOPPING -> STILL      does anything of the job still run?
 *     the hold    HELD -> SETTLING -> GONE          is the task ours, and what is it told?
 *
 * Happy path: slots_take -> the runner ends -> SETTLING, on_settling() -> slot_settled() -> freed.
 * Otherwise:  cancelled, expired, fence lost   GONE at once; freed when nothing runs any more
 *             timeout                          stopped; then SETTLING with a result that says so
 *             drain, lease not renewed         stopped; then SETTLING as a release
 *             failed in passing                SETTLING as a retry
 * A run that is not STILL takes one of the worker's places, whatever its hold, unless it waits for
 * the answer to a question.
 */
#pragma once

#include "common/buf.h"
#include "common/list.h"
#include "common/map.h"
#include "common/sm.h"
#include "common/store_job.h"
#include "common/trace.h"
#include "worker/run.h"
#include "worker/tools.h"

struct slots;

enum slot_run { SLOT_RUNNING, SLOT_STOPPING, SLOT_STILL };
enum slot_hold { SLOT_HELD, SLOT_SETTLING, SLOT_GONE };

/* What is made of a job when it has ended. */
enum slot_fate {
    SLOT_COUNTS, /* what its runner says */
    SLOT_TIMED_OUT, /* a result that says so */
    SLOT_HANDED_BACK,
    SLOT_DROPPED, /* nothing: the task is not ours any more */
};

/* The handle of work elsewhere. */
enum slot_outside { SLOT_NONE, SLOT_UNKEPT, SLOT_KEEPING, SLOT_KEPT };

/* What Redis is to be told while SETTLING. */
enum slot_verb { SLOT_FINISH, SLOT_RETRY, SLOT_RELEASE };

struct slot {
    struct slots *all;
    struct list node; /* among all */
    struct list out; /* in the queue of who tells Redis */
    struct map_node by_id;
    struct run_job job;
    struct tool *tool; /* held; NULL: none of that name */
    struct trace trace; /* of this execution; empty when the task has none */
    char parent[TRACE_SPAN_LEN + 1]; /* where the task was made */
    char trace_text[TRACE_TEXT_LEN + 1]; /* what job.trace points at */
    struct sm run;
    struct sm hold;
    enum slot_fate fate;
    enum run_stop dropped; /* with SLOT_DROPPED */
    enum slot_verb verb;
    unsigned partition;
    uint64_t fence;
    unsigned attempts;
    uint64_t began_ms; /* monotonic, like those below */
    uint64_t leased_ms; /* when the newest renewal that came through was sent */
    uint64_t expires_ms;
    uint64_t timeout_ms; /* 0: none */
    uint64_t stopped_ms; /* when it should be still */
    bool is_deaf; /* and was not */
    bool is_error; /* with FINISH */
    bool is_rpc_error; /* with FINISH: the outcome is a JSON-RPC error object */
    struct buf outcome; /* FINISH: the result. RETRY: why */
    /* report.c's: what was said and is not yet told */
    struct buf message;
    struct buf progress;
    bool has_news;
    bool is_telling; /* a report is under way */
    bool is_ending; /* a retry or a release is: one answer of Redis frees the slot */
    uint64_t told_ms;
    double told_progress; /* the highest so far: it only grows */
    bool has_told_progress;
    /* log.c's */
    uint64_t logs_since_ms;
    unsigned logs;
    unsigned logs_dropped;
    /* What may be asked, and ask.c's */
    struct span caps; /* of the creating client, raw, or empty */
    bool is_hidden; /* a plain call: the client does not know the task's id */
    char dialect;
    uint64_t ask_ms;
    struct asking *asking; /* NULL: it has asked nothing */
    bool is_waiting; /* for people: it takes no place */
    /* outside.c's */
    struct buf handle; /* to be kept */
    enum slot_outside keeping;
    bool is_listening;
    bool is_looking;
    bool looks_again;
    uint64_t heard; /* bytes of callbacks that decided nothing */
    char *text; /* the bytes that job points at */
};

/* A slot is SETTLING: tell Redis, and then call slot_settled(). A place is free: claim. */
typedef void slots_settle_fn(void *arg, struct slot *s);
typedef void slots_news_fn(void *arg);
typedef void slots_said_fn(void *arg, struct slot *s, struct span message, struct span progress);
typedef void slots_logged_fn(void *arg, struct slot *s, struct span level, struct span logger,
                             struct span data);
typedef void slots_asked_fn(void *arg, struct slot *s, struct span id, struct span method,
                            struct span params);
typedef void slots_withdrew_fn(void *arg, struct slot *s, struct span id);
typedef void slots_hushed_fn(void *arg, struct slot *s);
typedef void slots_keep_fn(void *arg, struct slot *s, struct span handle);

struct slots_conf {
    unsigned count;
    uint64_t lease_ms;
    const struct tools *tools; /* where a job's tool is looked up; outlive the slots */
    slots_settle_fn *on_settling;
    slots_news_fn *on_free;
    slots_news_fn *on_taken; /* there is one more: watch its deadlines */
    slots_said_fn *on_said; /* this and the next four may be NULL */
    slots_logged_fn *on_logged;
    slots_asked_fn *on_asked;
    slots_withdrew_fn *on_withdrew;
    slots_hushed_fn *on_hushed; /* its questions count no more; may come twice */
    slots_keep_fn *on_keep; /* NULL: a handle is kept at once */
    slots_hushed_fn *on_listen;
    void *arg;
};

struct slots *slots_new(const struct slots_conf *conf);
/* Who runs the tools of one kind; owned by the caller, outlives the slots. */
void slots_runner(struct slots *all, enum tool_run kind, struct runner *r);
extern const struct run_sink slots_sink; /* for the runners */
/* Forgets what is left; before the queues that slots stand in are freed, and after the runners. */
void slots_free(struct slots *all);

/* Places that are free. Jobs that wait for people take none, but no more than
 * RUN_WAITING_FACTOR times the places are ever busy. */
unsigned slots_room(const struct slots *all);
unsigned slots_busy(const struct slots *all);
unsigned slots_count(const struct slots *all); /* of slots: busy, or not yet settled */
struct list *slots_list(struct slots *all); /* of struct slot by node; LIST_EACH may free it */
/* sent_ms: when the claim was sent, by the monotonic clock. */
void slots_take(struct slots *all, const struct store_job *job, unsigned partition,
                uint64_t sent_ms);
struct slot *slots_find(const struct slots *all, struct span id, uint64_t fence);
/* An attempt of that task: the one that is held, else one that is ours, when there are several. */
struct slot *slots_find_id(const struct slots *all, struct span id);

struct store_held slot_held(const struct slot *s);
/* It waits for nothing but people, or goes on. */
void slot_waits(struct slot *s, bool is_waiting);
/* What it asked is answered (run.h). */
void slot_answer(struct slot *s, struct span id, struct span answer);
/* Its handle is in Redis (run.h). */
void slot_kept(struct slot *s);
/* A callback; true: it has decided, or is of no use any more. */
bool slot_called(struct slot *s, struct span body);
bool slot_is_ours(const struct slot *s); /* HELD or SETTLING: its lease is to be renewed */
void slot_renewed(struct slot *s, uint64_t sent_ms);
/* Stops the job and decides what is made of it. Once decided, only SLOT_DROPPED overrides. */
void slot_stop(struct slot *s, enum slot_fate fate, uint64_t grace_ms);
/* The task is not ours any more: no outcome of it will count. why: does another worker have it? */
void slot_drop(struct slot *s, enum run_stop why);
/* Its runner was told to stop and should be still by now: it is a handler that does not listen. A
 * timeout is told to Redis all the same. */
void slot_is_late(struct slot *s);
/* Redis has been told. Frees the slot, or leaves it to the runner that does not stop. */
void slot_settled(struct slot *s);
