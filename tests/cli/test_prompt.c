#include "deploy/cli/prompt.h"

#include "tests/lib/test.h"

#include <string.h>

static struct prompt field(const char *property, bool required)
{
    return (struct prompt){span_of(property), {&"\"it\""[1], 2}, required};
}

/* A line gives this value; NULL: it is wrong; "": it is skipped. */
static bool gives(const char *property, bool required, const char *line, const char *value)
{
    struct prompt f = field(property, required);
    struct buf out;
    struct buf why;
    enum prompt_end end;
    bool as_wanted;

    buf_init(&out, 4096);
    buf_init(&why, 4096);
    end = prompt_read(&f, span_of(line), &out, &why);
    if (value == NULL)
        as_wanted = end == PROMPT_WRONG && why.n > 0;
    else if (value[0] == '\0')
        as_wanted = end == PROMPT_SKIPPED;
    else
        as_wanted = end == PROMPT_VALUE && strcmp(out.p, value) == 0;
    buf_fini(&out);
    buf_fini(&why);
    return as_wanted;
}

static bool shows(const char *property, bool required, const char *text)
{
    struct prompt f = field(property, required);
    struct buf out;
    bool same;

    buf_init(&out, 4096);
    prompt_introduce(&out, &f);
    prompt_ask(&out, &f);
    same = strcmp(out.p, text) == 0;
    buf_fini(&out);
    return same;
}

static const char whole[] = "{\"type\":\"integer\",\"minimum\":1,\"maximum\":9,\"default\":3}";
static const char number[] = "{\"type\":\"number\",\"maximum\":1.5}";
static const char text[] = "{\"type\":\"string\",\"minLength\":2,\"maxLength\":3}";
static const char truth[] = "{\"type\":\"boolean\",\"default\":false}";
static const char color[] = "{\"type\":\"string\",\"title\":\"Colour\",\"description\":\"of it\","
                            "\"enum\":[\"r\",\"g\"],\"enumNames\":[\"Red\",\"Green\"],"
                            "\"default\":\"g\"}";
static const char size[] = "{\"type\":\"string\",\"oneOf\":[{\"const\":\"s\",\"title\":\"Small\"},"
                           "{\"const\":\"l\",\"title\":\"Large\"}]}";
static const char some[] = "{\"type\":\"array\",\"minItems\":1,\"maxItems\":2,\"items\":"
                           "{\"type\":\"string\",\"enum\":[\"a\",\"b\",\"c\"]}}";
static const char any[] = "{\"type\":\"array\",\"items\":{\"anyOf\":["
                          "{\"const\":\"a\",\"title\":\"First one\"}]},\"default\":[\"a\"]}";

TEST(what_is_asked_shows_its_type_its_limits_its_choices_and_its_default)
{
    CHECK(shows(whole, true, "it (whole number, 1 to 9) [3]: "));
    CHECK(shows(number, false, "it (number, at most 1.5, may be left empty): "));
    CHECK(shows(text, true, "it (text, 2 to 3 characters): "));
    CHECK(shows(truth, true, "it (y or n) [n]: "));
    CHECK(shows("{\"type\":\"string\",\"format\":\"email\"}", true, "it (email): "));
    CHECK(
        shows(color, true, "Colour: of it\n  1) Red\n  2) Green\nColour (one of these) [Green]: "));
    CHECK(shows(size, true, "  1) Small\n  2) Large\nit (one of these): "));
    CHECK(shows(some, true, "  1) a\n  2) b\n  3) c\nit (some of these, with commas, 1 to 2): "));
    CHECK(shows(any, true, "  1) First one\nit (some of these, with commas) [First one]: "));
    CHECK(shows("{\"type\":\"string\",\"title\":\"a\\u001b[2J\"}", true, "a?[2J (text): "));
}

TEST(an_empty_line_takes_the_default_or_skips_what_is_optional)
{
    CHECK(gives(whole, true, "", "3"));
    CHECK(gives(truth, false, "  ", "false"));
    CHECK(gives(color, true, "", "\"g\""));
    CHECK(gives(any, true, "", "[\"a\"]"));
    CHECK(gives(number, false, "", ""));
    CHECK(gives(some, false, "", ""));
    CHECK(gives(number, true, "", NULL));
    CHECK(gives(text, true, "", NULL));
    CHECK(gives(some, true, "", NULL)); /* it wants one */
}

TEST(a_value_has_its_fields_type_and_is_within_its_limits)
{
    CHECK(gives(whole, true, " 7 ", "7"));
    CHECK(gives(whole, true, "0", NULL) && gives(whole, true, "10", NULL));
    CHECK(gives(whole, true, "1.5", NULL) && gives(whole, true, "seven", NULL));
    CHECK(gives(whole, true, "\"7\"", NULL) && gives(whole, true, "true", NULL));
    CHECK(gives(number, true, "-2.5", "-2.5") && gives(number, true, "2", NULL));
    CHECK(gives(text, true, "a\"b", "\"a\\\"b\""));
    CHECK(gives(text, true, "a", NULL) && gives(text, true, "abcd", NULL));
    CHECK(gives(truth, true, "Yes", "true") && gives(truth, true, "n", "false"));
    CHECK(gives(truth, true, "perhaps", NULL));
    CHECK(gives("{\"type\":\"string\",\"format\":\"email\"}", true, "nobody", NULL));
}

TEST(choices_go_by_number_value_or_title)
{
    CHECK(gives(color, true, "1", "\"r\"") && gives(color, true, "r", "\"r\""));
    CHECK(gives(color, true, "red", "\"r\"") && gives(color, true, "3", NULL));
    CHECK(gives(size, true, "large", "\"l\"") && gives(size, true, "0", NULL));
    CHECK(gives(some, true, "1, c", "[\"a\",\"c\"]") && gives(some, true, "b,", "[\"b\"]"));
    CHECK(gives(some, true, "1,2,3", NULL) && gives(some, true, "1,x", NULL));
    CHECK(gives(any, true, "first one", "[\"a\"]"));
}
