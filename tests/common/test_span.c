#include "common/span.h"
#include "tests/lib/test.h"

TEST(absent_is_not_empty)
{
    struct span absent = span_of(NULL);

    CHECK(absent.p == NULL && absent.n == 0);
    CHECK(span_of("").p != NULL && span_of("").n == 0);
    CHECK(!span_is(absent, ""));
    CHECK(span_is(SPAN(""), ""));
    CHECK(!span_equal(absent, SPAN("")));
    CHECK(!span_equal(SPAN(""), absent));
    CHECK(!span_equal(absent, absent));
}

TEST(a_span_is_compared_whole)
{
    CHECK(span_is(SPAN("abc"), "abc"));
    CHECK(!span_is(SPAN("abc"), "ab"));
    CHECK(!span_is(SPAN("ab"), "abc"));
    CHECK(!span_is(SPAN("ab\0"), "ab"));
    CHECK(span_equal(SPAN("a\0b"), SPAN("a\0b")));
    CHECK(!span_equal(SPAN("a\0b"), SPAN("a\0c")));
    CHECK(!span_equal(SPAN("a"), SPAN("ab")));
}

TEST(a_literal_counts_all_its_bytes_but_the_last)
{
    CHECK(SPAN("a\0b").n == 3);
    CHECK(SPAN("").n == 0);
    CHECK(span_of("a\0b").n == 1);
}
