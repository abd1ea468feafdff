/* edge.h - an HTTP edge on a loop of its own, and raw sockets to poke it with.
 *
 * The edge answers by path: /echo at once with "METHOD path query body", /hold keeps the request
 * in e->held, /sse starts a stream and keeps it in e->streams. e->fn, when set, is asked first.
 */
#pragma once

#include "broker/sse.h"

#include <event2/event.h>

enum { EDGE_MAX = 10240 };

struct edge {
    struct event_base *base;
    struct http *h;
    struct http_req **held;
    struct sse **streams;
    size_t held_count, stream_count;
    size_t gone; /* on_gone calls */
    size_t asked;
    void (*fn)(struct edge *e, struct http_req *r); /* or NULL */
    void *arg;
};

/* Zeroes in conf mean: 127.0.0.1, any port, 1 MiB bodies, http.h's defaults. */
void edge_start(struct edge *e, const struct http_conf *conf);
void edge_stop(struct edge *e);
void edge_on_gone(void *arg); /* counts; arg is the edge */
struct http_stats edge_stats(const struct edge *e);

struct raw {
    struct edge *e;
    int fd;
    bool eof; /* the edge has closed, cleanly */
    bool reset; /* or not */
    size_t n;
    char *text; /* all that came, NUL-terminated */
};

void raw_open(struct raw *c, struct edge *e);
void raw_close(struct raw *c);
void raw_send(struct raw *c, const char *text);
void raw_send_bytes(struct raw *c, const char *p, size_t n);
/* Turns the loop until the text has come, 10 s at most. */
bool raw_sees(struct raw *c, const char *text);
bool raw_sees_eof(struct raw *c, unsigned ms);
/* How often a text stands in what has come so far. */
size_t raw_count(const struct raw *c, const char *text);
void raw_forget(struct raw *c); /* what has come so far */
