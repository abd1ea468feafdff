/* tool_server_inside.h - an entry while it is read, shared by tool_server.c and tool_server_key.c
 * only. */
#pragma once

#include "worker/tool_server.h"

struct entry {
    struct tool_server *s;
    const struct tool_source *src;
    struct buf *why;
    struct span members; /* the whole entry */
};

struct key {
    const char *name;
    bool (*read)(struct entry *e, const struct key *k, struct span value);
    size_t offset;
};

extern const struct key tool_server_keys[]; /* ends with a name of NULL */

/* One sentence in why; key may be NULL. False. */
bool tool_server_refuse(const struct entry *e, const char *key, const char *what);
