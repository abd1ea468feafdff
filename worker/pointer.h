/* pointer.h - JSON pointers (RFC 6901) into checked JSON. */
#pragma once

#include "common/span.h"

#include <stdbool.h>

/* "" is the whole; anything else begins with a slash. */
bool pointer_is_one(const char *text);
/* What it points at, a span into json; {NULL, 0}: nothing. */
struct span pointer_at(struct span json, const char *pointer);
