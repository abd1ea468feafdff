/* http_inside.h - shared by http.c, http_post.c and http_get.c only. */
#pragma once

#include "common/list.h"
#include "worker/upstream/http.h"
#include "worker/upstream/lines.h"
#include "worker/upstream/sse.h"

enum {
    HTTP_RETRY_MS = 1000,
    HTTP_RETRY_MIN_MS = 100,
    HTTP_RETRY_MAX_MS = 30 * 1000,
    HTTP_TRIES = 6,
    HTTP_VERSION_ROOM = 32,
    HTTP_SESSION_MAX = 4096,
    HTTP_NOT_FOUND = 404,
};

struct http {
    struct transport transport;
    struct fetcher *fetcher;
    struct event_base *base;
    struct tool_server *server;
    char *session; /* NULL: it has given none */
    char version[HTTP_VERSION_ROOM]; /* "" before the handshake is over */
    struct list posts; /* of struct post */
    unsigned notes; /* of those: no requests */
    /* The stream of what belongs to no request. */
    struct fetch *get;
    struct sse sse;
    struct event *get_again;
    unsigned get_failures;
    bool has_no_get;
    /* Its end. */
    struct fetch *farewell;
    struct event *end;
    char *why;
};

/* It ends on the next turn of the loop, for this. */
void http_end(struct http *h, const char *why);
/* Begins one with the headers that each of them has, and those of more (ends with NULL, may be
 * NULL). request is completed and sent. NULL: that cannot be, and the connection ends. */
struct fetch *http_begin(struct http *h, struct fetch_request *request, const char *const *more);
bool http_is_stream(const struct fetch *f);
/* When to try again, after so many failures: as the server wants it, within reason. */
uint64_t http_retry_ms(const struct sse *s, unsigned failures);
/* f's status says that the session is not known any more: the connection ends. */
bool http_is_over(struct http *h, unsigned status);

void http_post(struct http *h, struct span message, uint64_t number);
void http_post_forget(struct http *h, uint64_t number);
void http_post_free_all(struct http *h);

void http_get_start(struct http *h);
void http_get_stop(struct http *h);
