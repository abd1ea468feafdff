/* http.h - the HTTP edge: listener, limits, strict validation, held answers, event streams.
 *
 * With sse.c the only user of evhttp. A request reaches the handler only after it has passed the
 * validator (one Host, token header names, one plain Content-Length, no Transfer-Encoding, HTTP
 * 1.0 or 1.1, origin-form target, every line ended by CR LF, no NUL and no folding); everything
 * else is answered here with 4xx or 5xx and a close. Every method reaches the handler. Host may be
 * absent in HTTP/1.0, which gets one request a connection.
 *
 * A request has one owner. The handler must, before it returns, do exactly one of
 *   http_reply   - answered;
 *   http_hold    - will be answered later, unless the client leaves first;
 *   sse_start    - becomes an event stream (sse.h).
 *
 * Requests of one connection come one after the other: those pipelined behind a held one wait for
 * its answer. A client that closes its sending side has left.
 */
#pragma once

#include "common/span.h"

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct evbuffer;
struct http;
struct http_req;
struct list;

enum http_method { HTTP_GET, HTTP_POST, HTTP_DELETE, HTTP_OTHER };

struct http_conf {
    const char *host; /* numeric address or name to bind */
    uint16_t port; /* 0: any; see http_port() */
    uint64_t body_max; /* bytes; larger: 413, and a close unless it was a little over */
    uint64_t read_timeout_ms; /* 0: 15000; from a request's first byte to its last */
    uint64_t idle_timeout_ms; /* 0: 75000; keep-alive connection without a request */
    uint64_t keepalive_ms; /* 0: 15000; comment on idle event streams */
    uint64_t stall_timeout_ms; /* 0: 30000; a client that takes nothing of what waits for it */
    size_t stream_max; /* 0: 1 MiB; unread bytes of a stream before it is closed */
};

typedef void http_fn(void *arg, struct http_req *r);
/* NULL and a sentence in why when the address cannot be bound. */
struct buf;
struct http *http_new(struct event_base *base, const struct http_conf *conf, http_fn *fn, void *arg,
                      struct buf *why);
uint16_t http_port(const struct http *h);
/* Who comes is left waiting in the socket's queue, until http_resume(). */
void http_pause(struct http *h);
void http_resume(struct http *h);
/* Drain, first step, a moment before the next: who has knocked is let in, and who would knock now
 * is refused. From now on connections are closed with their next answer. Whoever is not let in when
 * the socket is closed is cut off. */
void http_shut(struct http *h);
/* Drain, second step: the socket is closed, and open connections live on. */
void http_stop_listening(struct http *h);
/* Closes every connection; held requests and streams get their on_gone. Answers that wait are
 * written first, as far as the sockets take them at once. */
void http_free(struct http *h);
struct http_stats {
    uint64_t connections, reading, held, streams, requests, refused;
};
void http_stats(const struct http *h, struct http_stats *out);
uint64_t http_unsent(const struct http *h); /* bytes of answers that no socket has taken yet */

enum http_method http_method(const struct http_req *r);
const char *http_path(const struct http_req *r); /* decoded nothing, without the query */
const char *http_query(const struct http_req *r); /* after '?', or NULL */
/* A header's value, OWS trimmed, or NULL; names are compared without case. */
const char *http_header(const struct http_req *r, const char *name);
unsigned http_header_count(const struct http_req *r, const char *name);
struct span http_body(struct http_req *r); /* contiguous; lives as long as the request */
const char *http_peer(const struct http_req *r); /* numeric address, for the log */
bool http_accepts(const struct http_req *r,
                  const char *type); /* Accept lists it, or a range, or is absent */
bool http_names(const struct http_req *r, const char *type); /* Accept lists it by its name */

bool http_streams(const struct http_req *r); /* HTTP/1.1: it may become an event stream */

/* For the answer, before it is sent. Value must be free of CR and LF (asserted). */
void http_set_header(struct http_req *r, const char *name, const char *value);
/* Sends and forgets r. type may be NULL for an empty body. The body is copied. */
void http_reply(struct http_req *r, int status, const char *type, struct span body);
/* The same with a body in an evbuffer (drained): no copy. */
void http_reply_buffer(struct http_req *r, int status, const char *type, struct evbuffer *body);
/* The client left before the answer: r is gone when this returns. Never after an answer. Other
 * requests may be answered in it. */
typedef void http_gone_fn(void *arg);
/* A request held already is told elsewhere from now on. */
void http_hold(struct http_req *r, http_gone_fn *fn, void *arg);
/* Until r is answered or gone it stands in this list (common/list.h), which must outlive it; the
 * next call moves it. */
void http_bind(struct http_req *r, struct list *bound);
/* Empties the list: closes the connections of the requests in it, held or streaming, as if their
 * clients had left; their on_gone is told on a later turn. How many there were. */
size_t http_cut(struct list *bound);
void http_close_after(struct http_req *r); /* Connection: close on the answer */
