/* ask_check.h - may this client be asked this, and in these words? Before anything is sent.
 *
 * What a client may be asked follows from the capabilities it declared when it created the task;
 * what a question looks like, from MCP. A question that is refused here is answered to the job at
 * once, with a JSON-RPC error:
 *
 *     -32601   the client has nothing that could answer it (no elicitation, sampling or roots), or
 *              there is no such method
 *     -32602   it can, but not in this way (mode url, tools), or the params are not what they must
 *              be
 */
#pragma once

#include "common/buf.h"

#include <stdbool.h>

enum { ASK_NO_METHOD = -32601, ASK_BAD_PARAMS = -32602 };

/* 0, or the code of an error, and then one sentence in why. caps is a raw object, or empty; params
 * has passed json_check(), or is empty. */
int ask_check(struct span caps, struct span method, struct span params, struct buf *why);
/* Does the client make tasks of such questions? */
bool ask_is_hosted(struct span caps, struct span method);
/* Is it one that the client's own task can be cancelled with? */
bool ask_can_cancel(struct span caps);

/* The params as they are sent: the job's own, byte for byte, but for "task" and _meta's progress
 * token and related task; with `task` (an id, NULL: none) as the related task, and a task of ttl_ms
 * asked for when that is not 0. */
void ask_params(struct buf *out, struct span params, const char *task, uint64_t ttl_ms);
