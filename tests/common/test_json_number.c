#include "common/json.h"
#include "common/mem.h"
#include "tests/lib/test.h"

#include <locale.h>
#include <stdlib.h>

static bool int_is(const char *raw, int64_t want)
{
    int64_t v = ~want;

    return json_int(span_of(raw), &v) && v == want;
}

static bool no_int(const char *raw)
{
    int64_t v;

    return !json_int(span_of(raw), &v);
}

TEST(an_integer_is_read_by_value_not_by_form)
{
    CHECK(int_is("0", 0));
    CHECK(int_is("-0", 0));
    CHECK(int_is("-0.0e5", 0));
    CHECK(int_is("3", 3));
    CHECK(int_is("3.0", 3));
    CHECK(int_is("3e2", 300));
    CHECK(int_is("3.25e2", 325));
    CHECK(int_is("30000E-4", 3));
    CHECK(int_is("-12.50e+1", -125));
    CHECK(int_is(" 7 ", 7));
    CHECK(int_is("0e999999999999999999999", 0));
}

TEST(J15_integers_are_exact_to_the_ends_of_their_range)
{
    CHECK(int_is("3e9", INT64_C(3000000000)));
    CHECK(int_is("9007199254740993", INT64_C(9007199254740993)));
    CHECK(int_is("9223372036854775807", INT64_MAX));
    CHECK(int_is("-9223372036854775808", INT64_MIN));
    CHECK(int_is("922337203685477580.7e1", INT64_MAX));
    CHECK(no_int("9223372036854775808"));
    CHECK(no_int("-9223372036854775809"));
    CHECK(no_int("18446744073709551616"));
    CHECK(no_int("99999999999999999999999"));
}

TEST(J15_fractions_and_numbers_past_the_range_are_no_integers)
{
    CHECK(no_int("1.5"));
    CHECK(no_int("1e-1"));
    CHECK(no_int("0.0000001"));
    CHECK(no_int("1e300"));
    CHECK(no_int("1e99999999999999999999"));
    CHECK(no_int("1e-99999999999999999999"));
    CHECK(no_int("\"1\""));
    CHECK(no_int("null"));
    CHECK(no_int("true"));
    CHECK(no_int("[]"));
    CHECK(no_int(""));
    CHECK(!json_int((struct span){NULL, 0}, &(int64_t){0}));
}

TEST(an_integer_with_a_million_zeros_is_still_exact)
{
    char *text = mem_alloc(1000020);

    memset(text, '0', 1000002);
    text[1] = '.';
    memcpy(text + 1000002, "42e1000002", 11);
    CHECK(json_check(span_of(text), NULL, NULL) == ERR_OK);
    CHECK(int_is(text, 42));
    free(text);
}

TEST(J2_a_number_is_read_when_it_is_finite)
{
    double v = 0;

    CHECK(json_number(SPAN("-12.5e-1"), &v) && v < -1.2499 && v > -1.2501);
    CHECK(json_number(SPAN("1e-400"), &v) && v < 1e-300);
    CHECK(!json_number(SPAN("1e400"), &v));
    CHECK(!json_number(SPAN("-1e400"), &v));
    CHECK(!json_number(SPAN("\"1\""), &v));
    CHECK(!json_number(SPAN("nan"), &v));
    CHECK(!json_number(SPAN("0x10"), &v));
    CHECK(!json_number((struct span){NULL, 0}, &v));
}

/* Shown where a locale with a decimal comma is installed. */
TEST(J17_the_locale_of_the_program_does_not_change_a_number)
{
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    locale_t comma = (locale_t)0;
    locale_t old = uselocale((locale_t)0);
    double v = 0;

    for (size_t i = 0; i < 3 && comma == (locale_t)0; i++)
        comma = newlocale(LC_NUMERIC_MASK, commas[i], (locale_t)0);
    if (comma != (locale_t)0)
        (void)uselocale(comma);
    CHECK(json_number(SPAN("1.5"), &v) && v > 1.4);
    (void)uselocale(old);
    if (comma != (locale_t)0)
        freelocale(comma);
}
