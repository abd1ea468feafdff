/* render.h - results and tasks in the words of the stateless dialect. */
#pragma once

#include "common/buf.h"
#include "common/store_task.h"
#include "common/task.h"

/* A complete result around its members ("" for an empty one): resultType and serverInfo (S-05). */
void m_result(struct buf *out, struct span members);

/* The same for a result that a tool gave, byte for byte but for what is added. */
void m_tool_result(struct buf *out, struct span result);

/* The same for resources/read: how long it may be kept is said too, unless the server did (C-01).
 */
void m_read_result(struct buf *out, struct span result);
/* The error of a resources/read: one of the handshake dialect's becomes ours, and its data names
 * the resource, a raw JSON string (C-08). */
void m_resource_error(struct buf *out, struct span error, struct span uri);

/* The members of a Task: taskId, status, ... ttlMs, pollIntervalMs; no braces. */
void m_task(struct buf *out, const struct task *t);

/* The members of a DetailedTask: a Task with its result, error or questions. */
void m_detailed(struct buf *out, const struct task *t, const struct store_question *questions,
                size_t count);

/* "inputRequests":{...} */
void m_input_requests(struct buf *out, const struct store_question *questions, size_t count);
/* How many bytes that is at most. */
size_t m_questions_size(const struct store_question *questions, size_t count);

/* "supportedVersions" and data.supported: an array. both: the handshake revisions too. */
void m_versions(struct buf *out, bool both);
