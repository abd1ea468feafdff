/* wire.h - one keep-alive connection of the load generator: a request out, its answer back.
 *
 * It reads and writes its socket itself, so that the generator costs little beside what it
 * measures. One request at a time. Whatever is wrong with a peer ends the program.
 */
#pragma once

#include "common/span.h"

#include <event2/event.h>
#include <stdint.h>

enum { WIRE_SESSION_MAX = 128 };

struct wire;
/* body: the JSON, without chunks and without the frame of an event stream. Borrowed. */
typedef void wire_fn(void *arg, int status, struct span body);

struct wire {
    struct event *ev;
    int fd;
    wire_fn *fn;
    void *arg;
    char *in; /* n bytes, NUL-terminated */
    size_t n;
    size_t room;
    char session[WIRE_SESSION_MAX]; /* as the last answer that named one did; "" */
    uint64_t sent_us;
};

/* The time by CLOCK_MONOTONIC. */
uint64_t wire_now_us(void);
/* Says why, and ends the program. */
_Noreturn void wire_die(const char *what, struct span detail);

void wire_open(struct wire *w, struct event_base *base, uint16_t port, wire_fn *fn, void *arg);
void wire_close(struct wire *w);
/* Sends one POST /mcp with that body, with the session when there is one. */
void wire_post(struct wire *w, struct span body);
