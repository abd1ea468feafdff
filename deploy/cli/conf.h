/* conf.h - the options of errand, declared in conf.def. */
#pragma once

#include "common/cfg.h"
#include "common/url.h"

struct conf {
    struct cfg_base base;
#define X(type, field, ...) CFG_C_##type field;
#include "deploy/cli/conf.def"
#undef X
    /* Set by conf_read. */
    struct url redis_url;
    unsigned char secret[32]; /* of --secret-file, when has_secret */
    bool has_secret;
    bool has_ttl;
    bool has_url; /* on the command line */
};

extern const struct cfg conf_table;

/* rest: the command and its arguments; room for argc. conf is zeroed by the caller; conf_fini
 * whatever the outcome. */
enum cfg_outcome conf_read(struct conf *c, int argc, char **argv, struct cfg_rest *rest,
                           struct buf *why);
void conf_fini(struct conf *c);
