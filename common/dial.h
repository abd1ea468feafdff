/* dial.h - opens the connection a url asks for: name, addresses, TLS.
 *
 * Every address of a name is tried, each for the whole time allowed; the next dial begins one
 * address further, so that one which accepts and then fails cannot hide the others. With TLS the
 * peer's certificate must be signed by a known authority and carry the url's host.
 */
#pragma once

#include "common/url.h"

#include <stddef.h>
#include <stdint.h>

struct bufferevent;
struct dial;
struct event_base;

/* Called once per dial_start(), possibly from inside it. bev is the callee's to free, has no
 * callbacks and is not enabled. NULL on failure; why is then borrowed. The dial may be freed or
 * started again from inside. */
typedef void dial_fn(void *arg, struct bufferevent *bev, const char *why);

struct dial *dial_new(struct event_base *base, const struct url *url, uint64_t timeout_ms,
                      dial_fn *fn, void *arg);
void dial_free(struct dial *d);
void dial_start(struct dial *d);
void dial_stop(struct dial *d); /* if started, fn will not be called */

/* Why a connection failed: what is what its event callback was told. */
void dial_explain(struct bufferevent *bev, short what, char *out, size_t room);
