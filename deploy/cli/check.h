/* check.h - what errand doctor thinks of what it has found. */
#pragma once

#include "common/span.h"

#include <stdbool.h>
#include <stdint.h>

struct check_facts {
    struct span info; /* the text of INFO; absent: not allowed */
    /* Values of CONFIG GET; absent: not allowed. */
    struct span appendonly;
    struct span appendfsync;
    struct span maxmemory;
    struct span policy; /* maxmemory-policy */
    struct span listpack; /* hash-max-listpack-value */
    struct span limits; /* client-output-buffer-limit */
    struct span timeout;
    struct span
        may_replay; /* of ACL DRYRUN default SET: "OK", or a sentence; absent: not allowed */
    uint64_t redis_ms; /* Redis's clock and ours, at one moment */
    uint64_t our_ms;
    unsigned partitions;
    bool is_made; /* there is an installation under the prefix */
    bool has_library;
    size_t workers;
};

enum check_level { CHECK_OK, CHECK_NOTE, CHECK_BAD };

/* One finding. advice is empty when nothing is to be done. The texts die with the call. */
typedef void check_fn(void *arg, enum check_level level, const char *what, const char *found,
                      const char *advice);
void check_everything(const struct check_facts *f, check_fn *fn, void *arg);

/* The value of one line of INFO; absent: {NULL, 0}. */
struct span check_info(struct span info, const char *name);
