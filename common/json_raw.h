/* json_raw.h - what the json_*.c files share: the raw bytes of checked JSON.
 *
 * All of them trust json_check() for the grammar, yet never read past a span: in bytes that were
 * not checked they find nonsense, or nothing.
 */
#pragma once

#include "common/span.h"

static inline bool json_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline struct span json_trim(struct span s)
{
    while (s.n != 0 && json_is_space(s.p[s.n - 1]))
        s.n--;
    while (s.n != 0 && json_is_space(*s.p)) {
        s.p++;
        s.n--;
    }
    return s;
}

/* What stands between a string's quotes; {NULL, 0} when it is no string. */
struct span json_inside(struct span value);
/* Are the raw bytes between two quotes, decoded, this text? */
bool json_decodes_to(struct span raw, struct span text);
/* Is this a number that is an integer in form? */
bool json_is_integer_form(struct span value);
