/* template.h - does an address fit a URI template (RFC 6570)? For finding whose resource it is:
 * what the variables are is the server's own business. */
#pragma once

#include "common/span.h"

#include <stdbool.h>

enum { TEMPLATE_URI_MAX = 4096 };

/* {x} and {x,y} stand for at least one character, but for none of '/', '?' and '#'; {+x} and {#x}
 * for any; {/x}, {.x}, {;x}, {?x} and {&x} for nothing, or for that character and what may follow
 * it. A template with a brace that is not closed, and an address longer than TEMPLATE_URI_MAX, fit
 * nothing. */
bool template_fits(struct span template, struct span uri);
