/* upstream.h - somebody else's HTTP server, on the test's loop: each request that has come whole is
 * shown to the test, which writes the bytes of the answer, all of them or some. */
#pragma once

#include "common/buf.h"

#include <stdint.h>

struct event_base;
struct bufferevent;
struct upstream;

struct asked {
    struct upstream *u;
    struct bufferevent *to; /* the connection; stays until the client or the test closes it */
    char method[16];
    char path[1024];
    struct span head; /* all of it; this and the next are borrowed */
    struct span body;
};
typedef void upstream_fn(void *arg, const struct asked *a);

struct upstream {
    struct event_base *base;
    void *listener;
    uint16_t port;
    upstream_fn *fn;
    void *arg;
    unsigned requests;
    unsigned connections; /* opened so far */
    unsigned open;
    struct buf newest; /* the newest request: head and body */
};

void upstream_start(struct upstream *u, struct event_base *base, upstream_fn *fn, void *arg);
void upstream_stop(struct upstream *u); /* open connections go with the base */
/* A whole answer: "200 OK", further header lines each ended by \r\n or "", body. */
void upstream_answer(const struct asked *a, const char *status, const char *more, const char *body);
void upstream_write(const struct asked *a, const char *text);
void upstream_cut(const struct asked *a); /* closes the connection */
/* http://127.0.0.1:PORT and the path, in a buffer that the next call overwrites. */
const char *upstream_url(const struct upstream *u, const char *path);
