/* cfg_check.h - what several programs ask of the meaning of their options.
 *
 * Each puts one sentence into why on a mistake, without the place: cfg_blame puts it before.
 */
#pragma once

#include "common/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct cfg;
struct url;

/* HOST:PORT, [IPV6]:PORT; host is the caller's to free, without brackets. */
bool cfg_check_listen(const char *text, char **host, uint16_t *port, struct buf *why);
/* Is it sure that only this machine reaches it? localhost, 127.0.0.0/8 and ::1. */
bool cfg_is_loopback(const char *host);
bool cfg_check_prefix(const char *text, struct buf *why);
/* http:// or https://, a host, maybe a path; no query, no slash at the end. */
bool cfg_check_base_url(const char *text, struct buf *why);
/* Reads the secret of --secret-file. */
bool cfg_read_secret(const char *path, unsigned char out[static 32], struct buf *why);

/* --redis and --redis-password-file (or NULL) together. Unlike the others it blames by itself; u is
 * for url_fini whatever the outcome. */
bool cfg_check_redis(const struct cfg *c, const void *conf, const char *text,
                     const char *password_file, struct url *u, struct buf *why);

/* "PLACE: " before the sentence that one of the above has left in why; returns false. */
bool cfg_blame(const struct cfg *c, const void *conf, const char *name, struct buf *why);
