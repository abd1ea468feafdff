/* roster.h - what this worker serves at the moment, and how Redis knows it by that: the tools,
 * their names, and the pool of the workers that serve tools of the same names. */
#pragma once

#include "common/id.h"
#include "common/store_job.h"
#include "worker/tools.h"

struct roster {
    struct tools tools;
    struct store_worker self; /* spans into this struct and the tools: always of the newest ones */
    char wid[ID_SHORT_LEN + 1];
    char pool[23];
    struct span *names;
};

void roster_init(struct roster *r, uint64_t lease_ms);
void roster_fini(struct roster *r);
/* These in place of what was there: moves them out of `tools`. Returns what was there, the
 * caller's: whoever has spans of it is told of the new ones before it goes. */
struct tools roster_take(struct roster *r, struct tools *tools);
/* A tool of this kind is served. */
bool roster_has(const struct roster *r, enum tool_run kind);
