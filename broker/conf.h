/* conf.h - the broker's options, declared in conf.def, and what follows from them. */
#pragma once

#include "common/cfg.h"
#include "common/url.h"

struct conf {
    struct cfg_base base;
#define X(type, field, ...) CFG_C_##type field;
#include "broker/conf.def"
#undef X
    /* Set by conf_check. auth is never NULL after it. */
    struct url url; /* --redis */
    char *redis_shown; /* the same for logs, without user and password */
    char *host; /* of --listen */
    uint16_t port;
    unsigned char secret[32]; /* of --secret-file, when has_secret */
    bool has_secret;
    unsigned replicas; /* of --durability; 0: none */
};

extern const struct cfg conf_table;

/* cfg_read and then conf_check. conf is zeroed by the caller; conf_fini whatever the outcome. */
enum cfg_outcome conf_read(struct conf *c, int argc, char **argv, struct buf *why);
/* What no single row can say: false and one sentence when values do not go together, cannot be
 * used, or ask for what is not there yet. */
bool conf_check(struct conf *c, struct buf *why);
void conf_fini(struct conf *c);
