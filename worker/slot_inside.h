/* slot_inside.h - the set of slots, shared by slot.c, slot_talk.c and slot_trace.c only. */
#pragma once

#include "worker/slot.h"

struct slots {
    struct slots_conf conf;
    struct runner *runners[TOOL_RUN_COUNT];
    struct list list;
    struct map by_id;
    unsigned n;
    unsigned busy;
    unsigned waiting;
};

void slot_on_ended(struct run_job *job, const struct run_end *said);
/* What it asked counts no more. */
void slot_hush(struct slot *s);
/* What its runner is told of why. */
enum run_stop slot_why_stopped(const struct slot *s);

/* slot_trace.c. The execution is a span of its own, and what it does is below that. */
void slot_begin_trace(struct slot *s, struct span traceparent);
void slot_tell_execution(const struct slot *s, const char *outcome, uint64_t ms);
/* How long the task waited for this worker, a span beside the execution. */
void slot_tell_queue(const struct slot *s, uint64_t age_ms);
