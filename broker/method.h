/* method.h - JSON-RPC methods: declared in method.def, one file each in method/ and l/. */
#pragma once

#include "broker/principal.h"

#include <stdbool.h>

struct buf;
struct req;

typedef void method_fn(struct req *q);

struct method {
    const char *name;
    method_fn *begin;
    bool notification;
    bool tasks;
    enum scope scope;
    const char *summary;
};

const struct method *method_find(const char *name);
const struct method *method_at(unsigned i); /* NULL past the end */
void method_docs(struct buf *out); /* docs/methods.md */

#define X(name, fn, kind, tasks, scope, summary) void method_##fn(struct req *q);
#include "broker/method.def"
#undef X
