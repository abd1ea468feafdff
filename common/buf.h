/* buf.h - bytes with a ceiling, and a small writer of JSON into them.
 *
 * A buf cannot be made without a maximum. An append that would pass it marks the buf as
 * overflowed and changes nothing from then on: check buf_ok() once, at the end.
 */
#pragma once

#include "common/err.h"
#include "common/span.h"

#include <stdint.h>

struct buf {
    char *p; /* always NUL-terminated once anything was added */
    size_t n;
    size_t room;
    size_t max;
    bool overflow;
};

void buf_init(struct buf *b, size_t max);
/* For secrets: all of max is allocated now, so that the bytes never move and buf_wipe() misses no
 * copy. */
void buf_init_secret(struct buf *b, size_t max);
void buf_fini(struct buf *b);
void buf_wipe(struct buf *b); /* buf_fini for what held a secret */
void buf_reset(struct buf *b);
bool buf_ok(const struct buf *b) MUST_USE;
struct span buf_span(const struct buf *b);
char *buf_take(struct buf *b); /* the bytes, NUL-terminated, now the caller's to free */

void buf_add(struct buf *b, const char *p, size_t n);
void buf_add_span(struct buf *b, struct span s);
void buf_adds(struct buf *b, const char *text);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_add_u64(struct buf *b, uint64_t v);

/* Text as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD. */
void buf_add_json(struct buf *b, struct span text);
/* Epoch milliseconds as an RFC 3339 timestamp in UTC, e.g. 2026-01-02T03:04:05.678Z, unquoted. */
void buf_add_time(struct buf *b, uint64_t epoch_ms);
