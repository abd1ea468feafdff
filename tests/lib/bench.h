/* bench.h - a private Redis and a store on it that plays the broker: creates tasks, watches them.
 */
#pragma once

#include "common/store_task.h"
#include "tests/lib/redis.h"

#include <stdbool.h>
#include <stdint.h>

struct event_base;

struct bench {
    struct test_redis redis;
    struct url url;
    struct event_base *base;
    struct store *store;
    store_event_fn *on_event; /* or NULL */
    void *arg;
};

/* A task as last read, with copies of its texts. */
struct bench_task {
    bool found;
    enum task_state state;
    bool is_error;
    uint64_t updated_ms;
    char message[2048];
    char progress[512];
    char outcome[65536];
    size_t outcome_n;
};

struct bench_create {
    const char *tool;
    const char *params; /* NULL: made of arguments */
    const char *arguments; /* NULL: {} */
    uint64_t ttl_ms; /* 0: a minute */
    uint64_t attempts; /* 0: 3 */
    const char *caller;
    const char *trace;
    const char *caps; /* of the client */
    const char *token; /* raw */
    const char *session;
    const char *stream; /* reserved for a plain call */
    char dialect; /* 0: L */
    bool hidden;
    uint64_t ask_ms;
};

void bench_start(struct bench *b, unsigned partitions);
void bench_stop(struct bench *b); /* also when the test has freed the store and set it to NULL */
/* The id of a new task, static until 64 more were made. */
const char *bench_create(struct bench *b, const struct bench_create *c);
const char *bench_call(struct bench *b, const char *tool, const char *arguments);
bool bench_read(struct bench *b, const char *id, struct bench_task *t);
/* Reads until it has ended. */
bool bench_ended(struct bench *b, const char *id, unsigned ms, struct bench_task *t);
bool bench_cancel(struct bench *b, const char *id);
/* An open question of a task with that method; waits for it. The key is static
 * until the next call, and so is what bench_params() gives. NULL: it did not come. */
const char *bench_question(struct bench *b, const char *id, const char *method, unsigned ms);
const char *bench_params(void);
unsigned bench_questions(struct bench *b, const char *id); /* how many are open */
bool bench_answer(struct bench *b, const char *id, const char *key, const char *answer);
/* A field of the task's hash, "" for none; static until the next call. */
const char *bench_field(struct bench *b, const char *id, const char *field);
/* Redis dies with its data saved, and comes back with them; both wait until the bench has seen it.
 */
void bench_redis_goes(struct bench *b);
void bench_redis_comes(struct bench *b);
