#include "common/metric.h"

#include "common/buf.h"
#include "common/event.h"
#include "tests/lib/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[1 << 20];

static const char *scrape(void)
{
    struct buf out;

    buf_init(&out, sizeof(text) - 1);
    metric_text(&out);
    if (!buf_ok(&out))
        abort();
    memcpy(text, out.p, out.n + 1);
    buf_fini(&out);
    return text;
}

static bool has(const char *line)
{
    char whole[256];

    (void)snprintf(whole, sizeof(whole), "\n%s\n", line);
    return strstr(scrape(), whole) != NULL;
}

/* The number after a name at the start of a line; -1: no such line. */
static double number(const char *name)
{
    char start[256];
    const char *at;

    (void)snprintf(start, sizeof(start), "\n%s ", name);
    at = strstr(scrape(), start);
    return at != NULL ? strtod(at + strlen(start), NULL) : -1;
}

TEST(every_metric_has_its_help_and_type_before_its_series)
{
    CHECK(strncmp(scrape(), "# HELP errand_", 14) == 0);
    CHECK(has("# HELP errand_redis_up 1 while the link to Redis is up\n# TYPE errand_redis_up "
              "gauge"));
    CHECK(has("# TYPE errand_events_total counter"));
    CHECK(strlen(text) > 0 && text[strlen(text) - 1] == '\n');
}

TEST(what_another_process_would_know_is_not_shown_until_it_is_set_here)
{
    CHECK(strstr(scrape(), "\nerrand_dead_letters ") == NULL);
    CHECK(strstr(scrape(), "\nerrand_leases_lapsed_total ") == NULL);
    CHECK(has("errand_store_messages_dropped_total 0"));
    metric_set(METRIC_DEAD_LETTERS, NULL, 3);
    metric_set(METRIC_LEASES_LAPSED, NULL, 2);
    CHECK(has("errand_dead_letters 3"));
    CHECK(has("# TYPE errand_leases_lapsed_total counter\nerrand_leases_lapsed_total 2"));
}

TEST(a_gauge_is_set_and_shifted_by_label)
{
    static const char odd[] = "down\"\\\n";

    metric_set(METRIC_REDIS_UP, "commands", 1);
    metric_set(METRIC_REDIS_UP, "subscriber", 5);
    metric_shift(METRIC_REDIS_UP, "subscriber", -7);
    metric_set(METRIC_REDIS_UP, odd, 3);
    CHECK(metric_value(METRIC_REDIS_UP, "commands") == 1);
    CHECK(metric_value(METRIC_REDIS_UP, "subscriber") == -2);
    CHECK(has("errand_redis_up{link=\"commands\"} 1"));
    CHECK(has("errand_redis_up{link=\"subscriber\"} -2"));
    CHECK(has("errand_redis_up{link=\"down\\\"\\\\\\n\"} 3"));
}

TEST(a_histogram_counts_up_to_each_bound_and_sums_in_seconds)
{
    CHECK(strstr(scrape(), "errand_request_seconds_count") == NULL);
    metric_observe(METRIC_REQUEST_SECONDS, "tasks/get", 0);
    metric_observe(METRIC_REQUEST_SECONDS, "tasks/get", 500);
    metric_observe(METRIC_REQUEST_SECONDS, "tasks/get", 501);
    metric_observe(METRIC_REQUEST_SECONDS, "tasks/get", 60000000);
    metric_observe(METRIC_REQUEST_SECONDS, "tasks/get", 61000002);
    CHECK(has("errand_request_seconds_bucket{method=\"tasks/get\",le=\"0.0005\"} 2"));
    CHECK(has("errand_request_seconds_bucket{method=\"tasks/get\",le=\"0.001\"} 3"));
    CHECK(has("errand_request_seconds_bucket{method=\"tasks/get\",le=\"30\"} 3"));
    CHECK(has("errand_request_seconds_bucket{method=\"tasks/get\",le=\"60\"} 4"));
    CHECK(has("errand_request_seconds_bucket{method=\"tasks/get\",le=\"+Inf\"} 5"));
    CHECK(has("errand_request_seconds_sum{method=\"tasks/get\"} 121.001003"));
    CHECK(has("errand_request_seconds_count{method=\"tasks/get\"} 5"));
    CHECK(has("# TYPE errand_request_seconds histogram"));
}

TEST(every_event_is_counted_from_zero_on)
{
    event_setup("errand-test", EVENT_LOGFMT, EVENT_ERROR);
    CHECK(has("errand_events_total{event=\"LINK_DOWN\"} 0"));
    LOG(LINK_DOWN, S("link", "x"));
    CHECK(has("errand_events_total{event=\"LINK_DOWN\"} 1"));
}

TEST(the_process_is_measured)
{
    double fds = number("process_open_fds");
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    CHECK(number("process_open_fds") > fds);
    (void)close(fd);
    CHECK(number("process_open_fds") < fds + 1);
    CHECK(number("process_resident_memory_bytes") > 100 * 1024);
    CHECK(has("errand_build_info{version=\"" ERRAND_VERSION "\"} 1"));
}

TEST(more_labels_than_a_row_may_have_are_counted_together)
{
    static char labels[METRIC_SERIES_MAX + 10][16];

    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        (void)snprintf(labels[i], sizeof(labels[i]), "many-%zu", i);
        metric_shift(METRIC_REDIS_UP, labels[i], 1);
    }
    CHECK(has("errand_redis_up{link=\"many-0\"} 1"));
    CHECK(number("errand_redis_up{link=\"other\"}") >= 10);
    CHECK(strstr(text, "many-70") == NULL);
    CHECK(metric_value(METRIC_REDIS_UP, "commands") == 1);
}

TEST(the_docs_have_a_row_for_every_metric)
{
    struct buf docs;
    const char *at = scrape();

    buf_init(&docs, 1 << 20);
    metric_docs(&docs);
    REQUIRE(buf_ok(&docs));
    while ((at = strstr(at, "# TYPE ")) != NULL) {
        char row[256];
        int n = (int)strcspn(at + 7, " ");

        (void)snprintf(row, sizeof(row), "\n| `%.*s` | ", n, at + 7);
        CHECK(strstr(docs.p, row) != NULL);
        at += 7;
    }
    buf_fini(&docs);
}
