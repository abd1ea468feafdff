/* offers.h - a page of what wrapped servers offer, as both dialects send it. */
#pragma once

#include "broker/catalog.h"
#include "broker/req.h"

/* Writes "resources":[...] and, when more follows, its nextCursor; no braces. A bad cursor fails
 * the request, and false is returned. */
bool offers_page(struct req *q, struct buf *out, enum offer_kind kind);
