/* tool_http.h - a tool that is a job on somebody else's HTTP API, as it is declared in "run.http".
 */
#pragma once

#include "worker/tool.h"

struct http_request {
    char *method; /* NULL: there is no such request */
    char *url; /* this, the headers and the body are templates (template.h) */
    struct tool_list headers; /* "Name: value" */
    char *body; /* JSON, or NULL */
};

enum http_state { HTTP_WORKING, HTTP_COMPLETED, HTTP_FAILED, HTTP_CANCELLED, HTTP_UNKNOWN };

struct tool_http {
    struct http_request submit;
    char *job; /* a pointer (pointer.h) into its answer */
    struct http_request poll;
    uint64_t every_ms;
    uint64_t every_max_ms; /* 0: it does not grow */
    unsigned failures; /* polls in a row that may fail */
    char *state; /* pointers into a poll's answer; all but state may be NULL */
    char *progress;
    char *total; /* or a number */
    char *message;
    struct tool_list states[HTTP_UNKNOWN]; /* raw JSON values of each kind */
    struct http_request result; /* without a URL: the poll's answer is the result */
    char *at; /* a pointer into it, or NULL: all */
    struct http_request cancel;
    struct tool_list headers; /* of every request */
    uint64_t timeout_ms; /* of one request */
    uint64_t connect_ms;
    unsigned retries; /* of a submit, and of a result's request */
    char *ca_file; /* or NULL */
    bool follow; /* redirects of a GET */
    bool takes_callback; /* the submit tells where to */
    bool signs_callback; /* and by what secret */
    struct tool_list secrets; /* names of the variables that are used */
};

void tool_http_free(struct tool_http *h);

/* Which of the tool's states a raw JSON value is. Without a list of what is working, every scalar
 * that is in no list is. */
enum http_state tool_http_state(const struct tool_http *h, struct span value);
