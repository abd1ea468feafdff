/* cfg_unit.h - numbers with units, read and written: 10s, 64k, 5/s. The one table of units.
 *
 * A number is whole and at most CFG_NUMBER_MAX, what a double holds exactly: Redis's scripts
 * compute in doubles. Used through cfg.h.
 */
#pragma once

#include "common/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define CFG_NUMBER_MAX ((UINT64_C(1) << 53) - 1)

enum cfg_unit { CFG_UNIT_COUNT, CFG_UNIT_TIME, CFG_UNIT_SIZE, CFG_UNIT_RATE };

/* False and one sentence in why, which quotes the text, when it is no such number. */
bool cfg_number(enum cfg_unit kind, const char *text, uint64_t *out, struct buf *why);
bool cfg_time(const char *text, uint64_t *ms, struct buf *why);
bool cfg_size(const char *text, uint64_t *bytes, struct buf *why);
/* Kept as whole calls per 1000 s, rounded; a rate above zero stays at least 1. */
bool cfg_rate(const char *text, uint64_t *per_1000s, struct buf *why);

/* The number in its largest whole unit, so that 60000 ms is 1m. */
void cfg_add_number(struct buf *out, enum cfg_unit kind, uint64_t v);
/* The text in quotes, cut at 64 bytes: what a sentence shows of a value. */
void cfg_add_quoted(struct buf *out, const char *text);
