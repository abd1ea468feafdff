/* elicit.h - the forms that a person is asked to fill in (elicitation/create), by MCP's rules.
 *
 * A form is a flat object schema: each property a string, number, integer or boolean, a choice of
 * strings ("enum", or "oneOf" of {"const", "title"}), or a list of such ("items" with "enum" or
 * "anyOf"). Nothing nested, no references, no patterns; at most 100 fields. Whoever sends a form
 * or an answer makes no check cost more than to sort what it holds, for each field.
 */
#pragma once

#include "common/buf.h"

#include <stdbool.h>

/* Is this a form that may be asked for? Else why gets one sentence. schema has passed json_check().
 */
bool elicit_check_form(struct span schema, struct buf *why);
/* Does what was filled in fit that form? content may be absent. form has passed
 * elicit_check_form(), content json_check(). */
bool elicit_check_content(struct span form, struct span content, struct buf *why);

/* For whoever asks field by field; properties are of a checked form. */
enum elicit_kind {
    ELICIT_STRING,
    ELICIT_NUMBER,
    ELICIT_INTEGER,
    ELICIT_BOOLEAN,
    ELICIT_CHOICE, /* one of some strings */
    ELICIT_CHOICES, /* several of them */
    ELICIT_NONE,
};
enum elicit_kind elicit_kind_of(struct span property);
/* The list of what may be chosen: strings, or objects with "const". */
struct span elicit_choices(struct span property, enum elicit_kind kind);
/* Does this value fit the property? name (raw) is for the sentence. */
bool elicit_check_value(struct span property, struct span name, struct span value, struct buf *why);
