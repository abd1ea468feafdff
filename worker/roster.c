#include "worker/roster.h"

#include "common/mem.h"

#include <stdlib.h>

void roster_init(struct roster *r, uint64_t lease_ms)
{
    *r = (struct roster){.self = {.lease_ms = lease_ms}};
    id_short(r->wid);
    r->self.wid = span_of(r->wid);
}

void roster_fini(struct roster *r)
{
    tools_fini(&r->tools);
    free(r->names);
}

struct tools roster_take(struct roster *r, struct tools *tools)
{
    struct tools old = r->tools;

    r->tools = *tools;
    *tools = (struct tools){0};
    tools_digest(&r->tools, r->pool);
    r->names = mem_grow(r->names, (r->tools.n + 1) * sizeof(*r->names));
    for (size_t i = 0; i < r->tools.n; i++)
        r->names[i] = span_of(r->tools.v[i]->name);
    r->self.pool = span_of(r->pool);
    r->self.tools = r->names;
    r->self.tool_count = r->tools.n;
    return old;
}

bool roster_has(const struct roster *r, enum tool_run kind)
{
    for (size_t i = 0; i < r->tools.n; i++)
        if (r->tools.v[i]->run == kind)
            return true;
    return false;
}
