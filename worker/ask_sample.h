/* ask_sample.h - the params of sampling/createMessage. */
#pragma once

#include "common/buf.h"

#include <stdbool.h>

/* Are they what MCP asks for: messages and maxTokens, and every tool_use answered by the
 * tool_result blocks of the next message, which hold nothing else? Else why gets one sentence. */
bool ask_check_sample(struct span params, struct buf *why);
