/* conf.h - the worker's options, declared in conf.def, and what follows from them. */
#pragma once

#include "common/cfg.h"
#include "common/url.h"

struct conf {
    struct cfg_base base;
#define X(type, field, ...) CFG_C_##type field;
#include "worker/conf.def"
#undef X
    /* Set by conf_check; slots too, when it was not given. */
    struct url url; /* --redis */
    char *redis_shown; /* the same for logs, without user and password */
    unsigned char secret[32]; /* of --secret-file, when has_secret */
    bool has_secret;
    char *metrics_host; /* of --metrics, or NULL */
    uint16_t metrics_port;
};

/* errand-worker, which serves the files of --tools; and any program with handlers of its own,
 * which has every option but that. */
extern const struct cfg conf_table;
struct cfg conf_table_without_tools(const char *program, const char *summary);

/* cfg_read and then conf_check. conf is zeroed by the caller; conf_fini whatever the outcome. */
enum cfg_outcome conf_read(const struct cfg *table, struct conf *c, int argc, char **argv,
                           struct buf *why);
/* What no single row can say: false and one sentence when values cannot be used. */
bool conf_check(const struct cfg *table, struct conf *c, struct buf *why);
void conf_fini(const struct cfg *table, struct conf *c);
