/* event.h - what is logged: declared in event.def, written to stderr, counted.
 *
 * A line is logfmt or JSON (--log). Values are escaped centrally, so a task named
 * x" level=INFO\n cannot forge a line. Never a secret, never a payload.
 *
 *     LOG(LINK_DOWN, S("link", "commands"), S("redis", where), S("why", why));
 *     LOG(TASK_LOST, S("task", id), N("attempt", n));
 *
 * Keys must be those of the row, in any order; a wrong one fails an assert in every build, and one
 * that has no value here may be left out. A line is one write(2) of at most EVENT_LINE_MAX bytes:
 * values that do not fit are cut and end in an ellipsis. May be called from any thread.
 */
#pragma once

#include "common/span.h"

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
#define X(name, level, text, fields) EVENT_##name,
#include "common/event.def"
#undef X
    EVENT_COUNT
};

enum { EVENT_LINE_MAX = 4096 };

enum event_level { EVENT_DEBUG, EVENT_INFO, EVENT_WARN, EVENT_ERROR };

struct event_field {
    const char *key; /* NULL ends the list */
    struct span text;
    uint64_t number;
    bool is_number;
};

#define S(k, v) \
    { \
        .key = (k), .text = span_of(v) \
    }
#define SP(k, v) \
    { \
        .key = (k), .text = (v) \
    }
#define N(k, v) \
    { \
        .key = (k), .number = (uint64_t)(v), .is_number = true \
    }
#define LOG(event, ...) event_log(EVENT_##event, (struct event_field[]){__VA_ARGS__, {.key = NULL}})

void event_log(enum event_kind e, const struct event_field *fields);

enum event_format { EVENT_LOGFMT, EVENT_JSON };
/* program names the process in every line; lines under level are counted but not written. */
void event_setup(const char *program, enum event_format format, enum event_level level);
/* The same by the options' words: "logfmt" or "json"; "debug", "info", "warn", "error", or
 * "none". */
void event_setup_named(const char *program, const char *format, const char *level);
uint64_t event_count(enum event_kind e);
const char *event_name(enum event_kind e);
enum event_level event_level(enum event_kind e);
const char *event_text(enum event_kind e);
const char *event_fields(enum event_kind e);

/* docs/events.md */
struct buf;
void event_docs(struct buf *out);
