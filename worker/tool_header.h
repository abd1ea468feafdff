/* tool_header.h - x-mcp-header marks in an inputSchema: arguments that clients repeat in HTTP
 * headers. */
#pragma once

#include "common/buf.h"

#include <stdbool.h>

/* Is every mark a header's name (a token, no two the same but for case) on a string, an integer or
 * a boolean that is reached through "properties" alone? Else one sentence in why. */
bool tool_check_headers(struct span schema, struct buf *why);
