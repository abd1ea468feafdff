/* otlp.h - spans of traces, sent to a collector by OTLP over HTTP, in JSON.
 *
 * One exporter a process, off until otlp_start(). A span that is told is written down at once;
 * spans leave together, every second or by the hundreds, one request at a time. Nothing ever waits
 * for the collector: while it is slow or away, spans beyond a limit are dropped, and counted in
 * errand_spans_total. For the thread of the loop only.
 */
#pragma once

#include "common/trace.h"

#include <stdint.h>

struct event_base;

enum otlp_kind { OTLP_INTERNAL = 1, OTLP_SERVER = 2, OTLP_CONSUMER = 5 };

struct otlp_attribute {
    const char *key;
    const char *value; /* NULL or "": left out */
};

enum { OTLP_ATTRIBUTES_MAX = 6 };

struct otlp_span {
    const struct trace *trace; /* not sampled, or empty: nothing is sent */
    const char *parent; /* a span id, or "" */
    const char *name;
    enum otlp_kind kind;
    uint64_t took_us; /* until now */
    bool is_error;
    struct otlp_attribute attributes[OTLP_ATTRIBUTES_MAX];
};

/* url: of the collector, like http://127.0.0.1:4318. */
void otlp_start(struct event_base *base, const char *url, const char *program,
                const char *instance);
/* Sends what waits, turning the loop for a second at most, and is off again. Nobody else should
 * need the loop any more. */
void otlp_stop(void);
bool otlp_is_on(void);
void otlp_span(const struct otlp_span *span);
