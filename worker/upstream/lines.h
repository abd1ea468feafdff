/* lines.h - the lines that a wrapped server writes, one JSON-RPC message each.
 *
 * A line longer than LINES_MAX is skipped, but for the id at its top: so that who waits for just
 * that answer can be told.
 */
#pragma once

#include "common/buf.h"

#include <stdbool.h>

enum { LINES_MAX = 24 << 20, LINES_ID_ROOM = 64 };

/* text: a line without its end, not empty; not yet checked. Borrowed. */
typedef void lines_fn(void *arg, struct span text);
/* id: raw, or {NULL, 0} when it has none. */
typedef void lines_long_fn(void *arg, struct span id);

/* Where in a JSON object that is only looked at as it passes. */
struct lines_scan {
    unsigned depth;
    bool in_string;
    bool is_escaped;
    bool is_key; /* of the object at the top */
    bool wants; /* the value that follows is the id's */
    char key[4]; /* of the object at the top, as far as it matters */
    unsigned key_n;
    char id[LINES_ID_ROOM];
    unsigned id_n;
};

struct lines {
    struct buf in; /* the beginning of a line */
    struct lines_scan scan;
    bool is_long;
    lines_fn *on_line;
    lines_long_fn *on_long;
    void *arg;
};

void lines_init(struct lines *l, lines_fn *on_line, lines_long_fn *on_long, void *arg);
void lines_fini(struct lines *l);
/* Calls back from inside. The callbacks must not end the lines. */
void lines_feed(struct lines *l, struct span bytes);
