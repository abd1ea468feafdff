/* cfg_file.h - the JSON file of --config. Used through cfg.h. */
#pragma once

#include "common/cfg_row.h"

/* Puts what the file says into conf, over the defaults, and marks it CFG_FROM_FILE. False, and one
 * sentence in why that names the file and the member. */
bool cfg_file_read(const struct cfg *c, void *conf, const char *path, struct buf *why);
