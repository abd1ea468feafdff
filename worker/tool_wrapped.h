/* tool_wrapped.h - the members of a tool's declaration that may be said of a tool of a wrapped
 * server. Used through tool_server.h. */
#pragma once

#include "worker/tool_server.h"

/* Are these members, of a tool or (name absent) of all of them, right? Else one sentence in why. */
bool tool_wrapped_check(const struct tool_server *s, struct span name, struct span members,
                        struct buf *why);
bool tool_wrapped_knows(struct span member);
/* Their names, with commas between. */
void tool_wrapped_names(struct buf *out);
