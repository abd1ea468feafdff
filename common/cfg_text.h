/* cfg_text.h - a program's options as --help and as its part of docs/config.md. Used through cfg.h.
 */
#pragma once

#include "common/cfg_row.h"

/* What every program has: --config, --docs, --help, --version. */
extern const struct cfg_row cfg_builtin[];
extern const size_t cfg_builtin_count;

/* "config, events, metrics" and the table's own pages. */
void cfg_add_pages(struct buf *out, const struct cfg *c);

void cfg_help(struct buf *out, const struct cfg *c);
void cfg_docs(struct buf *out, const struct cfg *c); /* this program's part of docs/config.md */
