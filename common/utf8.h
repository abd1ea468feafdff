/* utf8.h - is this well-formed UTF-8? */
#pragma once

#include <stdbool.h>
#include <stddef.h>

static inline bool utf8_is_tail(unsigned char c)
{
    return (c & 0xc0U) == 0x80U;
}

/* May c follow this lead? The second byte rules out overlong forms, surrogates and what lies past
 * U+10FFFF. */
static inline bool utf8_is_second(unsigned char lead, unsigned char c)
{
    switch (lead) {
    case 0xe0:
        return c >= 0xa0 && utf8_is_tail(c);
    case 0xed:
        return c <= 0x9f && utf8_is_tail(c);
    case 0xf0:
        return c >= 0x90 && utf8_is_tail(c);
    case 0xf4:
        return c <= 0x8f && utf8_is_tail(c);
    default:
        return utf8_is_tail(c);
    }
}

/* The length of the well-formed sequence at p, of which n > 0 bytes may be read; 0 when there is
 * none. */
static inline size_t utf8_len(const unsigned char *p, size_t n)
{
    unsigned char lead = p[0];
    size_t len = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;

    if (lead < 0x80)
        return 1;
    if (lead < 0xc2 || lead > 0xf4 || n < len || !utf8_is_second(lead, p[1]))
        return 0;
    for (size_t i = 2; i < len; i++)
        if (!utf8_is_tail(p[i]))
            return 0;
    return len;
}
