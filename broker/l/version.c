#include "broker/l/version.h"

static const char *const names[] = {"2025-11-25", "2025-06-18", "2025-03-26"};

const char *l_version_name(enum l_version v)
{
    return names[v];
}

enum l_version l_version_of(struct span text)
{
    for (unsigned v = 0; v < L_VERSIONS; v++)
        if (span_is(text, names[v]))
            return (enum l_version)v;
    return L_UNKNOWN;
}

bool l_has_tasks(enum l_version v)
{
    return v == L_2025_11_25;
}

void l_versions_list(struct buf *out)
{
    for (unsigned v = 0; v < L_VERSIONS; v++) {
        buf_adds(out, v == 0 ? "" : ", ");
        buf_adds(out, names[v]);
    }
}
