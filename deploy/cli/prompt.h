/* prompt.h - one field of a form, put to a person and read from a line of text. */
#pragma once

#include "common/buf.h"

#include <stdbool.h>

struct prompt {
    struct span property; /* of a form that has passed elicit_check_form() */
    struct span name; /* raw, between its quotes */
    bool required;
};

/* What is said once: what it is about, and what there is to choose from, by number. */
void prompt_introduce(struct buf *out, const struct prompt *f);
/* What is said before each try: `Size (whole number, 1 to 9) [3]: `. */
void prompt_ask(struct buf *out, const struct prompt *f);

enum prompt_end {
    PROMPT_VALUE, /* value is the raw JSON */
    PROMPT_SKIPPED, /* an optional one that was left empty */
    PROMPT_WRONG /* why says it */
};
/* An empty line takes the default. Choices are named by number, value or title; several are
 * separated by commas. */
enum prompt_end prompt_read(const struct prompt *f, struct span line, struct buf *value,
                            struct buf *why);
