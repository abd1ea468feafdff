/* task_read.h - what the methods that read one task answer alike. */
#pragma once

#include "broker/req.h"

/* Fails the request and returns false unless e is ERR_OK. A foreign task and an unknown one get
 * the same bytes (T-92). */
bool task_read_ok(struct req *q, enum err e, const struct store_result *r);

/* Answers with the flat Task. */
void task_answer(struct req *q, const struct task *t);

/* --iserror-status as a flag. */
bool task_iserror_fails(const struct req *q);
