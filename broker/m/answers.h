/* answers.h - params.inputResponses: what a client says to the questions of one job. */
#pragma once

#include "broker/req.h"

/* More than any job can have asked. */
enum { M_ANSWERS_MAX = 256 };

/* false: there are more, and the request has been failed. */
bool m_answers_fit(struct req *q);
/* Stores each of them. q->answers counts those under way: it grows by one for each, and fn, which
 * is told of each with q, takes them off. What is no object is left out. */
void m_answers_store(struct req *q, struct span task, store_task_fn *fn);
