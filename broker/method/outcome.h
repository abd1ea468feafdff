/* outcome.h - the end of a job as an answer: of a plain call, and of tasks/result. */
#pragma once

#include "broker/req.h"

/* Is its result one that this broker serves (--max-result)? Else q is answered: another broker may
 * have more room for it. */
bool outcome_fits(struct req *q, const struct task *t);

/* Answers with the outcome of an ended task: a plain call (q->hidden) with exactly what its tool
 * gave, tasks/result with related-task merged into it. */
void outcome_answer(struct req *q, const struct task *t);

/* Waits for the task of q->wait, which is added already, and answers. */
void outcome_wait(struct req *q, uint64_t expires_ms);

/* The same for a plain call whose job t was just made, or found. */
void outcome_created(struct req *q, const struct task *t);

/* The whole of tasks/result: adds the waiter, reads the task, answers or waits. */
void outcome_read(struct req *q, struct span task, uint64_t rate);
