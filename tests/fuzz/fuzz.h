/* fuzz.h - a fuzz target is one file fuzz_<name>.c that defines fuzz_one() of libFuzzer's name.
 *
 * Dropping it in is all: the ctest fuzz/<name> replays corpus/<name> and regress/<name>, each
 * input and each of its prefixes. What it needs besides stands in <name>_*.c. Built with the preset
 * fuzz, the same program is a libFuzzer; ./dev fuzz builds and runs them all, or by hand:
 *
 *     cmake --preset fuzz && ninja -C build/fuzz fuzz_json
 *     build/fuzz/fuzz/fuzz_json -max_total_time=60 /tmp/found tests/fuzz/corpus/json
 *
 * What crashed goes to regress/<name>, small, under a name that says what it was.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define fuzz_one LLVMFuzzerTestOneInput

/* size may be 0. The bytes are gone after the call. Always 0. */
int fuzz_one(const uint8_t *data, size_t size);

/* A claim about any input. */
#define FUZZ_CHECK(x) fuzz_check((x), #x, __FILE__, __LINE__)

static inline void fuzz_check(bool holds, const char *claim, const char *file, int line)
{
    if (holds)
        return;
    (void)fprintf(stderr, "%s:%d: %s\n", file, line, claim);
    abort();
}
