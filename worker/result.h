/* result.h - CallToolResult objects: made, checked, and said in one sentence. */
#pragma once

#include "common/buf.h"
#include "common/schema.h"

#include <stdbool.h>

enum {
    RESULT_MAX = 16 << 20, /* bytes of a result as JSON */
    RESULT_MESSAGE_MAX = 1000, /* bytes of a statusMessage made from one */
};

/* One text block. Bytes that are not UTF-8 become U+FFFD. */
void result_text(struct buf *out, struct span text, bool is_error);
/* structuredContent, byte for byte, and the same as a text block. json: a checked object. */
void result_structured(struct buf *out, struct span json);
/* Is this JSON and a CallToolResult in form? If not, *why is a static sentence. */
bool result_check(struct span json, bool *is_error, const char **why);
/* Is this one JSON object? The same. */
bool result_is_object(struct span json, const char **why);
/* Has a checked CallToolResult without isError the structuredContent that is promised? Else one
 * sentence in why. */
bool result_fits(struct span result, const struct schema *promised, struct buf *why);
/* The text of its first text block, cut to RESULT_MESSAGE_MAX between characters. */
void result_message(struct buf *out, struct span result);
/* The "message" of a JSON-RPC error object, likewise. */
void result_error_message(struct buf *out, struct span error);
/* A JSON-RPC error object. */
void result_rpc_error(struct buf *out, int code, struct span message);
/* What a call fails with: a result that says so, or, of what has no such results, an error. */
void result_failure(struct buf *out, struct span text, bool is_rpc_error);
/* The bytes of checked JSON as they are, without the white space between tokens: in one line. */
void result_compact(struct buf *out, struct span json);
/* The longest start of text that has at most max bytes and does not end inside a character. */
struct span result_cut(struct span text, size_t max);
