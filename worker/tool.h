/* tool.h - one declared tool: what clients are told of it, and how the worker runs it.
 *
 * The declaration is a JSON object (docs/tools.md lists its members). It is read strictly: a
 * member that is unknown, of the wrong type or out of range is refused with one sentence that
 * names the file, the tool, the member, the value, and what would be right.
 */
#pragma once

#include "common/buf.h"
#include "common/task.h"

#include <stdbool.h>
#include <stdint.h>

enum { TOOL_NAME_MAX = 64 };
#define TOOL_UNSAID UINT64_MAX

enum tool_run { TOOL_COMMAND, TOOL_HANDLER, TOOL_MCP, TOOL_HTTP, TOOL_RUN_COUNT };
enum tool_output { TOOL_TEXT, TOOL_JSON, TOOL_RESULT };
enum tool_tasks { TOOL_FORBIDDEN, TOOL_OPTIONAL, TOOL_REQUIRED };

struct schema;
struct tool_server;
struct tool_http;

struct tool_list {
    char **items; /* owned, NULL-terminated once it has any */
    size_t n;
};

struct tool {
    unsigned refs;
    char *name;
    char *definition; /* the MCP Tool object without "execution": the author's members, with their
                         bytes as written but for white space between tokens */
    char *policy; /* registry.h */
    enum tool_tasks tasks;
    enum tool_run run;
    struct tool_list command; /* argv before substitution; argv[0] absolute or a bare name */
    char *cwd;
    enum tool_output output;
    struct tool_list env;
    uint64_t timeout_ms; /* 0: none */
    uint64_t ttl_ms; /* this and the next two may be TOOL_UNSAID */
    uint64_t poll_ms;
    uint64_t promote_ms;
    uint64_t backoff_ms;
    uint64_t grace_ms;
    unsigned attempts;
    enum task_priority priority;
    bool retry_exit;
    char *needs; /* raw JSON: capabilities that a client must have, or NULL */
    char *immediate; /* raw JSON string: for a model, until the task has ended, or NULL */
    struct schema *output_schema; /* or NULL */
    struct tool_server *server; /* TOOL_MCP: held */
    char *upstream; /* its name there; NULL: all of the server that is no tool */
    bool is_tasked; /* the server runs it as a task only */
    bool isolate; /* on a connection of its own, which ends with the call */
    bool asks; /* it asks the client: alone on its connection */
    struct tool_http *http; /* TOOL_HTTP: tool_http.h; or NULL */
    const void *handler; /* TOOL_HANDLER: the runner's, set by who declared it */
};

struct tool_source {
    const char *where; /* begins every sentence: a file's path */
    const char *dir; /* what relative paths are relative to */
    size_t index; /* from 1: names a tool that has no name */
    enum tool_run run; /* TOOL_HANDLER: declared by a program, "run" does not belong there */
};

/* object has passed json_check(). On false t needs no tool_fini(). */
bool tool_read(struct tool *t, const struct tool_source *src, struct span object, struct buf *why);
void tool_fini(struct tool *t);

/* A tool on the heap is held by the set that serves it and by each of its running jobs, so that a
 * job keeps its definition when the set is read again. Takes over what t owns; one hold. */
struct tool *tool_share(const struct tool *t);
struct tool *tool_hold(struct tool *t);
void tool_let_go(struct tool *t); /* NULL: does nothing; the last one frees it */

void tool_list_add(struct tool_list *l, char *text); /* takes it over */
void tool_list_fini(struct tool_list *l);

/* It is all of a wrapped server that is no tool: what it answers is no CallToolResult. */
bool tool_is_door(const struct tool *t);

/* A call of a wrapped server that may not be made twice is never handed back once it was begun. */
bool tool_may_run_again(const struct tool *t);

/* It hands out an address for callbacks: needs --public-url. */
bool tool_takes_callback(const struct tool *t);

/* A text as read from a JSON string: owned; NULL when it is none, or holds U+0000. */
char *tool_text(struct span value);
