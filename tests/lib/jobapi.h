/* jobapi.h - a job API, and one job of the http runner that uses it. One program has one. */
#pragma once

#include "tests/lib/upstream.h"
#include "worker/run/http.h"

#include <stdbool.h>
#include <stdint.h>

/* What the API answers: "STATUS|headers|body" each, the last one for ever; NULL: nothing. */
extern struct jobapi {
    const char *submit[8];
    const char *poll[16];
    const char *result[8];
    const char *cancel[4];
    unsigned submits, polls, results, cancels;
    char last[8192]; /* the newest submit */
    char others[8192]; /* the newest of the others */

    struct event_base *base;
    struct upstream api;
    struct runner *runner;
    struct run_job job;
} jobapi;

/* What the runner has said of the job. */
extern struct seen {
    unsigned ends, keeps, listens, said;
    bool passing, is_error;
    bool auto_keep; /* its handle is safe at once */
    char result[65536];
    char why[8192];
    char handle[256];
    char message[1024];
    char progress[256];
} seen;

extern unsigned char jobapi_secret[32]; /* of the installation */

/* more: further members of the tool's http, or "/path\",...}" of a result. */
void jobapi_open(const char *more);
void jobapi_close(void);
void jobapi_serve(void *arg, const struct asked *a); /* what the API does */

void jobapi_start(const char *handle);
void jobapi_run(void); /* from its start to its end */
bool jobapi_comes_to(const unsigned *count, unsigned n);
bool jobapi_ends(void); /* once */
bool jobapi_has(const char *part); /* of its result, or of why it failed */
