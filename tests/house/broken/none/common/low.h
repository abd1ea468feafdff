/* low.h - nothing to report, although strcpy() stands in this comment,
 * and system() // in this one.
 */
#pragma once
static inline const char *low(char quote)
{
    return quote == '"' ? "strcpy(a, \"b\"); // http://x" : "/* not a comment";
}
