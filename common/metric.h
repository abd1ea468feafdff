/* metric.h - counters, gauges and histograms: declared in metric.def, shown as Prometheus text.
 *
 * A row has at most one label; its values come from our own tables (methods, reasons, states),
 * never from a client, so the number of series is bounded: METRIC_SERIES_MAX a row, then "other".
 * For the thread of the loop only.
 */
#pragma once

#include <stdint.h>

enum metric {
#define X(name, kind, metric, label, help) METRIC_##name,
#include "common/metric.def"
#undef X
    METRIC_COUNT
};

enum { METRIC_SERIES_MAX = 64 };

/* label is NULL for a row without one. The text must be static: it is compared by content once
 * and kept. */
void metric_add(enum metric m, const char *label, uint64_t n); /* COUNTER */
void metric_set(enum metric m, const char *label, int64_t v); /* GAUGE, TOTAL */
void metric_shift(enum metric m, const char *label, int64_t by); /* GAUGE */
void metric_observe(enum metric m, const char *label, uint64_t us); /* HISTOGRAM, microseconds */
int64_t metric_value(enum metric m, const char *label); /* a counter's or gauge's; tests */

struct buf;
void metric_text(struct buf *out); /* Prometheus exposition; with errand_events_total */
void metric_docs(struct buf *out); /* docs/metrics.md */
