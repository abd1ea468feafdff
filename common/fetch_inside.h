/* fetch_inside.h - a request, shared by fetch.c and fetch_one.c only. */
#pragma once

#include "common/fetch.h"
#include "common/list.h"

#include <curl/curl.h>

struct fetcher {
    struct event_base *base;
    CURLM *multi;
    struct event *timer;
    struct list running;
    struct list starting; /* were asked for from inside a callback of curl's */
    struct list dead; /* were cancelled from inside one */
    unsigned inside; /* calls of curl's on the stack */
};

struct fetch {
    struct list node;
    struct fetcher *all;
    CURL *easy;
    struct curl_slist *lines;
    bool is_get;
    bool is_added; /* to the multi handle */
    bool is_dead;
    bool has_head;
    bool is_streamed;
    bool too_large;
    unsigned redirects;
    unsigned status;
    struct buf headers; /* lines, each ended by \n */
    struct buf body;
    fetch_head_fn *on_head;
    fetch_bytes_fn *on_bytes;
    fetch_done_fn *on_done;
    void *arg;
    char error[CURL_ERROR_SIZE];
};

struct fetch *fetch_one_new(struct fetcher *all, const struct fetch_request *r);
void fetch_one_free(struct fetch *f); /* not in the multi handle any more */
/* The answer was a redirect to be followed, and f is ready for the next request. */
bool fetch_one_redirected(struct fetch *f);
