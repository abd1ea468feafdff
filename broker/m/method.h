/* method.h - the methods of the stateless dialect: declared in m/method.def. */
#pragma once

#include "broker/principal.h"

#include <stdbool.h>

struct req;

struct m_method {
    const char *method;
    void (*begin)(struct req *q);
    const char *name; /* the member of params that Mcp-Name repeats */
    bool tasks;
    enum scope scope;
    const char *summary;
};

const struct m_method *m_method_find(const char *method);
const struct m_method *m_method_at(unsigned i); /* NULL past the end */

#define X(method, fn, name, tasks, scope, summary) void m_##fn(struct req *q);
#include "broker/m/method.def"
#undef X
