#include "deploy/cli/question.h"

#include "tests/lib/test.h"

#include <string.h>

static struct buf out;

static struct question *make(const char *params)
{
    struct buf why;
    struct question *q;

    buf_init(&why, 4096);
    q = question_new(SPAN("\"7\""), span_of(params), &why);
    CHECK((q == NULL) == (why.n > 0));
    buf_fini(&why);
    buf_init(&out, 1 << 16);
    return q;
}

static bool accepts(const struct question *q, const char *result)
{
    bool same;

    buf_reset(&out);
    question_accept(q, &out);
    same = strcmp(out.p, result) == 0;
    buf_fini(&out);
    return same;
}

static const char form[] =
    "{\"message\":\"Which?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
    "\"name\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"},\"q\\\"\":{\"type\":\"boolean\"}},"
    "\"required\":[\"name\",\"q\\\"\"]}}";

TEST(a_form_is_asked_field_by_field_until_each_is_right)
{
    struct question *q = make(form);

    REQUIRE(q != NULL);
    CHECK(!question_begin(q, &out) && strstr(out.p, "\nWhich?\n") != NULL);
    CHECK(strstr(out.p, "name (text): ") != NULL && strstr(out.p, "n (whole") == NULL);
    buf_reset(&out);
    CHECK(!question_line(q, SPAN(""), &out));
    CHECK(strcmp(out.p, "  this one must be answered\nname (text): ") == 0);
    buf_reset(&out);
    CHECK(!question_line(q, SPAN("Ann"), &out));
    CHECK(strcmp(out.p, "n (whole number, may be left empty): ") == 0);
    CHECK(!question_line(q, SPAN("x"), &out));
    CHECK(!question_line(q, SPAN(""), &out));
    buf_reset(&out);
    question_again(q, &out);
    CHECK(strcmp(out.p, "q\" (y or n): ") == 0);
    CHECK(question_line(q, SPAN("y"), &out));
    CHECK(accepts(q, "{\"action\":\"accept\",\"content\":{\"name\":\"Ann\",\"q\\\"\":true}}"));
    question_free(q);
}

TEST(an_address_is_shown_and_accepted)
{
    struct question *q = make("{\"mode\":\"url\",\"message\":\"Pay\",\"url\":\"https://a.b/c\","
                              "\"elicitationId\":\"1\"}");

    REQUIRE(q != NULL);
    CHECK(!question_begin(q, &out) && strstr(out.p, "https://a.b/c\n") != NULL);
    CHECK(question_line(q, SPAN(""), &out));
    CHECK(accepts(q, "{\"action\":\"accept\"}"));
    question_free(q);
}

TEST(an_empty_form_needs_no_line)
{
    struct question *q = make("{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\","
                              "\"properties\":{}}}");

    REQUIRE(q != NULL);
    CHECK(question_begin(q, &out));
    CHECK(accepts(q, "{\"action\":\"accept\",\"content\":{}}"));
    question_free(q);
}

TEST(what_cannot_be_asked_is_refused)
{
    CHECK(make("{\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}") == NULL);
    CHECK(make("{\"message\":\"m\"}") == NULL);
    CHECK(make("{\"message\":\"m\",\"mode\":\"url\"}") == NULL);
    CHECK(make("{\"message\":\"m\",\"mode\":\"voice\"}") == NULL);
    CHECK(make("{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
               "\"x\":{\"type\":\"object\"}}}}") == NULL);
}
