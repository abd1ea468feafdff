/* arguments.h - the arguments of a tool, as they are given on the command line. */
#pragma once

#include "common/buf.h"

#include <stdbool.h>

enum { ARGUMENTS_MAX = 64 << 20 };

/* text: a JSON object; "-" reads it from standard input, NULL is {}. Else false, and one sentence.
 */
bool arguments_read(const char *text, struct buf *out, struct buf *why);
