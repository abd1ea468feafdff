/* pages.h - one list of a wrapped server, all its pages. */
#pragma once

#include "worker/upstream/peer.h"

enum pages_kind { PAGES_TOOLS, PAGES_RESOURCES, PAGES_TEMPLATES, PAGES_PROMPTS, PAGES_KIND_COUNT };

enum { PAGES_BYTES_MAX = 2 << 20 };

/* The member of an answer that holds the list. */
const char *pages_member(enum pages_kind kind);

/* items: the raw array, as the server wrote each of them; {NULL, 0} when it could not be had. why:
 * then, in words; NULL: there will be no connection any more. Borrowed. */
typedef void pages_fn(void *arg, const struct peer *p, enum pages_kind kind, struct span items,
                      const char *why);

/* To a peer that is up. fn comes once, but not when the peer is freed before. */
void pages_fetch(struct peer *p, enum pages_kind kind, pages_fn *fn, void *arg);
