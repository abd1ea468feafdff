/* tool_field.h - the members of a tool's declaration, one reader a kind. Used through tool.h.
 *
 * A reader puts the value into the tool, or says in one sentence what is wrong and what would be
 * right, and returns false.
 */
#pragma once

#include "worker/tool.h"

struct reading {
    struct tool *t;
    const struct tool_source *src;
    struct buf *why;
    bool is_all; /* it holds for all tools of a server */
    const char *within; /* names the object that is read: "run.", or NULL for the tool itself */
    void *into; /* what the offsets of the fields count from */
    void *own; /* a reader's */
};

struct field;
typedef bool field_fn(struct reading *r, const struct field *f, struct span value);

struct field {
    const char *name;
    field_fn *read;
    bool shown; /* goes into the definition as it stands */
    size_t offset; /* in reading.into, of what is read */
    uint64_t min;
    uint64_t max;
};

field_fn field_text; /* these three only look */
field_fn field_object;
field_fn field_icons;
field_fn field_output_schema;
field_fn field_input;
field_fn field_requires;
field_fn field_immediate;
field_fn field_time;
field_fn field_attempts;
field_fn field_priority;
field_fn field_tasks;
field_fn field_output;
field_fn field_retry_on;
field_fn field_command;
field_fn field_env;
field_fn field_cwd;
field_fn field_bool;
field_fn field_http; /* tool_http.h */

/* All members of an object, which is called `within` in sentences and read into `into`. */
bool field_members(struct reading *r, const struct field *fields, struct span object,
                   const char *within, void *into);

/* "<where>: tool "<name>": "<member>": <what>"; member may be NULL. False. */
bool field_refuse(const struct reading *r, const char *member, const char *what);
bool field_refuse_span(const struct reading *r, struct span member, const char *what);
/* The same with the value before what. */
bool field_refuse_value(const struct reading *r, const char *member, struct span value,
                        const char *what);

/* A path in a file, relative to the file's folder; takes over text. A bare name is left to PATH if
 * it may be one. */
char *field_path(const struct tool_source *src, char *text, bool may_be_bare);

/* --- of tool.c --- */

/* What holds where a declaration says nothing. */
void tool_begin(struct tool *t, const struct tool_source *src);
/* Each member by its field; refuses those that are unknown, or there twice. fields ends with a name
 * of NULL. */
bool tool_read_members(struct reading *r, const struct field *fields, struct span object);
bool tool_is_name(const char *name);
/* Its policy, and what of the object is told to others: owned. */
char *tool_policy(const struct tool *t);
