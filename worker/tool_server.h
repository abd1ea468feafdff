/* tool_server.h - an entry of "mcpServers" in tools.json: an MCP server that exists already, and
 * what is made of what it offers.
 *
 * It is read as strictly as a tool. Values of "env" and "headers" may hold ${env:NAME}, which stays
 * as it is here: it is looked up when the value is used, and never shown.
 */
#pragma once

#include "worker/tool.h"

enum { SERVER_NAME_MAX = 64 };

struct tool_server {
    unsigned refs;
    char *name;
    char *where; /* begins sentences about its tools: the file and its name */
    char *text; /* the entry as it stands in the file, to tell whether it has changed */
    struct tool_list command; /* empty: url */
    struct tool_list env; /* a name, a value, a name, ... */
    char *cwd;
    char *url;
    struct tool_list headers; /* likewise */
    char *prefix;
    struct tool_list allow; /* of its tools, by their own names; may end in "*" */
    struct tool_list deny;
    bool has_allow;
    bool isolate; /* a connection of its own for each call */
    uint64_t start_ms; /* how long it may take to be there */
    char *defaults; /* raw: members of a declaration that hold for all its tools */
    char *overrides; /* raw: {"tool": {...}} by its own names */
};

/* One hold; NULL, and one sentence in why. object has passed json_check(). */
struct tool_server *tool_server_read(struct span name, struct span object,
                                     const struct tool_source *src, struct buf *why);
struct tool_server *tool_server_hold(struct tool_server *s);
void tool_server_let_go(struct tool_server *s);

/* Is a tool of that name served? */
bool tool_server_allows(const struct tool_server *s, const char *tool);
/* A tool of it: definition is the Tool object as the server gave it, checked JSON. On false t needs
 * no tool_fini(), and why says what is wrong with it. */
bool tool_server_tool(struct tool_server *s, struct span definition, struct tool *t,
                      struct buf *why);
/* All else that it offers, as the entry "@name" of the registry. */
void tool_server_door(struct tool_server *s, struct span capabilities, struct span definition,
                      struct tool *t);
