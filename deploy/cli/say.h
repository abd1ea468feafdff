/* say.h - what people see: tables, ages, tool results, one line of status. */
#pragma once

#include "common/buf.h"

#include <stdbool.h>

/* Text that is safe on a terminal: control characters become ?, line ends and tabs stay only when
 * lines is true. */
void say_clean(struct buf *out, struct span text, bool lines);
/* A JSON string's text, cleaned; nothing for anything else. */
void say_string(struct buf *out, struct span json, bool lines);
void say_age(struct buf *out, uint64_t ms); /* 12s 5m 3h 2d */
/* An RFC 3339 timestamp, as a JSON string, in epoch milliseconds. */
bool say_time(struct span json, uint64_t *ms);

/* A CallToolResult's content for people: texts as they are, the rest by what it is. */
void say_result(struct buf *out, struct span result, bool clean);

/* Columns as wide as their widest cell. */
struct table {
    struct buf text; /* cells, each ended by a NUL */
    size_t columns;
    size_t cells;
};
void table_init(struct table *t, size_t columns);
void table_add(struct table *t, struct span cell); /* cleaned, on one line */
void table_adds(struct table *t, const char *cell);
void table_addf(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_text(struct table *t, struct buf *out); /* and frees it */
void table_print(struct table *t); /* to standard output; and frees it */

/* All of it to standard output, with a line end when there is none. */
void say_out(const struct buf *text);
