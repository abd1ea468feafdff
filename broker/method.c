#include "broker/method.h"

#include "broker/m/method.h"
#include "common/buf.h"

#include <string.h>

enum { R = false, N = true };

static const struct method rows[] = {
#define X(name, fn, kind, tasks, scope, summary) {name, method_##fn, kind, tasks, scope, summary},
#include "broker/method.def"
#undef X
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

const struct method *method_find(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

const struct method *method_at(unsigned i)
{
    return i < ROWS ? &rows[i] : NULL;
}

static void row_docs(struct buf *out, const struct method *m)
{
    buf_addf(out, "| `%s` | %s | %s | %s | %s |\n", m->name,
             m->notification ? "notification" : "request", m->tasks ? "yes" : "",
             m->scope != SCOPE_NONE ? scope_name(m->scope) : "any", m->summary);
}

static void m_row_docs(struct buf *out, const struct m_method *m)
{
    buf_addf(out, "| `%s` | %s%s | %s | %s | %s |\n", m->method, m->name != NULL ? "params." : "",
             m->name != NULL ? m->name : "", m->tasks ? "needed" : "",
             m->scope != SCOPE_NONE ? scope_name(m->scope) : "any", m->summary);
}

void method_docs(struct buf *out)
{
    buf_adds(out, "# Methods\n\nGenerated from `broker/method.def` and `broker/m/method.def`.\n\n"
                  "## The handshake dialect (2025-11-25 and before)\n\n"
                  "| method | kind | only with tasks | scope | |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < ROWS; i++)
        row_docs(out, &rows[i]);
    buf_adds(out, "\n## The stateless dialect (2026-07-28)\n\n"
                  "| method | `Mcp-Name` repeats | tasks extension | scope | |\n"
                  "|---|---|---|---|---|\n");
    for (unsigned i = 0; m_method_at(i) != NULL; i++)
        m_row_docs(out, m_method_at(i));
}
