#include "common/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *p)
{
    if (p == NULL) {
        (void)fputs("out of memory\n", stderr);
        abort();
    }
    return p;
}

void *mem_alloc(size_t n)
{
    return must(malloc(n != 0 ? n : 1));
}

void *mem_zalloc(size_t n)
{
    return must(calloc(1, n != 0 ? n : 1));
}

void *mem_grow(void *p, size_t n)
{
    return must(realloc(p, n != 0 ? n : 1));
}

char *mem_strdup(const char *text)
{
    return must(strdup(text));
}

char *mem_dup(const char *p, size_t n)
{
    char *copy = mem_alloc(n + 1);

    if (n != 0)
        memcpy(copy, p, n);
    copy[n] = '\0';
    return copy;
}
