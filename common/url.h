/* url.h - where Redis is: redis://[user:password@]host[:port][/db], rediss://...,
 * unix:///path[?db=n], redis+sentinel://[user:password@]host[:port],.../name[/db].
 */
#pragma once

#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>
#include <stdint.h>

struct url_host {
    char *host;
    uint16_t port;
};

struct url {
    bool tls; /* to sentinels as well */
    struct url_host *sentinels; /* who know where the primary is; NULL: host says it */
    size_t sentinel_count;
    char *master; /* the name that the sentinels have for it */
    char *path; /* unix socket, or NULL */
    char *host; /* NULL for a unix socket, and with sentinels */
    uint16_t port;
    unsigned db;
    char *user; /* may be NULL, also where there is a password */
    char *password; /* may be NULL, also where there is a user; wiped by url_fini; offered to
                       sentinels as well */
    char *ca_file; /* rediss only: ?ca=/path; NULL means the system's authorities */
};

/* On failure *why gets one sentence that says what is wrong and what would be right; it never
 * holds the password. */
enum err url_parse(struct url *u, const char *text, struct buf *why) MUST_USE;
void url_fini(struct url *u);
/* For logs: scheme, host, port and db, never user or password. */
void url_describe(struct buf *out, const struct url *u);
