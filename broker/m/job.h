/* job.h - a request of the stateless dialect that a worker's job answers; the answer is whatever
 * comes first.
 *
 *     m_job -> on_created -> a task             the tool runs only as one, and says so at once
 *                         -> wait -> ended      its result, or its error
 *                                 -> asked      its questions and a sealed requestState (MRTR)
 *                                 -> too long   a task (promoteAfter), if the request allows one
 *     m_job with requestState -> answers stored -> wait, as above, for the same job
 *
 * A client that leaves before the answer cancels its job (HX-05), but never a task.
 */
#pragma once

#include "broker/method/call.h"

/* Takes the request. Before: q->digest says what it is about, so that its requestState fits no
 * other; q->may_promote and q->timeout_ms whether and when it may become a task; q->about, when it
 * reads a resource, which. */
void m_job(struct req *q, const struct call *c, const struct tool *t);
