/* fetch.h - HTTP requests to other people's servers, on the event loop.
 *
 * Only http and https; certificates are verified. Requests of one fetcher share connections. Any
 * call but fetcher_free() may be made from inside any callback. No callback ever shows a URL, for
 * it may hold a secret.
 */
#pragma once

#include "common/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct fetcher;
struct fetch; /* one request; gone when its on_done returns, or it is cancelled */

enum { FETCH_HEADERS_MAX = 64 << 10 }; /* of an answer */

struct fetch_answer {
    bool came; /* whole, whatever its status */
    unsigned status; /* 0 when none came */
    struct span body; /* gathered; empty for a stream */
    bool too_large; /* it was given up for its size */
    const char *why; /* !came: in words */
};

/* The head of an answer is there. True: its body goes to on_bytes as it comes; false, and without
 * this callback: it is gathered. Not for redirects that are followed. */
typedef bool fetch_head_fn(void *arg, struct fetch *f);
/* Some bytes of a stream. */
typedef void fetch_bytes_fn(void *arg, struct fetch *f, struct span bytes);
/* The end, once, never from inside fetch_start(). answer is borrowed. */
typedef void fetch_done_fn(void *arg, struct fetch *f, const struct fetch_answer *answer);

struct fetch_request { /* all is copied */
    const char *method;
    const char *url;
    const char *const *headers; /* "Name: value" */
    size_t header_count;
    struct span body; /* p NULL: none */
    uint64_t connect_ms; /* 0: 10 s */
    uint64_t timeout_ms; /* from the start to the whole answer; 0: none */
    uint64_t silence_ms; /* nothing came for so long, counted in whole seconds; 0: none */
    size_t body_max; /* of a gathered body; 0: 1 MiB */
    /* Follows so many redirects of a GET: never from https to http, and what is sent to another
     * host has none of the headers. With 0, and for all but GET, a redirect is an answer. */
    unsigned redirects;
    const char *ca_file; /* authorities to trust in place of the system's, or NULL */
    fetch_head_fn *on_head; /* this and the next may be NULL */
    fetch_bytes_fn *on_bytes;
    fetch_done_fn *on_done;
    void *arg;
};

struct fetcher *fetcher_new(struct event_base *base);
void fetcher_free(struct fetcher *all); /* cancels what is left */

struct fetch *fetch_start(struct fetcher *all, const struct fetch_request *request);
/* f is gone, without a callback. */
void fetch_cancel(struct fetch *f);

unsigned fetch_status(const struct fetch *f); /* 0 before on_head */
/* A header of the answer, without the blanks around it, the first of that name; {NULL, 0}: there
 * is none. Borrowed until the callback returns. */
struct span fetch_header(const struct fetch *f, const char *name);
/* What Retry-After asks for, as seconds or as a date; UINT64_MAX: nothing. */
uint64_t fetch_retry_ms(const struct fetch *f);
