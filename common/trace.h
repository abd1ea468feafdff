/* trace.h - W3C trace context: which trace something belongs to, and its place in it.
 *
 * A traceparent is 00-<trace id>-<span id>-<flags>. Whoever begins a piece of work that is told as
 * a span of its own takes the context it was given, makes a child of it (same trace, a new span id)
 * and hands that on, in a header, in _meta or in the environment. Who only passes work on hands on
 * what it was given.
 */
#pragma once

#include "common/span.h"

#include <stdbool.h>

enum { TRACE_ID_LEN = 32, TRACE_SPAN_LEN = 16, TRACE_TEXT_LEN = 55 };

/* Lower-case hex. An empty id: there is no trace. */
struct trace {
    char id[TRACE_ID_LEN + 1];
    char span[TRACE_SPAN_LEN + 1];
    bool is_sampled;
};

/* false, and *out is empty, for what is no traceparent. Versions after 00 are read as far as 00
 * goes, as the recommendation asks. */
bool trace_parse(struct trace *out, struct span text);
/* A new span in the trace of parent, or, when that is empty, in a trace of its own that is sampled
 * or not. */
void trace_child(struct trace *out, const struct trace *parent);
void trace_root(struct trace *out, bool is_sampled);
/* As a traceparent; "" when t is empty. */
void trace_text(char out[static TRACE_TEXT_LEN + 1], const struct trace *t);
/* The trace id within a traceparent, for log lines; {NULL, 0} when it is none. */
struct span trace_id_of(struct span text);
