#include "broker/principal.h"

static const struct {
    const char *name;
    enum scope scope;
} rows[] = {
    {"tools:call", SCOPE_TOOLS_CALL},
    {"tasks:read", SCOPE_TASKS_READ},
    {"admin", SCOPE_ADMIN},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

const char *scope_name(enum scope s)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].scope == s)
            return rows[i].name;
    return "";
}

unsigned scopes_of(struct span names)
{
    unsigned scopes = 0;
    size_t from = 0;

    while (from < names.n) {
        size_t to = from;

        while (to < names.n && names.p[to] != ' ')
            to++;
        for (size_t i = 0; i < ROWS; i++)
            if (span_is((struct span){names.p + from, to - from}, rows[i].name))
                scopes |= rows[i].scope;
        from = to + 1;
    }
    return scopes;
}

bool principal_may(const struct principal *p, enum scope s)
{
    return s == SCOPE_NONE || (p->scopes & (s | SCOPE_ADMIN)) != 0;
}
