/* question.h - one elicitation/create, from its request to what was answered. It knows no terminal:
 * it says what to print, and is given lines. */
#pragma once

#include "common/list.h"
#include "deploy/cli/prompt.h"

#include <stdint.h>

struct question {
    struct list node; /* its owner's */
    struct buf id; /* raw, of the request */
    struct buf params;
    uint64_t withdrawn_ms; /* its owner's: when it was cancelled, or 0 */
    bool is_url;
    size_t cursor; /* behind the field that is asked */
    struct prompt field;
    struct buf content; /* so far, without its end */
};

/* NULL: it is nothing that can be put to a person, and why says so. */
struct question *question_new(struct span id, struct span params, struct buf *why);
void question_free(struct question *q);

/* Begins, from the start whenever it is called: adds what to print. True: nothing is to be filled
 * in. */
bool question_begin(struct question *q, struct buf *out);
/* What to print when something else was printed in between. */
void question_again(const struct question *q, struct buf *out);
/* A line that was typed. True: that was all, and question_accept() makes the result. */
bool question_line(struct question *q, struct span line, struct buf *out);
void question_accept(const struct question *q, struct buf *result);
