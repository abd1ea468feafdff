/* option.h - which commands an option is for: its help in conf.def begins with their names.
 *
 *     "call, result, tools check: ..."    these, with their first words
 *     "key new --rotate: ..."             this one, with that option
 *
 * What begins otherwise is for every command, and so is how Redis and a broker are reached: people
 * keep that in an alias.
 */
#pragma once

#include "deploy/cli/conf.h"

/* false: a flag was given that is for other commands than rest; why gets the sentence. An option in
 * the environment or in a file may be there for others. */
bool option_check(const struct conf *c, char **rest, size_t count, struct buf *why);
