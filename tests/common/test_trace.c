#include "common/trace.h"
#include "tests/lib/test.h"

#include <string.h>

#define ID "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN_ID "00f067aa0ba902b7"
#define PARENT "00-" ID "-" SPAN_ID "-01"

TEST(B28_a_traceparent_is_read_and_written_as_it_was)
{
    char text[TRACE_TEXT_LEN + 1];
    struct trace t;

    REQUIRE(trace_parse(&t, SPAN(PARENT)));
    CHECK(strcmp(t.id, ID) == 0);
    CHECK(strcmp(t.span, SPAN_ID) == 0);
    CHECK(t.is_sampled);
    trace_text(text, &t);
    CHECK(strcmp(text, PARENT) == 0);
    CHECK(span_is(trace_id_of(SPAN(PARENT)), ID));
}

TEST(only_the_lowest_flag_says_that_it_is_sampled)
{
    static const char digits[] = "0123456789abcdef";
    char text[] = PARENT;
    struct trace t;

    for (size_t i = 0; i < 16; i++) {
        text[TRACE_TEXT_LEN - 1] = digits[i];
        REQUIRE(trace_parse(&t, span_of(text)));
        CHECK(t.is_sampled == (i % 2 == 1));
    }
}

TEST(B28_a_child_stays_in_its_trace_with_a_place_of_its_own)
{
    struct trace parent;
    struct trace one;
    struct trace two;

    REQUIRE(trace_parse(&parent, SPAN(PARENT)));
    trace_child(&one, &parent);
    trace_child(&two, &parent);
    CHECK(strcmp(one.id, ID) == 0);
    CHECK(strcmp(one.span, SPAN_ID) != 0);
    CHECK(one.is_sampled);
    CHECK(strcmp(one.span, two.span) != 0);
}

TEST(what_belongs_to_no_trace_begins_one)
{
    struct trace none = {.is_sampled = true};
    struct trace one;
    struct trace two;
    char text[TRACE_TEXT_LEN + 1];

    trace_child(&one, &none);
    trace_root(&two, false);
    CHECK(strcmp(one.id, two.id) != 0);
    CHECK(one.is_sampled && !two.is_sampled);
    trace_text(text, &one);
    CHECK(strlen(text) == TRACE_TEXT_LEN);
    CHECK(trace_parse(&two, span_of(text)));
    trace_text(text, &none);
    CHECK(text[0] == '\0');
}

TEST(what_is_no_traceparent_is_none)
{
    static const char *const bad[] = {
        "",
        "00",
        "00-" ID "-" SPAN_ID "-0",
        "00-" ID "-" SPAN_ID "-01-",
        "00-" ID "-" SPAN_ID "-01-more",
        "ff-" ID "-" SPAN_ID "-01",
        "0x-" ID "-" SPAN_ID "-01",
        "00-" ID "-" SPAN_ID "-0G",
        "00_" ID "-" SPAN_ID "-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN_ID "-01",
        "00-00000000000000000000000000000000-" SPAN_ID "-01",
        "00-" ID "-0000000000000000-01",
        "01-" ID "-" SPAN_ID "-01more",
    };
    struct trace t;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(!trace_parse(&t, span_of(bad[i])));
        CHECK(t.id[0] == '\0');
        CHECK(trace_id_of(span_of(bad[i])).p == NULL);
    }
    CHECK(trace_parse(&t, SPAN("01-" ID "-" SPAN_ID "-01-of-a-later-version")));
}
