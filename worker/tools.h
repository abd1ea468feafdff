/* tools.h - what this worker serves: tools.json -> declared tools. See docs/tools.md. */
#pragma once

#include "worker/tool_server.h"

enum { TOOLS_MAX = 500 }; /* each claim names them all */

struct tools {
    struct tool **v; /* held */
    size_t n;
    struct tool_server **servers; /* held: MCP servers whose tools are served, too */
    size_t server_n;
};

/* Adds the tools and servers of one file. False, and one sentence in why that begins with the path.
 */
bool tools_add_file(struct tools *all, const char *path, struct buf *why);
/* Adds those of all files; there must be one at least. */
bool tools_add_files(struct tools *all, const char *const *paths, size_t count, struct buf *why);
/* Adds one tool declared by a program (errand_worker.h). */
bool tools_add_text(struct tools *all, const char *declaration, const void *handler,
                    struct buf *why);
/* Adds one tool, and a hold of it. */
void tools_add(struct tools *all, struct tool *t);
/* Holds of all that is in from. */
void tools_join(struct tools *all, const struct tools *from);
void tools_fini(struct tools *all);

struct tool *tools_find(const struct tools *all, struct span name);
/* Names the set of tools: the same for workers that serve tools of the same names. */
void tools_digest(const struct tools *all, char out[static 23]);
