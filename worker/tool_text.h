/* tool_text.h - ${env:NAME} in values of tools.json. */
#pragma once

#include "common/buf.h"

#include <stdbool.h>

/* Is what looks like one written right? Else why gets one sentence. */
bool text_check(const char *value, struct buf *why);
/* With what the environment says now. What comes out may be a secret: buf_wipe() it. False, and one
 * sentence in why that names the variable, when one is not set. */
bool text_expand(struct buf *out, const char *value, struct buf *why);
/* Makes *** of the secret wherever it stands in the text; one of less than four bytes is a word. */
void text_hide(struct buf *text, const char *secret);
/* The same for what the variables that value names stand for. */
void text_hide_named(struct buf *text, const char *value);
