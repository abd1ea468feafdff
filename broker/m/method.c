#include "broker/m/method.h"

#include <stddef.h>
#include <string.h>

static const struct m_method rows[] = {
#define X(method, fn, name, tasks, scope, summary) {method, m_##fn, name, tasks, scope, summary},
#include "broker/m/method.def"
#undef X
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

const struct m_method *m_method_find(const char *method)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].method, method) == 0)
            return &rows[i];
    return NULL;
}

const struct m_method *m_method_at(unsigned i)
{
    return i < ROWS ? &rows[i] : NULL;
}
