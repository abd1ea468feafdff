/* rds_sentinel.h - asks Redis Sentinel where the primary is, and hears when it moves.
 *
 * The sentinels of a url are asked one after the other, beginning each time with the one after the
 * last that answered or failed, until one names an address; each gets the time allowed. What it
 * says may be out of date: whoever dials the address asks for its ROLE. The one that answered is
 * listened to from then on (+switch-master), and when it goes away the next is: clients of a
 * primary that was replaced in good order would otherwise write to it for ten seconds more.
 */
#pragma once

#include "common/url.h"

struct event_base;
struct rds_sentinel;

/* host is NULL, and why says what each answered, when none knew; else an address. Both are
 * borrowed. Called once per rds_sentinel_ask(), never from inside it, and may ask again. */
typedef void rds_sentinel_fn(void *arg, const char *host, uint16_t port, const char *why);

/* The primary is at another address than the one that was found: ask again. Once per answer. */
typedef void rds_moved_fn(void *arg);

/* url is one with sentinels and outlives this. */
struct rds_sentinel *rds_sentinel_new(struct event_base *base, const struct url *url,
                                      uint64_t timeout_ms, rds_sentinel_fn *fn, rds_moved_fn *moved,
                                      void *arg);
void rds_sentinel_free(struct rds_sentinel *s);
void rds_sentinel_ask(struct rds_sentinel *s);
/* Nothing is told any more until it is asked again. */
void rds_sentinel_stop(struct rds_sentinel *s);
