/* render.h - a task in the words of the 2025-11-25 revision. */
#pragma once

#include "broker/conf.h"
#include "common/buf.h"
#include "common/task.h"

/* The members of a Task, flat, with braces: taskId, status, statusMessage, createdAt,
 * lastUpdatedAt, ttl, pollInterval. */
void l_task(struct buf *out, const struct task *t, bool iserror_fails);

/* A result object with _meta["io.modelcontextprotocol/related-task"] = {"taskId": id} merged in
 * (T-54): what the tool put there under other names stays, byte for byte. */
void l_related(struct buf *out, struct span result, struct span id);
