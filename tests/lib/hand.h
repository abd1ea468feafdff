/* hand.h - slots whose jobs end when the test says so. */
#pragma once

#include "tests/lib/bench.h"
#include "worker/slot.h"

enum { HAND_MAX = 256 };

struct hand {
    struct tools tools;
    struct slots *slots;
    struct runner runner;
    struct run_job *jobs[HAND_MAX]; /* started, in order; NULL once ended */
    unsigned started;
    unsigned stops;
    uint64_t stop_grace_ms; /* of the last stop */
    unsigned settled; /* times a slot became SETTLING */
    struct slot *settling; /* the last of them */
    unsigned freed; /* times a place became free */
    unsigned said;
    slots_settle_fn *on_settling; /* what else is done then, or NULL */
    slots_news_fn *on_free;
    slots_news_fn *on_taken;
    slots_said_fn *on_said;
    slots_keep_fn *on_keep; /* NULL: a handle is kept at once */
    unsigned kept;
    void *arg;
};

/* One tool "run"; more: further members of its declaration, beginning with a comma, or "". */
void hand_open(struct hand *h, unsigned count, const char *more);
void hand_close(struct hand *h);
/* Takes a job of that id (24 characters) and fence in partition 0. */
struct slot *hand_take(struct hand *h, const char *id, uint64_t fence, uint64_t ttl_ms);
/* Claims for real, as the worker of the bench, what of at most n is ready in that partition; how
 * many came. */
unsigned hand_claim(struct hand *h, struct bench *b, unsigned partition, unsigned n);
void hand_end(struct hand *h, unsigned job, const char *result, bool is_error);
/* With a JSON-RPC error object. */
void hand_end_error(struct hand *h, unsigned job, const char *error);
void hand_fail(struct hand *h, unsigned job, const char *why);
