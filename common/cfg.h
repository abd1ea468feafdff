/* cfg.h - a program's options: rows -> struct, flags, environment, config file, --help, docs.
 *
 * An option has one name: --max-ttl, ERRAND_MAX_TTL and "max-ttl" in the JSON file of --config
 * are the same row. Flags beat the environment, which beats the file, which beats the default.
 * A mistake is one sentence that names where it stands (flag, variable, or file and key), what is
 * wrong and what would be right; the program prints it and exits with CFG_EXIT_USAGE.
 *
 * A program declares its rows in <program>/conf.def:
 *
 *     X(TIME, lease_ms, "lease", "10s", 1000, 3600000, NULL, "how long a worker may hold a task
 * ...")
 *
 * where the field is named like the option, and makes the struct, whose first member is a struct
 * cfg_base, and the table in three lines each (see broker/conf.{h,c}).
 *
 * type      C type of the field       written as
 * TEXT      char * (owned)            anything; choices may give an "a|b|c" list
 * TIME      uint64_t, ms              10s 5m 500ms 24h 7d; 0 needs no unit
 * SIZE      uint64_t, bytes           512 64k 16m 1g
 * COUNT     uint64_t                  a whole number
 * RATE      uint64_t, per 1000 s      5/s 300/m 10/h; 0
 * BOOL      bool                      on|off; the bare flag is on
 * LIST      struct cfg_list           comma separated; the flag may be repeated
 *
 * A flag given twice counts as last given; an empty environment variable counts as absent. Of a
 * LIST the strongest place that names it counts alone.
 */
#pragma once

#include "common/buf.h"
#include "common/cfg_row.h"
#include "common/cfg_text.h"
#include "common/cfg_unit.h"

#include <stdbool.h>
#include <stddef.h>

enum { CFG_EXIT_OK = 0, CFG_EXIT_FAILURE = 1, CFG_EXIT_USAGE = 2 };

/* One row of a table: the struct is named, the rest are the X row's. */
#define CFG_ROW(owner, type, field, name, def, min, max, choices, help) \
    {name, CFG_##type, offsetof(owner, field), def, min, max, choices, help},

/* Fills conf (zeroed by the caller). Handles --config FILE, --help, --version and
 * "--docs PAGE" (config, events, metrics and the table's own) itself: prints, and returns CFG_DONE.
 * On a mistake *why gets the sentence. Positional arguments are left in rest when the program takes
 * them, else it may be NULL. conf is for cfg_fini whatever the outcome. */
enum cfg_outcome { CFG_READY, CFG_DONE, CFG_BAD };
struct cfg_rest {
    char **items; /* the caller's, with room for argc; they point into argv */
    size_t n;
};
enum cfg_outcome cfg_read(const struct cfg *c, void *conf, int argc, char **argv,
                          struct cfg_rest *rest, struct buf *why);
void cfg_fini(const struct cfg *c, void *conf);

/* Is this option set by the user (flag, variable or file), not by default? */
bool cfg_given(const struct cfg *c, const void *conf, const char *name);
/* Where its value stands, as a sentence about it begins: --lease, ERRAND_LEASE or
 * broker.json: "lease". */
void cfg_place(struct buf *out, const struct cfg *c, const void *conf, const char *name);
