#include "deploy/cli/stream.h"

#include "tests/lib/test.h"

#include <string.h>

static struct {
    unsigned events;
    char last[256];
} g;

static void on_data(void *arg, struct span data)
{
    (void)arg;
    g.events++;
    memcpy(g.last, data.p, data.n < 255 ? data.n : 255);
    g.last[data.n < 255 ? data.n : 255] = '\0';
}

static const struct {
    const char *text;
    unsigned events;
    const char *last;
} rows[] = {
    {"data: a\n\n", 1, "a"},
    {"data:a\r\n\r\n", 1, "a"},
    {"data: a\r\rdata: b\r\r", 2, "b"},
    {"data:  a\n\n", 1, " a"}, /* one blank is the separator's */
    {"data: a\ndata: b\n\n", 1, "a\nb"},
    {"data\n\n", 1, ""},
    {"data: \n\n", 1, ""},
    {": comment\n\n", 0, ""},
    {"event: x\nid: 7\nretry: 10\n\n", 0, ""},
    {"id: 7\ndata: a\nevent: message\n\n", 1, "a"},
    {"dataset: a\n\n", 0, ""},
    {"data: a\n", 0, ""}, /* it never ended */
    {"\n\n\n\n", 0, ""},
};

TEST(an_event_is_its_data_however_it_is_written)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct stream s;

        memset(&g, 0, sizeof(g));
        stream_init(&s, 1000, on_data, NULL);
        CHECK(stream_feed(&s, rows[i].text, strlen(rows[i].text)));
        CHECK(g.events == rows[i].events && strcmp(g.last, rows[i].last) == 0);
        stream_fini(&s);
    }
}

TEST(an_event_may_arrive_byte_by_byte)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct stream s;

        memset(&g, 0, sizeof(g));
        stream_init(&s, 1000, on_data, NULL);
        for (const char *p = rows[i].text; *p != '\0'; p++)
            CHECK(stream_feed(&s, p, 1));
        CHECK(g.events == rows[i].events && strcmp(g.last, rows[i].last) == 0);
        stream_fini(&s);
    }
}

TEST(an_event_larger_than_the_limit_is_given_up)
{
    char text[300];
    struct stream s;

    memset(text, 'x', sizeof(text));
    memcpy(text, "data: ", 6);
    memset(&g, 0, sizeof(g));
    stream_init(&s, 100, on_data, NULL);
    CHECK(!stream_feed(&s, text, sizeof(text)));
    stream_fini(&s);
    stream_init(&s, 100, on_data, NULL);
    text[80] = '\n';
    memcpy(text + 81, "data: ", 6);
    text[160] = '\n';
    text[161] = '\n';
    CHECK(!stream_feed(&s, text, 170));
    CHECK(g.events == 0);
    stream_fini(&s);
}
