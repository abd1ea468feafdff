/* http.h - a wrapped server over Streamable HTTP.
 *
 * Each message is a POST; its answer is JSON or a stream of events. A stream that breaks off is
 * taken up again where it was (Last-Event-ID). What belongs to no request comes on a GET that stays
 * open, if the server has that. A session that the server knows no longer ends the connection: its
 * owner opens another one. At the end the session is deleted.
 */
#pragma once

#include "common/fetch.h"
#include "worker/tool_server.h"
#include "worker/upstream/transport.h"

struct event_base;

/* fetcher outlives it. */
struct transport *http_open(struct fetcher *fetcher, struct event_base *base,
                            struct tool_server *server, const struct transport_sink *sink,
                            void *arg);
