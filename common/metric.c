#include "common/metric.h"

#include "common/buf.h"
#include "common/event.h"
#include "common/mem.h"

#include <assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum metric_kind { COUNTER, GAUGE, HISTOGRAM, TOTAL };

static const struct {
    enum metric_kind kind;
    const char *name;
    const char *label; /* NULL: none */
    const char *help;
} rows[] = {
#define X(id, kind, metric, label, help) {kind, metric, label, help},
#include "common/metric.def"
#undef X
};

static const char *const kind_names[] = {"counter", "gauge", "histogram", "counter"};

/* Upper bounds, in microseconds and as /metrics shows them, in seconds. */
static const struct {
    uint64_t us;
    const char *le;
} buckets[] = {
    {500, "0.0005"},  {1000, "0.001"},  {2500, "0.0025"}, {5000, "0.005"},
    {10000, "0.01"},  {25000, "0.025"}, {50000, "0.05"},  {100000, "0.1"},
    {250000, "0.25"}, {500000, "0.5"},  {1000000, "1"},   {2500000, "2.5"},
    {5000000, "5"},   {10000000, "10"}, {30000000, "30"}, {60000000, "60"},
};

enum { BUCKETS = sizeof(buckets) / sizeof(buckets[0]) };

struct histogram {
    uint64_t counts[BUCKETS + 1]; /* the last: over every bound */
    uint64_t sum_us;
};

struct series {
    const char *label; /* borrowed; static */
    int64_t value; /* the count, of a histogram */
    struct histogram *histogram;
};

/* One more than the most: "other". */
static struct {
    struct series series[METRIC_SERIES_MAX + 1];
    size_t n;
} table[METRIC_COUNT];

static struct series *series_of(enum metric m, enum metric_kind kind, const char *label)
{
    struct series *all = table[m].series;
    size_t *n = &table[m].n;
    size_t i = 0;

    assert(rows[m].kind == kind);
    assert((rows[m].label == NULL) == (label == NULL));
    while (i < *n && label != NULL && all[i].label != label && strcmp(all[i].label, label) != 0)
        i++;
    if (i < *n)
        return &all[i];
    if (i >= METRIC_SERIES_MAX) {
        all[METRIC_SERIES_MAX].label = "other";
        *n = METRIC_SERIES_MAX + 1;
        return &all[METRIC_SERIES_MAX];
    }
    all[(*n)++].label = label;
    return &all[i];
}

void metric_add(enum metric m, const char *label, uint64_t n)
{
    series_of(m, COUNTER, label)->value += (int64_t)n;
}

void metric_set(enum metric m, const char *label, int64_t v)
{
    series_of(m, rows[m].kind == TOTAL ? TOTAL : GAUGE, label)->value = v;
}

void metric_shift(enum metric m, const char *label, int64_t by)
{
    series_of(m, GAUGE, label)->value += by;
}

void metric_observe(enum metric m, const char *label, uint64_t us)
{
    struct series *s = series_of(m, HISTOGRAM, label);
    size_t i = 0;

    if (s->histogram == NULL)
        s->histogram = mem_zalloc(sizeof(*s->histogram));
    while (i < BUCKETS && us > buckets[i].us)
        i++;
    s->histogram->counts[i]++;
    s->histogram->sum_us += us;
    s->value++;
}

int64_t metric_value(enum metric m, const char *label)
{
    return series_of(m, rows[m].kind, label)->value;
}

static void add_escaped(struct buf *out, const char *text, bool quote)
{
    for (; *text != '\0'; text++) {
        if (*text == '\n')
            buf_adds(out, "\\n");
        else if (*text == '\\' || (*text == '"' && quote))
            buf_addf(out, "\\%c", *text);
        else
            buf_addc(out, *text);
    }
}

/* name{label="value",le="bound"} and a space; a NULL one is left out. */
static void add_name(struct buf *out, size_t m, const char *suffix, const char *label,
                     const char *bound)
{
    buf_addf(out, "%s%s", rows[m].name, suffix);
    if (label != NULL || bound != NULL)
        buf_addc(out, '{');
    if (label != NULL) {
        buf_addf(out, "%s=\"", rows[m].label);
        add_escaped(out, label, true);
        buf_addc(out, '"');
    }
    if (bound != NULL)
        buf_addf(out, "%sle=\"%s\"", label != NULL ? "," : "", bound);
    buf_adds(out, label != NULL || bound != NULL ? "} " : " ");
}

static void add_histogram(struct buf *out, size_t m, const char *label, const struct histogram *h)
{
    uint64_t n = 0;

    for (size_t i = 0; i <= BUCKETS; i++) {
        n += h->counts[i];
        add_name(out, m, "_bucket", label, i < BUCKETS ? buckets[i].le : "+Inf");
        buf_add_u64(out, n);
        buf_addc(out, '\n');
    }
    add_name(out, m, "_sum", label, NULL);
    buf_addf(out, "%lu.%06u\n", (unsigned long)(h->sum_us / 1000000U),
             (unsigned)(h->sum_us % 1000000U));
    add_name(out, m, "_count", label, NULL);
    buf_add_u64(out, n);
    buf_addc(out, '\n');
}

static void add_series(struct buf *out, size_t m)
{
    static const struct histogram none;

    for (size_t i = 0; i < table[m].n; i++) {
        const struct series *s = &table[m].series[i];

        if (rows[m].kind == HISTOGRAM) {
            add_histogram(out, m, s->label, s->histogram != NULL ? s->histogram : &none);
            continue;
        }
        add_name(out, m, "", s->label, NULL);
        buf_addf(out, "%ld\n", (long)s->value);
    }
    if (table[m].n != 0 || rows[m].label != NULL || rows[m].kind == GAUGE || rows[m].kind == TOTAL)
        return;
    /* Nothing has happened yet, which is a zero. */
    if (rows[m].kind == HISTOGRAM) {
        add_histogram(out, m, NULL, &none);
    } else {
        add_name(out, m, "", NULL, NULL);
        buf_adds(out, "0\n");
    }
}

static void add_events(struct buf *out)
{
    for (size_t e = 0; e < EVENT_COUNT; e++) {
        add_name(out, METRIC_EVENTS, "", event_name((enum event_kind)e), NULL);
        buf_add_u64(out, event_count((enum event_kind)e));
        buf_addc(out, '\n');
    }
}

/* The second number of statm: resident pages. */
static int64_t resident_bytes(void)
{
    char line[128];
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (f == NULL)
        return 0;
    if (fgets(line, sizeof(line), f) != NULL)
        pages = strtol(line + strcspn(line, " "), NULL, 10);
    (void)fclose(f);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static int64_t open_fds(void)
{
    int64_t n = 0;
    DIR *dir = opendir("/proc/self/fd");

    if (dir == NULL)
        return 0;
    for (const struct dirent *d = readdir(dir); d != NULL; d = readdir(dir))
        n += d->d_name[0] != '.';
    (void)closedir(dir);
    return n - 1; /* not the one that looks */
}

void metric_text(struct buf *out)
{
    metric_set(METRIC_BUILD_INFO, ERRAND_VERSION, 1);
    metric_set(METRIC_RESIDENT_MEMORY, NULL, resident_bytes());
    metric_set(METRIC_OPEN_FDS, NULL, open_fds());
    for (size_t m = 0; m < METRIC_COUNT; m++) {
        buf_addf(out, "# HELP %s ", rows[m].name);
        add_escaped(out, rows[m].help, false);
        buf_addf(out, "\n# TYPE %s %s\n", rows[m].name, kind_names[rows[m].kind]);
        if (m == METRIC_EVENTS)
            add_events(out);
        else
            add_series(out, m);
    }
}

void metric_docs(struct buf *out)
{
    buf_adds(out, "# Metrics\n\n"
                  "What `/metrics` shows, in Prometheus' text format. A metric has at most one "
                  "label, whose values come from\nerrand's own tables, never from a client. "
                  "Histograms are in seconds, with bounds at ");
    for (size_t i = 0; i < BUCKETS; i++)
        buf_addf(out, "%s%s", i == 0 ? "" : i + 1 < BUCKETS ? ", " : " and ", buckets[i].le);
    buf_adds(out, ".\n\n| metric | kind | label | what |\n|---|---|---|---|\n");
    for (size_t m = 0; m < METRIC_COUNT; m++) {
        bool labelled = rows[m].label != NULL;

        buf_addf(out, "| `%s` | %s | %s%s%s | %s |\n", rows[m].name, kind_names[rows[m].kind],
                 labelled ? "`" : "", labelled ? rows[m].label : "", labelled ? "`" : "",
                 rows[m].help);
    }
}
