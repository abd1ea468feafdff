/* header.h - the headers that repeat what the body says, and how they are compared (HX-06..HX-11).
 */
#pragma once

#include "broker/http.h"
#include "common/buf.h"

/* Does a header's value say `want`? OWS is trimmed; =?base64?...?= is decoded first, and a bad one
 * matches nothing. Absent: false. */
bool m_header_says(const struct http_req *r, const char *header, struct span want);

/* Mcp-Param-<X> headers against the arguments of a call, for the properties of the tool's
 * inputSchema that carry x-mcp-header. On a mismatch false and one sentence. */
bool m_params_agree(const struct http_req *r, struct span input_schema, struct span arguments,
                    struct buf *why);
