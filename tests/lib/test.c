#include "tests/lib/test.h"

#include <CUnit/Basic.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TESTS_MAX = 2048 };

static struct {
    const char *name;
    test_fn *fn;
} tests[TESTS_MAX];
static size_t count;

void test_register(const char *file, const char *name, test_fn *fn)
{
    (void)file;
    if (count == TESTS_MAX)
        abort();
    tests[count].name = name;
    tests[count++].fn = fn;
}

/* With an argument, only the tests whose name holds it run. */
int main(int argc, char **argv)
{
    CU_pSuite suite;
    unsigned failed;

    (void)signal(SIGPIPE, SIG_IGN);
    if (sodium_init() < 0 || CU_initialize_registry() != CUE_SUCCESS)
        return 2;
    suite = CU_add_suite(argv[0], NULL, NULL);
    for (size_t i = 0; i < count; i++) {
        if (argc > 1 && strstr(tests[i].name, argv[1]) == NULL)
            continue;
        (void)CU_add_test(suite, tests[i].name, tests[i].fn);
    }
    CU_basic_set_mode(getenv("TEST_VERBOSE") != NULL ? CU_BRM_VERBOSE : CU_BRM_NORMAL);
    (void)CU_basic_run_tests();
    failed = CU_get_number_of_failures() + CU_get_number_of_tests_failed();
    printf("tests: %u passed, %u failed\n",
           CU_get_number_of_tests_run() - CU_get_number_of_tests_failed(),
           CU_get_number_of_tests_failed());
    CU_cleanup_registry();
    return failed != 0 || count == 0;
}
