#include "common/buf.h"
#include "common/json.h"
#include "common/tree.h"
#include "tests/lib/test.h"

#include <cjson/cJSON.h>

static enum err parse(const char *text, const char **why, size_t *at)
{
    struct cJSON *t;
    enum err e = tree_parse(&t, span_of(text), why, at);

    if ((t != NULL) != (e == ERR_OK))
        e = ERR_INTERNAL;
    tree_free(t);
    return e;
}

TEST(a_checked_text_becomes_a_tree)
{
    struct cJSON *t;
    const struct cJSON *list;
    const struct cJSON *it;
    int sum = 0;
    bool b = false;

    REQUIRE(tree_parse(&t, SPAN("{\"s\":\"a\\u00e9\",\"b\":true,\"l\":[1,2,3],\"o\":{\"s\":7}}"),
                       NULL, NULL) == ERR_OK);
    CHECK(strcmp(tree_text(t, "s"), "a\xc3\xa9") == 0);
    CHECK(tree_bool(t, "b", &b) && b);
    list = tree_get(t, "l");
    cJSON_ArrayForEach(it, list) sum += it->valueint;
    CHECK(sum == 6);
    CHECK(cJSON_IsObject(tree_get(t, "o")));
    tree_free(t);
}

TEST(a_tree_is_parsed_of_its_span_alone)
{
    struct cJSON *t;

    CHECK(tree_parse(&t, (struct span){"[1]x", 3}, NULL, NULL) == ERR_OK);
    tree_free(t);
}

TEST(J9_what_the_validator_refuses_never_reaches_cjson)
{
    static const char *const texts[] = {"{}x",  "01",       "\"\n\"",         "\x01{}",
                                        "[1,]", "\"\xff\"", "\xef\xbb\xbf{}", "\"\\uZZZZ\"",
                                        "",     "nul"};
    size_t at;
    const char *why;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        why = NULL;
        CHECK(parse(texts[i], &why, &at) == ERR_PARSE);
        CHECK(why != NULL);
    }
}

TEST(J10_two_members_of_one_name_are_refused_at_any_depth)
{
    const char *why = NULL;

    CHECK(parse("{\"a\":1,\"b\":2,\"a\":3}", &why, NULL) == ERR_INVALID_REQUEST);
    CHECK(why != NULL && strstr(why, "two members") != NULL);
    CHECK(parse("[{\"x\":[{\"a\":1,\"\\u0061\":2}]}]", NULL, NULL) == ERR_INVALID_REQUEST);
    CHECK(parse("{\"a\":{\"a\":1},\"b\":{\"a\":1}}", NULL, NULL) == ERR_OK);
    CHECK(parse("{\"a\":1,\"A\":2}", NULL, NULL) == ERR_OK);
}

TEST(J10_ten_thousand_members_are_compared_by_sorting)
{
    struct buf text;

    buf_init(&text, 1000000);
    buf_adds(&text, "{\"first\":0");
    for (int i = 0; i < 10000; i++)
        buf_addf(&text, ",\"%d\":0", i * 7919 % 10007);
    CHECK(parse((buf_addc(&text, '}'), text.p), NULL, NULL) == ERR_OK);
    text.n--;
    buf_adds(&text, ",\"5\":0}");
    CHECK(parse(text.p, NULL, NULL) == ERR_INVALID_REQUEST);
    buf_fini(&text);
}

TEST(J11_members_are_looked_up_by_case)
{
    struct cJSON *t;

    REQUIRE(tree_parse(&t, SPAN("{\"Id\":\"1\",\"id\":\"2\"}"), NULL, NULL) == ERR_OK);
    CHECK(strcmp(tree_text(t, "id"), "2") == 0);
    CHECK(tree_get(t, "ID") == NULL);
    tree_free(t);
}

TEST(J3_a_nul_in_any_string_is_refused_and_pointed_at)
{
    const char *why = NULL;
    size_t at = 0;

    CHECK(parse("{\"a\":\"b\\u0000c\"}", &why, &at) == ERR_INVALID_REQUEST);
    CHECK(at == 7 && why != NULL && strstr(why, "\\u0000") != NULL);
    CHECK(parse("[\"\\\\\\u0000\"]", NULL, NULL) == ERR_INVALID_REQUEST);
    CHECK(parse("[\"\\\\u0000\"]", NULL, NULL) == ERR_OK);
    CHECK(parse("{\"a\\u0000\":1}", NULL, NULL) == ERR_PARSE);
}

TEST(J12_the_limits_of_a_text_are_those_of_the_validator)
{
    char deep[JSON_DEPTH_MAX * 2 + 3];

    memset(deep, '[', JSON_DEPTH_MAX);
    memset(deep + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    deep[sizeof(deep) - 3] = '\0';
    CHECK(parse(deep, NULL, NULL) == ERR_OK);
    memset(deep, '[', JSON_DEPTH_MAX + 1);
    CHECK(parse(deep, NULL, NULL) == ERR_INVALID_REQUEST);
}

/* Some releases of cJSON read it, others do not; none may end the process. */
TEST(a_number_longer_than_cjson_reads_is_refused_or_read)
{
    const char *why = "";
    struct buf text;
    enum err e;

    buf_init(&text, 1000);
    buf_addf(&text, "[0.%0200d]", 1);
    e = parse(text.p, &why, NULL);
    CHECK(e == ERR_OK || (e == ERR_INVALID_REQUEST && strcmp(why, "a number is too long") == 0));
    buf_fini(&text);
}

static bool int_of(const char *number, int64_t min, int64_t max, int64_t *out)
{
    struct cJSON *t = NULL;
    struct buf text;
    bool got;

    buf_init(&text, 100);
    buf_addf(&text, "{\"n\":%s}", number);
    got = tree_parse(&t, buf_span(&text), NULL, NULL) == ERR_OK && tree_int(t, "n", min, max, out);
    tree_free(t);
    buf_fini(&text);
    return got;
}

TEST(J15_integers_are_checked_for_range_and_wholeness)
{
    int64_t v = 5;

    CHECK(int_of("3e9", 0, INT64_MAX, &v) && v == INT64_C(3000000000));
    CHECK(int_of("9007199254740991", 0, INT64_MAX, &v) && v == INT64_C(9007199254740991));
    CHECK(int_of("-1", -1, 0, &v) && v == -1);
    CHECK(int_of("10", 0, 10, &v) && v == 10);
    v = 5;
    CHECK(!int_of("1.5", 0, INT64_MAX, &v));
    CHECK(!int_of("-1", 0, INT64_MAX, &v));
    CHECK(!int_of("11", 0, 10, &v));
    CHECK(!int_of("1e300", INT64_MIN, INT64_MAX, &v));
    CHECK(!int_of("1e400", INT64_MIN, INT64_MAX, &v));
    CHECK(!int_of("\"1\"", 0, 10, &v));
    CHECK(!int_of("true", 0, 10, &v));
    CHECK(!int_of("null", 0, 10, &v));
    CHECK(v == 5);
}

TEST(a_getter_of_the_wrong_kind_finds_nothing)
{
    struct cJSON *t;
    bool b = true;
    int64_t v;

    REQUIRE(tree_parse(&t, SPAN("[{\"a\":1}]"), NULL, NULL) == ERR_OK);
    CHECK(tree_get(t, "a") == NULL);
    CHECK(tree_text(t, "a") == NULL);
    CHECK(tree_text(t->child, "a") == NULL);
    CHECK(!tree_bool(t->child, "a", &b) && b);
    CHECK(!tree_int(NULL, "a", 0, 9, &v));
    CHECK(tree_get(NULL, "a") == NULL);
    tree_free(t);
    tree_free(NULL);
}
