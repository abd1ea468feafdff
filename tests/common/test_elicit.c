#include "common/elicit.h"

#include "common/clock.h"
#include "common/json.h"
#include "tests/lib/test.h"

#include <stdio.h>

#define FORM(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"

static bool form(const char *schema, const char *says)
{
    struct buf why;
    bool ok;

    buf_init(&why, 1024);
    CHECK(json_check(span_of(schema), NULL, NULL) == ERR_OK);
    ok = elicit_check_form(span_of(schema), &why);
    if (says != NULL)
        ok = !ok && strstr(why.p, says) != NULL;
    if (!ok)
        printf("%s\n%s\n", schema, why.n > 0 ? why.p : "");
    buf_fini(&why);
    return ok;
}

static bool fits(const char *property, const char *value)
{
    char schema[512];
    char content[512];
    struct buf why;
    bool ok;

    (void)snprintf(schema, sizeof(schema), FORM("\"a\":%s"), property);
    (void)snprintf(content, sizeof(content), "{\"a\":%s}", value);
    CHECK(form(schema, NULL));
    buf_init(&why, 1024);
    ok = elicit_check_content(span_of(schema), span_of(content), &why);
    CHECK(ok == (why.n == 0));
    buf_fini(&why);
    return ok;
}

TEST(E_03_each_kind_of_field_is_a_form)
{
    CHECK(form(FORM(""), NULL));
    CHECK(form(FORM("\"a\":{\"type\":\"string\",\"title\":\"T\",\"description\":\"D\","
                    "\"minLength\":1,\"maxLength\":5,\"format\":\"email\",\"default\":\"a@b\"}"),
               NULL));
    CHECK(form(FORM("\"a\":{\"type\":\"number\",\"minimum\":0.5,\"default\":1}"), NULL));
    CHECK(form(FORM("\"a\":{\"type\":\"integer\",\"maximum\":9}"), NULL));
    CHECK(form(FORM("\"a\":{\"type\":\"boolean\",\"default\":false}"), NULL));
    CHECK(
        form(FORM("\"a\":{\"type\":\"string\",\"enum\":[\"x\",\"y\"],\"enumNames\":[\"X\",\"Y\"]}"),
             NULL));
    CHECK(form(FORM("\"a\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"x\",\"title\":\"X\"}],"
                    "\"default\":\"x\"}"),
               NULL));
    CHECK(form(FORM("\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"x\"]},"
                    "\"minItems\":0,\"maxItems\":1,\"default\":[\"x\"]}"),
               NULL));
    CHECK(form(FORM("\"a\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":\"x\",\"title\":"
                    "\"X\"}]}}"),
               NULL));
    CHECK(form("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":"
               "[\"a\"]}",
               NULL));
}

TEST(E_03_what_no_client_can_show_is_refused)
{
    static const char *const bad[] = {
        "[]",
        "{}",
        "{\"type\":\"array\",\"properties\":{}}",
        "{\"type\":\"object\"}",
        "{\"type\":\"object\",\"properties\":{},\"allOf\":[]}",
        "{\"type\":\"object\",\"properties\":{},\"required\":[\"a\"]}",
        "{\"type\":\"object\",\"properties\":{},\"required\":\"a\"}",
        FORM("\"a\":{\"type\":\"object\",\"properties\":{}}"),
        FORM("\"a\":{\"type\":\"string\",\"pattern\":\"x\"}"),
        FORM("\"a\":{\"type\":\"string\",\"format\":\"password\"}"),
        FORM("\"a\":{\"type\":\"string\",\"minLength\":-1}"),
        FORM("\"a\":{\"type\":\"number\",\"minimum\":\"1\"}"),
        FORM("\"a\":{\"$ref\":\"#\"}"),
        FORM("\"a\":{\"type\":[\"string\",\"null\"]}"),
        FORM("\"a\":{\"type\":\"string\",\"enum\":[]}"),
        FORM("\"a\":{\"type\":\"string\",\"enum\":[1]}"),
        FORM("\"a\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"x\"}]}"),
        FORM("\"a\":{\"type\":\"array\"}"),
        FORM("\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"),
        FORM("\"a\":{\"type\":\"array\",\"items\":{\"enum\":[\"x\"]}}"),
        FORM("\"a\":{\"type\":\"integer\",\"default\":1.5}"),
        FORM("\"a\":{\"type\":\"string\",\"enum\":[\"x\"],\"default\":\"y\"}"),
        FORM("\"a\":1"),
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(form(bad[i], ""));
    CHECK(form(FORM("\"a\":{\"type\":\"string\",\"pattern\":\"x\"}"),
               "\"a\" uses \"pattern\" which such a field"));
}

TEST(E_06_values_fit_their_fields_or_not)
{
    static const char text[] = "{\"type\":\"string\",\"minLength\":2,\"maxLength\":3}";
    static const char list[] = "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"x\","
                               "\"y\"]},\"minItems\":1,\"maxItems\":2}";

    CHECK(fits(text, "\"ab\"") && fits(text, "\"\\u00e9\\u00e9\\u00e9\""));
    CHECK(!fits(text, "\"a\"") && !fits(text, "\"abcd\"") && !fits(text, "1") &&
          !fits(text, "null") && !fits(text, "\"a\\u0000b\""));
    CHECK(fits("{\"type\":\"number\",\"minimum\":1,\"maximum\":2}", "1.5"));
    CHECK(!fits("{\"type\":\"number\",\"minimum\":1}", "0.5"));
    CHECK(!fits("{\"type\":\"number\",\"maximum\":2}", "3"));
    CHECK(!fits("{\"type\":\"number\"}", "\"1\""));
    CHECK(fits("{\"type\":\"integer\"}", "3.0") && !fits("{\"type\":\"integer\"}", "3.5"));
    CHECK(fits("{\"type\":\"boolean\"}", "true") && !fits("{\"type\":\"boolean\"}", "1"));
    CHECK(fits("{\"type\":\"string\",\"enum\":[\"x\",\"\\u00e9\"]}", "\"\xc3\xa9\""));
    CHECK(!fits("{\"type\":\"string\",\"enum\":[\"x\"]}", "\"X\""));
    CHECK(fits(list, "[\"x\",\"y\"]") && !fits(list, "[]") && !fits(list, "[\"z\"]") &&
          !fits(list, "[\"x\",\"x\",\"x\"]") && !fits(list, "\"x\"") && !fits(list, "[1]"));
}

TEST(E_06_formats_are_looked_at)
{
    CHECK(fits("{\"type\":\"string\",\"format\":\"email\"}", "\"a@b.c\""));
    CHECK(!fits("{\"type\":\"string\",\"format\":\"email\"}", "\"a\""));
    CHECK(fits("{\"type\":\"string\",\"format\":\"uri\"}", "\"https://x.test/a\""));
    CHECK(!fits("{\"type\":\"string\",\"format\":\"uri\"}", "\"x y\""));
    CHECK(fits("{\"type\":\"string\",\"format\":\"date\"}", "\"2026-02-03\""));
    CHECK(!fits("{\"type\":\"string\",\"format\":\"date\"}", "\"2026-13-03\""));
    CHECK(!fits("{\"type\":\"string\",\"format\":\"date\"}", "\"2026-02-03x\""));
    CHECK(fits("{\"type\":\"string\",\"format\":\"date-time\"}", "\"2026-02-03T01:02:03.5Z\""));
    CHECK(fits("{\"type\":\"string\",\"format\":\"date-time\"}", "\"2026-02-03T01:02:03+01:00\""));
    CHECK(!fits("{\"type\":\"string\",\"format\":\"date-time\"}", "\"2026-02-03\""));
}

TEST(E_06_what_is_missing_or_was_not_asked_for_does_not_fit)
{
    static const char schema[] = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},"
                                 "\"b\":{\"type\":\"string\"}},\"required\":[\"a\"]}";
    static const char *const contents[] = {"{\"a\":\"x\"}", "{}", "{\"b\":\"x\"}",
                                           "{\"a\":\"x\",\"c\":1}", "[]"};
    struct buf why;

    buf_init(&why, 1024);
    for (int i = 0; i < 5; i++)
        CHECK(elicit_check_content(span_of(schema), span_of(contents[i]), &why) == (i == 0));
    CHECK(!elicit_check_content(span_of(schema), (struct span){NULL, 0}, &why));
    CHECK(elicit_check_content(SPAN(FORM("")), (struct span){NULL, 0}, &why));
    buf_fini(&why);
}

/* As many choices or fields as a document may hold, each another one, from the last to the first.
 */
enum { MANY = 24000, SOON_US = 20000000 };

static void add_many(struct buf *out)
{
    for (int i = MANY; i > 0; i--) {
        buf_adds(out, i == MANY ? "" : ",");
        buf_addf(out, "\"a choice of many: %d\"", i);
    }
}

TEST(E_06_many_elements_of_many_choices_are_checked_at_once)
{
    uint64_t began = clock_cpu_us();
    struct buf schema;
    struct buf content;
    struct buf why;

    buf_init(&schema, 1 << 20);
    buf_init(&content, 1 << 20);
    buf_init(&why, 1024);
    buf_adds(&schema, "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":"
                      "{\"type\":\"string\",\"enum\":[\"\\u0000\",\"x\",");
    add_many(&schema);
    buf_adds(&schema, "]}}}}");
    buf_adds(&content, "{\"a\":[");
    add_many(&content);
    buf_adds(&content, ",\"\\u0078\"]}");
    CHECK(elicit_check_content(buf_span(&schema), buf_span(&content), &why));
    content.p[content.n - 4] = '9';
    CHECK(!elicit_check_content(buf_span(&schema), buf_span(&content), &why));
    CHECK(strcmp(why.p, "\"a\" is none of what was offered") == 0);
    CHECK(clock_cpu_us() - began < SOON_US);
    buf_fini(&why);
    buf_fini(&content);
    buf_fini(&schema);
}

TEST(E_03_E_06_who_names_more_fields_than_a_form_has_is_refused)
{
    struct buf text;
    struct buf why;

    buf_init(&text, 1 << 20);
    buf_init(&why, 1024);
    buf_adds(&text, "{");
    for (int i = 0; i < 101; i++)
        buf_adds(&text, i == 0 ? "\"a\":\"\"" : ",\"a\":\"\"");
    buf_adds(&text, "}");
    CHECK(!elicit_check_content(SPAN(FORM("\"a\":{\"type\":\"string\"}")), buf_span(&text), &why));
    CHECK(strstr(why.p, "at most 100 fields") != NULL);
    buf_reset(&text);
    buf_adds(&text,
             "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[");
    for (int i = 0; i < 101; i++)
        buf_adds(&text, i == 0 ? "\"a\"" : ",\"a\"");
    buf_adds(&text, "]}");
    CHECK(form(text.p, "at most 100 fields"));
    buf_fini(&why);
    buf_fini(&text);
}
