#include "common/mem.h"
#include "tests/lib/dies.h"
#include "tests/lib/test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Under AddressSanitizer too, malloc answers NULL to what it cannot give. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static volatile size_t too_much = SIZE_MAX / 4;

static void alloc_too_much(void *arg)
{
    *(void **)arg = mem_alloc(too_much);
}

static void zalloc_too_much(void *arg)
{
    *(void **)arg = mem_zalloc(too_much);
}

static void grow_too_much(void *arg)
{
    *(void **)arg = mem_grow(mem_alloc(1), too_much);
}

TEST(running_out_of_memory_ends_the_process)
{
    void *p;

    CHECK(dies(alloc_too_much, &p));
    CHECK(dies(zalloc_too_much, &p));
    CHECK(dies(grow_too_much, &p));
}

TEST(nothing_at_all_is_still_a_pointer_to_free)
{
    void *a = mem_alloc(0);
    void *b = mem_zalloc(0);

    CHECK(a != NULL && b != NULL && a != b);
    a = mem_grow(a, 0);
    CHECK(a != NULL);
    free(a);
    free(b);
}

TEST(zeroed_memory_is_zero)
{
    unsigned char *p = malloc(512);
    unsigned char sum = 0;

    memset(p, 0xff, 512);
    free(p);
    p = mem_zalloc(512);
    for (size_t i = 0; i < 512; i++)
        sum |= p[i];
    CHECK(sum == 0);
    free(p);
}

TEST(growing_keeps_what_was_there_and_grows_from_nothing)
{
    char *p = mem_grow(NULL, 4);

    memcpy(p, "abc", 4);
    p = mem_grow(p, 100000);
    CHECK(strcmp(p, "abc") == 0);
    free(p);
}

TEST(a_copy_of_bytes_ends_in_a_nul_of_its_own)
{
    char *p = mem_dup("a\0bcd", 4);
    char *none = mem_dup(NULL, 0);

    CHECK(memcmp(p, "a\0bc", 5) == 0);
    CHECK(strcmp(none, "") == 0);
    free(p);
    free(none);
}

TEST(a_copy_of_a_text_is_another_text)
{
    char text[] = "abc";
    char *p = mem_strdup(text);

    text[0] = 'x';
    CHECK(strcmp(p, "abc") == 0);
    free(p);
}
