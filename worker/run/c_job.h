/* c_job.h - a handler's job: what errand_worker.h shows of it. Used by c.c and c_job.c only. */
#pragma once

#include "common/buf.h"
#include "common/list.h"
#include "worker/errand_worker.h"
#include "worker/run.h"

#include <pthread.h>
#include <stdatomic.h>

enum { C_ID_ROOM = 24, C_PARAMS_MAX = 1 << 20 };

struct c_runner;

/* A line of its log on the way to the loop. */
struct c_log {
    struct list node;
    char *data; /* JSON */
    char level[16];
};

/* A question on the way to the loop. */
struct c_question {
    struct list node;
    char *method;
    struct buf params;
    char id[C_ID_ROOM];
};

/* One that its handler waits for. */
struct c_answer {
    char id[C_ID_ROOM]; /* raw JSON */
    char *text; /* NULL: not yet */
};

struct errand_job {
    struct list node; /* in the queue of jobs to run, or of those that have ended */
    struct list said_node; /* in the queue of those with news */
    struct run_job *run;
    const struct errand_tool *tool;
    struct c_runner *all;
    atomic_bool cancelled;
    pthread_cond_t *sleeper; /* of a handler in errand_wait() */
    bool has_outcome;
    bool passing;
    bool is_error;
    bool rpc_error;
    struct buf result; /* or the reason of a passing failure */
    struct buf progress; /* news not yet told; under the lock, like the next */
    struct buf message;
    struct list logs; /* of struct c_log, under the lock; so are the next three */
    size_t log_count;
    struct list questions; /* of struct c_question */
    size_t open_count; /* so many of the answers are waited for */
    struct c_answer *answers;
    size_t answer_count;
    unsigned asked; /* so often */
    char **told; /* what the handler was told last */
    size_t told_count;
    unsigned urls; /* addresses it has asked for */
    char **texts; /* arguments that the handler has asked for */
    size_t text_count;
};

/* c.c: the lock of all jobs, and the news that this one has something to say. */
void c_lock(struct c_runner *all);
void c_unlock(struct c_runner *all);
void c_sleep(struct c_runner *all, pthread_cond_t *cond, uint64_t ms); /* under the lock */
void c_tell(struct errand_job *job); /* under the lock */
/* c_job.c: waits, under the lock, until that is so, the job is to stop, or ms have passed. */
void c_wait(struct errand_job *job, uint64_t ms, bool (*is_there)(const struct errand_job *job));

void c_log_free(struct c_log *line);
/* c_ask.c */
void c_question_free(struct c_question *q);
void c_answer(struct errand_job *job, struct span id, struct span answer); /* under the lock */
void c_ask_fini(struct errand_job *job);
/* Asks and waits. params is this function's from now on. */
enum errand_said c_ask(struct errand_job *job, const char *method, struct buf *params,
                       const char **answer);
/* It fails, unasked. */
enum errand_said c_refuse(struct errand_job *job, const char *why, const char **answer);
void c_job_init(struct errand_job *job);
void c_job_fini(struct errand_job *job);
