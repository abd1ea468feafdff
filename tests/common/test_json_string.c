#include "common/json.h"
#include "tests/lib/test.h"

#define ABSENT ((struct span){NULL, 0})

static bool reads_as(const char *raw, const char *want)
{
    char out[64];

    return json_string(span_of(raw), out, sizeof(out)) == (long)strlen(want) &&
           strcmp(out, want) == 0;
}

TEST(a_string_is_decoded)
{
    CHECK(reads_as("\"\"", ""));
    CHECK(reads_as(" \"plain\" ", "plain"));
    CHECK(reads_as("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"));
    CHECK(reads_as("\"a\\u0041\\u00e9\\u20AC\\uD83d\\uDe00z\"",
                   "aA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"));
    CHECK(reads_as("\"\\u007f\\u0080\\u07ff\\u0800\\uffff\\udbff\\udfff\"",
                   "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf4\x8f\xbf\xbf"));
    CHECK(reads_as("\"\xe2\x82\xac\"", "\xe2\x82\xac"));
    CHECK(reads_as("\"\\\\u0041\"", "\\u0041"));
}

TEST(J3_a_nul_escape_does_not_shorten_a_method)
{
    char out[32];

    CHECK(json_string(SPAN("\"tools/call\\u0000x\""), out, sizeof(out)) == -1);
    CHECK(json_string(SPAN("\"tools/call\\u0000\""), out, sizeof(out)) == -1);
    CHECK(json_string(SPAN("\"\\u0000\""), out, sizeof(out)) == -1);
    CHECK(!json_is(SPAN("\"tools/call\\u0000x\""), "tools/call"));
    CHECK(!json_is(SPAN("\"tools/call\\u0000\""), "tools/call"));
}

TEST(a_string_that_does_not_fit_with_its_nul_is_refused)
{
    char out[5];

    CHECK(json_string(SPAN("\"four\""), out, 5) == 4);
    CHECK(json_string(SPAN("\"four\""), out, 4) == -1);
    CHECK(json_string(SPAN("\"fo\\u20ac\""), out, 5) == -1);
    CHECK(json_string(SPAN("\"f\\u20ac\""), out, 5) == 4);
    CHECK(json_string(SPAN("\"\""), out, 1) == 0);
    CHECK(json_string(SPAN("\"\""), out, 0) == -1);
}

TEST(what_is_no_string_is_not_read_as_one)
{
    char out[8];

    CHECK(json_string(SPAN("1"), out, sizeof(out)) == -1);
    CHECK(json_string(SPAN("null"), out, sizeof(out)) == -1);
    CHECK(json_string(SPAN("[\"a\"]"), out, sizeof(out)) == -1);
    CHECK(json_string(ABSENT, out, sizeof(out)) == -1);
    CHECK(!json_is(SPAN("ping"), "ping"));
    CHECK(!json_is(ABSENT, ""));
}

TEST(a_string_is_compared_decoded_and_whole)
{
    CHECK(json_is(SPAN("\"2.0\""), "2.0"));
    CHECK(json_is(SPAN(" \"2\\u002e0\" "), "2.0"));
    CHECK(json_is(SPAN("\"\""), ""));
    CHECK(!json_is(SPAN("\"2.0\""), "2.01"));
    CHECK(!json_is(SPAN("\"2.0\""), "2."));
    CHECK(!json_is(SPAN("\"2.0 \""), "2.0"));
    CHECK(!json_is(SPAN("\"a\\nb\""), "a\\nb"));
    CHECK(json_is(SPAN("\"a\\nb\""), "a\nb"));
}

TEST(J_02_an_id_is_a_string_or_a_number_written_as_an_integer)
{
    static const char *const good[] = {
        "0",          "-1",  "-0",      "12345678901234567890", "\"\"",
        "\"a\"",      " 7 ", "\"1.5\"", "9007199254740993",     "\"\\\\u0000\"",
        "\"\\u0001\""};
    static const char *const bad[] = {
        "null", "true", "1.5", "1.0", "1e2", "1E400",       "-1e0",
        "{}",   "[]",   "[1]", "",    "-",   "\"\\u0000\"", "\"a\\\\\\u0000\""};

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        CHECK(json_is_id(span_of(good[i])));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(!json_is_id(span_of(bad[i])));
    CHECK(!json_is_id(ABSENT));
}

TEST(J2_an_id_of_1e400_is_refused)
{
    CHECK(!json_is_id(SPAN("1e400")));
}
