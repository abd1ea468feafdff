/* schema.h - JSON Schema for tools: what arguments and results must look like.
 *
 * The dialects are 2020-12 (what a schema without "$schema" is), 2019-09 and draft-07. "format" and
 * the content keywords are annotations. References stay within the document: nothing is ever
 * fetched. A standard keyword that is not implemented is refused by name; words that no dialect
 * knows are annotations. Text, memory, depth and work of a check are bounded.
 */
#pragma once

#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>

struct schema;

/* text has passed json_check(); its bytes are copied. NULL, and one sentence in why that names the
 * place and the keyword, for what is no schema or uses what is not supported. */
struct schema *schema_new(struct span text, struct buf *why) MUST_USE;
void schema_free(struct schema *s); /* NULL is fine */

/* Does every JSON object fit? Then there is nothing to be checked. */
bool schema_is_open(const struct schema *s);

/* Does it fit? Else one sentence in why: the place as a JSON pointer, what is expected, what was
 * found. instance has passed json_check() or json_check_limits(). One thread at a time. */
bool schema_check(const struct schema *s, struct span instance, struct buf *why);
