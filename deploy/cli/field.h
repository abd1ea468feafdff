/* field.h - fields of a form, as words of a command line. */
#pragma once

#include "common/cfg.h"

#include <stdbool.h>

/* The schema of a form with these fields, each NAME[?]:TYPE[=DEFAULT], where TYPE is string,
 * number, integer, boolean, email, uri, date, date-time, or a choice a|b|c; a ? makes it optional.
 * False, and one sentence in why. */
bool field_schema(struct buf *out, const struct cfg_list *fields, struct buf *why);
