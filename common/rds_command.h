/* rds_command.h - commands in their form on the wire, an array of bulk strings. */
#pragma once

#include "common/span.h"

/* Bytes that a word takes beside its own, at most. */
enum { RDS_WORD_FRAME_MAX = 25 };

size_t rds_command_size(size_t argc, const struct span *argv);

/* Each writes to where `at` points and answers what stands behind. The head comes first, then its
 * words one after another; each may be given in two parts. */
char *rds_command_head(char *at, size_t argc);
char *rds_command_word(char *at, struct span head, struct span tail);
