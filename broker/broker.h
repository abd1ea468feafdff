/* broker.h - one broker process: what its parts share. */
#pragma once

#include "broker/conf.h"
#include "broker/http.h"
#include "common/buf.h"
#include "common/id.h"
#include "common/store.h"

struct auth;
struct catalog;
struct event_base;
struct inflight;
struct janitor;
struct listeners;
struct scrape;
struct sessions;
struct streams;
struct waits;
struct watching;

struct broker {
    const struct conf *conf;
    struct event_base *base;
    struct store *store;
    struct http *http;
    struct auth *auth;
    struct catalog *catalog;
    struct sessions *sessions;
    struct streams *streams;
    struct waits *waits;
    struct inflight *inflight;
    struct janitor *janitor;
    struct listeners *listeners;
    struct scrape *scrape;
    struct watching *watching;
    char self[ID_SHORT_LEN + 1];
    bool draining;
    bool failed; /* Redis can never be used as it is: the exit status says so */
    struct buf out; /* scratch for the answer being written; never held across a callback */
};
