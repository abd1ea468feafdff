/* wire.h - HTTP exchanges with a broker, several at a time, over libcurl.
 *
 * An exchange begins with wire_start(), goes on while wire_turn() runs, and ends with
 * exchange_end(), at any time. What the broker says in a 2xx answer comes message by message,
 * whether it is one JSON text or a stream of events.
 */
#pragma once

#include "common/buf.h"

#include <stdbool.h>

struct wire;
struct exchange;

/* One JSON text of an answer; not yet checked. Called from wire_turn() only, and may call nothing
 * of the wire. */
typedef void wire_fn(void *arg, struct span message);

/* key may be NULL. */
struct wire *wire_new(const char *url, const char *key);
void wire_free(struct wire *w); /* after the last exchange_end() */

struct wire_head {
    const char *session; /* Mcp-Session-Id to send, or NULL */
    const char *version; /* MCP-Protocol-Version, or NULL */
    bool is_get; /* a GET, which has no body */
};
/* Posts body (copied); a NULL body is a DELETE, or that GET. fn may be NULL. */
struct exchange *wire_start(struct wire *w, const struct wire_head *head, struct span body,
                            wire_fn *fn, void *arg);
/* wire_turn() also ends early when there is something to read there; -1: nowhere. */
void wire_listen(struct wire *w, int fd);
/* Moves every exchange along for at most ms, less when one of them is done or a signal came. */
void wire_turn(struct wire *w, unsigned ms);

bool exchange_done(const struct exchange *x);
/* The HTTP status, 0 before it came. Of a done exchange 0: none came, and why is exchange_error().
 */
long exchange_status(const struct exchange *x);
const char *exchange_error(const struct exchange *x); /* "Connection refused", "" */
const char *exchange_session(const struct exchange *x); /* Mcp-Session-Id of the answer, or "" */
unsigned exchange_retry_s(const struct exchange *x); /* Retry-After, or 0 */
struct span exchange_body(const struct exchange *x); /* of an answer that is not 2xx */
void exchange_end(struct exchange *x);
