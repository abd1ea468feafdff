#include "deploy/cli/say.h"

#include "tests/lib/test.h"

#include <string.h>

static bool says(struct buf *b, const char *want)
{
    bool same = strcmp(b->n > 0 ? b->p : "", want) == 0;

    buf_fini(b);
    return same;
}

TEST(a_terminal_gets_no_control_characters)
{
    struct buf b;

    buf_init(&b, 1000);
    say_clean(&b, SPAN("a\x1b[31mb\tc\nd\x7f"), true);
    CHECK(says(&b, "a?[31mb\tc\nd?"));
    buf_init(&b, 1000);
    say_clean(&b, SPAN("a\tb\nc"), false);
    CHECK(says(&b, "a b c"));
    buf_init(&b, 1000);
    say_string(&b, SPAN("\"\\u001b]0;x\\u0007 caf\\u00e9\""), false);
    CHECK(says(&b, "?]0;x? caf\xc3\xa9"));
    buf_init(&b, 1000);
    say_string(&b, SPAN("17"), false);
    CHECK(says(&b, ""));
}

TEST(an_age_is_in_its_largest_clear_unit)
{
    static const struct {
        uint64_t ms;
        const char *text;
    } rows[] = {{0, "0s"},         {119999, "119s"}, {120000, "2m"},
                {7199999, "119m"}, {7200000, "2h"},  {172800000, "2d"}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buf b;

        buf_init(&b, 100);
        say_age(&b, rows[i].ms);
        CHECK(says(&b, rows[i].text));
    }
}

TEST(a_timestamp_is_read_to_the_millisecond)
{
    uint64_t ms = 0;

    CHECK(say_time(SPAN("\"1970-01-02T00:00:01.250Z\""), &ms) && ms == 86401250);
    CHECK(say_time(SPAN("\"2026-01-02T03:04:05Z\""), &ms) && ms == UINT64_C(1767323045000));
    CHECK(!say_time(SPAN("\"yesterday\""), &ms));
    CHECK(!say_time(SPAN("12"), &ms));
}

TEST(a_result_is_its_texts_and_names_of_the_rest)
{
    static const struct {
        const char *result;
        const char *text;
    } rows[] = {
        {"{\"content\":[{\"type\":\"text\",\"text\":\"a\\nb\"}]}", "a\nb"},
        {"{\"content\":[{\"type\":\"text\",\"text\":\"a\\n\"},{\"type\":\"text\",\"text\":\"b\"}]}",
         "a\nb"},
        {"{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]}",
         "a\nb"},
        {"{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"AAAAAAAA\"}]}",
         "[image image/png 6 bytes]"},
        {"{\"content\":[{\"type\":\"resource_link\",\"uri\":\"file:///x\"}]}",
         "[resource_link  file:///x]"},
        {"{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"u\",\"text\":\"t\"}}]}",
         "t"},
        {"{\"content\":[],\"structuredContent\":{\"a\":1}}", "{\"a\":1}"},
        {"{}", ""},
        {"{\"content\":7}", ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buf b;

        buf_init(&b, 1000);
        say_result(&b, span_of(rows[i].result), true);
        CHECK(says(&b, rows[i].text));
    }
}
