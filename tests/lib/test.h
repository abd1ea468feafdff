/* test.h - a test is one TEST(sentence): it registers itself, there is no list to edit.
 *
 *     TEST(an_empty_object_is_valid)
 *     {
 *         CHECK(json_check(...) == ERR_OK);
 *     }
 *
 * CHECK goes on after a failure, REQUIRE leaves the test. Names are claims about behaviour, and
 * quote the requirement they show (T_50_..., H_24_...). Tests never sleep for a fixed time: they
 * wait for a fact with a deadline (wait_for in proc.h).
 */
#pragma once

#include <CUnit/CUnit.h>

typedef void test_fn(void);
void test_register(const char *file, const char *name, test_fn *fn);

#define TEST(name) \
    static void name(void); \
    __attribute__((constructor)) static void register_##name(void) \
    { \
        test_register(__FILE__, #name, name); \
    } \
    static void name(void)

#define CHECK(x) CU_assertImplementation(!!(x), __LINE__, #x, __FILE__, "", CU_FALSE)
#define REQUIRE(x) \
    do { \
        if (!CU_assertImplementation(!!(x), __LINE__, #x, __FILE__, "", CU_FALSE)) \
            return; \
    } while (0)
