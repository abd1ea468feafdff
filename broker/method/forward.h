/* forward.h - resources/read, prompts/get and completion/complete: requests that the wrapped server
 * whose resource or prompt it is answers, by a hidden job.
 */
#pragma once

#include "broker/method/call.h"

enum { FORWARD_URI_MAX = 4096 };

/* What is to be asked, and of whom. */
struct forward {
    const struct offer *to;
    struct tool job; /* as call_create() wants it */
    struct call call;
    struct buf params; /* of the job */
};

enum forward_way {
    FORWARD_FAILED, /* the request has been failed */
    FORWARD_JOB,
    FORWARD_NOTHING, /* a completion, and its server has none */
};

/* method: the request's own. Spans point into the body. forward_fini() in any case. */
enum forward_way forward_read(struct req *q, const char *method, struct forward *f);
void forward_fini(struct forward *f);
/* The result of FORWARD_NOTHING, but for what a dialect adds. */
extern const char forward_nothing[];

/* params.uri decoded: false when it is no address, and the request has been failed. */
bool forward_uri(struct req *q, char uri[static FORWARD_URI_MAX + 1]);
/* Nobody has that resource: -32002, in the stateless dialect -32602; data names it. */
void forward_no_resource(struct req *q);
