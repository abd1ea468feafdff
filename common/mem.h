/* mem.h - allocation that ends the process when there is none left. Free with free(). */
#pragma once

#include <stddef.h>

void *mem_alloc(size_t n) __attribute__((malloc, returns_nonnull));
void *mem_zalloc(size_t n) __attribute__((malloc, returns_nonnull));
void *mem_grow(void *p, size_t n) __attribute__((returns_nonnull)); /* realloc */
char *mem_strdup(const char *text) __attribute__((malloc, returns_nonnull));
char *mem_dup(const char *p, size_t n) __attribute__((malloc, returns_nonnull)); /* adds a NUL */
