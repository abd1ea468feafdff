/* store_args.h - a function call put together: keys first, then arguments, no allocation.
 *
 * A store has one of these and uses it again for every call: from store_args() to
 * store_args_send() nothing else may be called. What does not fit is not sent: the call ends with
 * ERR_TOO_BIG.
 */
#pragma once

#include "common/store.h"

struct store_args;

struct store_args *store_args_new(struct store *s); /* free() it */
/* Starts a call of function fn in a partition, or STORE_GLOBAL. */
struct store_args *store_args(struct store *s, const char *fn, unsigned partition);
/* One more key: head, name and tail joined, e.g. "rq:", tool, ":0". */
void args_key(struct store_args *a, const char *head, struct span name, const char *tail);
void args_add(struct store_args *a, struct span s); /* borrowed until store_args_send() */
void args_text(struct store_args *a, const char *text);
void args_u64(struct store_args *a, uint64_t n);
void args_flag(struct store_args *a, bool on); /* 1 or 0 */
void store_args_send(struct store_args *a, store_reply_fn *fn, void *arg);
