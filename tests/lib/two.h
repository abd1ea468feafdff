/* two.h - two brokers on one Redis, and what they are told of tasks. */
#pragma once

#include "common/id.h"
#include "common/store_task.h"
#include "tests/lib/kit.h"

/* The one pair of a test program. */
extern struct two {
    struct kit kit;
    struct kit_store a;
    struct kit_store b;
} two;

struct two_got {
    struct kit_answer a;
    struct task task; /* only its numbers; the texts are below */
    bool repeated;
    uint64_t retry_ms;
    char id[KIT_TEXT];
    char message[KIT_TEXT];
    char tool[KIT_TEXT];
    char outcome[KIT_TEXT];
    size_t outcome_n;
    bool has_outcome;
    unsigned jobs;
    uint64_t fence;
    unsigned count; /* of a list */
    bool more;
    char ids[64][ID_LEN + 1];
    uint64_t seqs[64];
    uint64_t next_ms;
};

#define TWO_OWNER SPAN("ownerownerowner1")
#define TWO_OTHER SPAN("ownerownerowner2")

bool two_start(unsigned partitions);
void two_stop(void);
/* A new id in the partition of that owner, static until 8 more were made. */
struct span two_id(struct span owner);
/* A task of that owner, with a new id. */
struct store_create two_plan(struct span owner);
void two_on_task(void *arg, enum err e, const struct store_result *r); /* arg: struct two_got */
bool two_create(struct kit_store *p, const struct store_create *c, struct two_got *g);
bool two_get(struct kit_store *p, struct store_get q, struct two_got *g);
