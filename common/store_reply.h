/* store_reply.h - a function's answer taken apart, strictly. For the store's own modules. */
#pragma once

#include "common/store.h"

struct redisReply;

/* A string's or status' bytes; {NULL, 0} for anything else. */
struct span reply_span(const struct redisReply *r);
/* Digits only, or an integer that is not negative. */
bool reply_u64(const struct redisReply *r, uint64_t *out);
bool reply_flag(const struct redisReply *r); /* "1" or 1 */
bool reply_is(const struct redisReply *r, const char *word);
/* Is this an array of at least n? */
bool reply_array(const struct redisReply *r, size_t n);
size_t reply_count(const struct redisReply *r); /* 0 for no array */
const struct redisReply *reply_at(const struct redisReply *r, size_t i); /* NULL: not there */
