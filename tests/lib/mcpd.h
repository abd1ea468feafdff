/* mcpd.h - a stand-in for a broker, in a process of its own, that says what a test wants: for what
 * a real one does only on bad days. */
#pragma once

#include <stdint.h>

enum { MCPD_TEXT = 4096, MCPD_SEEN = 64 };

/* Shared between the test and the process, which may be ended and begun again in between. */
struct mcpd_shared {
    /* What the test wants. Each of the counts is for the next so many requests that are not
     * initialize. */
    unsigned busy; /* 503, Retry-After 0 or as below */
    unsigned retry_s;
    unsigned forget; /* 404 */
    unsigned cut; /* the connection ends without an answer */
    unsigned deny; /* 401 */
    unsigned begin; /* the answer begins as a stream of events, and the connection ends ... */
    unsigned begin_ms; /* ... that much later */
    int events; /* answers as a stream of events: a comment, a ping, a notification, the answer */
    char version[32]; /* in the answer to initialize */
    char answer[MCPD_TEXT]; /* ,"result":... or ,"error":... of everything but initialize */
    char raw[MCPD_TEXT]; /* when not empty: the whole body of those answers */
    /* What it saw. */
    unsigned initialized;
    unsigned deleted;
    unsigned pongs; /* answers to its ping */
    unsigned errors; /* our errors to its other requests */
    unsigned seen;
    char methods[MCPD_SEEN][32];
    char head[MCPD_TEXT]; /* the newest request's head and body */
    char body[MCPD_TEXT];
};

struct mcpd {
    int pid;
    uint16_t port;
    char url[64];
    struct mcpd_shared *s;
};

void mcpd_start(struct mcpd *d);
void mcpd_kill(struct mcpd *d);
void mcpd_again(struct mcpd *d); /* after kill: same port, same memory */
void mcpd_stop(struct mcpd *d);
unsigned mcpd_count(const struct mcpd *d, const char *method);
