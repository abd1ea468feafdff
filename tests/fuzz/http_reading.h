/* http_reading.h - a strict reading of HTTP/1.1 requests, written from RFC 9112 alone. */
#pragma once

#include "broker/http.h"
#include "common/span.h"

#include <stdbool.h>

struct http_reading {
    enum http_method method;
    struct span path;
    struct span query; /* {NULL, 0}: none */
    struct span host; /* the same */
    struct span body;
};

/* Reads one request at *at and moves it behind. False when there is none in strict form: every line
 * ends in CR LF, one Host (or none in 1.0), at most one Content-Length, no Transfer-Encoding, a
 * target in origin form. */
bool http_reading(struct http_reading *r, const char **at, const char *end);
