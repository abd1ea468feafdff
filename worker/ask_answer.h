/* ask_answer.h - what a client says to a question: is it an answer at all? */
#pragma once

#include "common/buf.h"

#include <stdbool.h>

/* answer, checked JSON: {"result":...} or {"error":...}. Else, or when a result is not what MCP
 * wants for that method, or the content of an accepted form does not fit the form in params: false,
 * and one sentence in why. */
bool ask_check_answer(const char *method, struct span params, struct span answer, struct buf *why);
