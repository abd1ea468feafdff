#include "broker/template.h"
#include "tests/lib/test.h"

#include <string.h>

static bool fits(const char *template, const char *uri)
{
    return template_fits(span_of(template), span_of(uri));
}

TEST(a_variable_stands_for_one_segment)
{
    CHECK(fits("test://template/{id}/data", "test://template/123/data"));
    CHECK(fits("test://template/{id}/data", "test://template/a%20b,c/data"));
    CHECK(!fits("test://template/{id}/data", "test://template//data"));
    CHECK(!fits("test://template/{id}/data", "test://template/1/2/data"));
    CHECK(!fits("test://template/{id}/data", "test://template/1/data/more"));
    CHECK(fits("x://{a}", "x://1") && !fits("x://{a}", "x://"));
    CHECK(fits("x://{a}-{b}", "x://1-2-3") && !fits("x://{a}-{b}", "x://12"));
}

TEST(a_template_without_variables_is_itself)
{
    CHECK(fits("x://a", "x://a") && !fits("x://a", "x://ab") && !fits("x://a", "x://"));
    CHECK(fits("", "") && !fits("", "x"));
}

TEST(a_reserved_expansion_stands_for_anything)
{
    CHECK(fits("file://{+path}", "file:///etc/passwd?x#y"));
    CHECK(!fits("file://{+path}", "file://"));
    CHECK(fits("x://a{#part}", "x://a#b/c") && fits("x://a{#part}", "x://a"));
}

TEST(an_expansion_with_a_character_of_its_own_may_be_absent)
{
    CHECK(fits("x://a{?q,r}", "x://a") && fits("x://a{?q,r}", "x://a?q=1&r=2"));
    CHECK(!fits("x://a{?q}", "x://ab"));
    CHECK(fits("x://a{/b*}", "x://a/1/2") && fits("x://a{.ext}", "x://a.txt"));
    CHECK(!fits("x://a{.ext}", "x://a/txt"));
    CHECK(fits("x://a?z=1{&q}", "x://a?z=1&q=2") && fits("x://a{;v}", "x://a;v=1"));
}

TEST(a_broken_template_fits_nothing)
{
    CHECK(!fits("x://{a", "x://{a") && !fits("x://{}", "x://a"));
}

TEST(an_address_that_is_too_long_fits_nothing)
{
    static char uri[TEMPLATE_URI_MAX + 2];

    memset(uri, 'a', sizeof(uri) - 1);
    CHECK(!template_fits(SPAN("{a}"), (struct span){uri, TEMPLATE_URI_MAX + 1}));
    CHECK(template_fits(SPAN("{a}"), (struct span){uri, TEMPLATE_URI_MAX}));
}

TEST(many_variables_take_no_longer_than_the_lengths_multiplied)
{
    static char uri[TEMPLATE_URI_MAX];
    static char template[4 * 500 + 2];

    memset(uri, 'a', sizeof(uri));
    for (size_t i = 0; i < 500; i++)
        memcpy(template + 4 * i, "{+a}", 4);
    template[2000] = 'b';
    CHECK(!template_fits(span_of(template), (struct span){uri, sizeof(uri)}));
}
