/* span.h - borrowed bytes: a pointer and a length, owned by somebody else. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct span {
    const char *p; /* NULL: absent, which is not the same as empty */
    size_t n;
};

#define SPAN(literal) ((struct span){(literal), sizeof(literal) - 1})

static inline struct span span_of(const char *text)
{
    return (struct span){text, text != NULL ? strlen(text) : 0};
}

static inline bool span_is(struct span s, const char *text)
{
    return s.p != NULL && s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

static inline bool span_equal(struct span a, struct span b)
{
    return a.p != NULL && b.p != NULL && a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}
