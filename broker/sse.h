/* sse.h - one event stream to one client: frames, keepalive, back-pressure, client-gone.
 *
 * Headers go out at once (Content-Type text/event-stream, Cache-Control no-store,
 * X-Accel-Buffering no). An idle stream gets a comment every keepalive. A reader that has more
 * than stream_max bytes to take when the next event comes (one event may be larger than that), or
 * takes nothing for stall_timeout, is closed: on_gone is told.
 */
#pragma once

#include "broker/http.h"

struct sse;

/* Consumes r (a fresh or a held request). on_gone: the client left or fell behind; the stream is
 * freed when it returns. Not called after sse_end(). */
struct sse *sse_start(struct http_req *r, http_gone_fn *on_gone, void *arg);
/* One event. id may be NULL. data is one JSON text: line breaks in it become several data lines.
 * Never calls on_gone from inside; a stream that overflows is told on a later turn. */
void sse_send(struct sse *s, const char *id, struct span data);
void sse_send_buffer(struct sse *s, const char *id, struct evbuffer *data); /* drained */
void sse_retry(struct sse *s, uint64_t ms); /* the retry: field */
size_t sse_backlog(const struct sse *s); /* unsent bytes */
void sse_end(struct sse *s); /* sends what is queued, ends the response, frees s */
