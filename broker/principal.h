/* principal.h - who a request speaks for, and what it may do. */
#pragma once

#include "common/id.h"
#include "common/seal.h"
#include "common/span.h"

#include <stdbool.h>
#include <stdint.h>

enum { PRINCIPAL_NAME_MAX = 128 };

enum scope {
    SCOPE_NONE = 0,
    SCOPE_TOOLS_CALL = 1,
    SCOPE_TASKS_READ = 2,
    SCOPE_ADMIN = 4, /* includes the others */
};

struct principal {
    char name[PRINCIPAL_NAME_MAX + 1];
    char owner[ID_OWNER_LEN + 1];
    unsigned partition;
    unsigned scopes;
    uint64_t expires_ms; /* of the credential; 0: never */
    char credential[SEAL_HASH_LEN + 1]; /* the hash of its key, or "" */
    bool anonymous;
};

const char *scope_name(enum scope s);
/* Space-separated names; unknown ones are ignored. */
unsigned scopes_of(struct span names);
bool principal_may(const struct principal *p, enum scope s);
