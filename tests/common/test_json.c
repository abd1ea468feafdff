#include "common/json.h"
#include "common/mem.h"
#include "tests/lib/test.h"

#include <stdlib.h>

#define ABSENT ((struct span){NULL, 0})

TEST(a_value_s_type_is_told_by_its_bytes)
{
    CHECK(json_type(SPAN("{}")) == JSON_OBJECT);
    CHECK(json_type(SPAN("[]")) == JSON_ARRAY);
    CHECK(json_type(SPAN("\"x\"")) == JSON_STRING);
    CHECK(json_type(SPAN("-1")) == JSON_NUMBER);
    CHECK(json_type(SPAN("true")) == JSON_BOOL);
    CHECK(json_type(SPAN("false")) == JSON_BOOL);
    CHECK(json_type(SPAN("null")) == JSON_NULL);
    CHECK(json_type(SPAN(" \n[]")) == JSON_ARRAY);
    CHECK(json_type(SPAN("  ")) == JSON_NONE);
    CHECK(json_type(ABSENT) == JSON_NONE);
}

TEST(a_member_comes_out_byte_for_byte)
{
    struct span o = SPAN(" { \"id\" : 12345678901234567890 ,\"a\": { \"x\" : [1, 2.50] } , "
                         "\"s\":\"q\\\"}\\\\\" } ");

    CHECK(json_check(o, NULL, NULL) == ERR_OK);
    CHECK(span_is(json_get(o, "id"), "12345678901234567890"));
    CHECK(span_is(json_get(o, "a"), "{ \"x\" : [1, 2.50] }"));
    CHECK(span_is(json_get(o, "s"), "\"q\\\"}\\\\\""));
    CHECK(json_get(o, "x").p == NULL);
}

TEST(J1_large_numbers_keep_their_digits)
{
    struct span o = SPAN("{\"id\":9007199254740991,\"big\":12345678901234567890,\"e\":1e400}");

    CHECK(span_is(json_get(o, "id"), "9007199254740991"));
    CHECK(span_is(json_get(o, "big"), "12345678901234567890"));
    CHECK(span_is(json_get(o, "e"), "1e400"));
}

TEST(J11_names_are_told_apart_by_case)
{
    struct span o = SPAN("{\"Id\":1,\"id\":2,\"ID\":3}");

    CHECK(span_is(json_get(o, "id"), "2"));
    CHECK(json_get(o, "iD").p == NULL);
}

TEST(a_name_written_with_escapes_is_the_same_name)
{
    struct span o = SPAN("{\"m\\u0065thod\":1,\"\\u20ac\":2,\"\\ud83d\\ude00\":3,\"a\\/b\":4,"
                         "\"a\\\\n\":5}");

    CHECK(json_check(o, NULL, NULL) == ERR_OK);
    CHECK(span_is(json_get(o, "method"), "1"));
    CHECK(span_is(json_get(o, "\xe2\x82\xac"), "2"));
    CHECK(span_is(json_get(o, "\xf0\x9f\x98\x80"), "3"));
    CHECK(span_is(json_get(o, "a/b"), "4"));
    CHECK(span_is(json_get(o, "a\\n"), "5"));
    CHECK(json_get(o, "m\\u0065thod").p == NULL);
    CHECK(json_get(o, "metho").p == NULL);
}

TEST(a_name_on_a_walk_is_what_it_means)
{
    CHECK(json_name_is(SPAN("a/b"), "a/b") && json_name_is(SPAN("a\\/b"), "a/b"));
    CHECK(json_name_is(SPAN("\\u0061\\/b"), "a/b") && !json_name_is(SPAN("a/bc"), "a/b"));
    CHECK(!json_name_is(ABSENT, "")); /* an element of an array */
}

TEST(a_look_up_in_what_is_no_object_finds_nothing)
{
    CHECK(json_get(SPAN("[\"a\",1]"), "a").p == NULL);
    CHECK(json_get(SPAN("\"a\""), "a").p == NULL);
    CHECK(json_get(ABSENT, "a").p == NULL);
    CHECK(json_get(SPAN("{}"), "").p == NULL);
    CHECK(span_is(json_get(SPAN("{\"\":1}"), ""), "1"));
}

TEST(several_members_are_found_in_one_pass)
{
    struct json_want want[] = {{.name = "id"}, {.name = "method"}, {.name = "gone"}};
    struct span o = SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"x\":{\"id\":9},\"id\":null}");

    want[2].value = o; /* an old value does not survive */
    CHECK(json_get_many(o, want, 3) == ERR_OK);
    CHECK(span_is(want[0].value, "null"));
    CHECK(span_is(want[1].value, "\"ping\""));
    CHECK(want[2].value.p == NULL);
}

TEST(J10_two_members_of_a_wanted_name_are_refused)
{
    struct json_want want[] = {{.name = "method"}};

    CHECK(json_get_many(SPAN("{\"method\":1,\"method\":1}"), want, 1) == ERR_INVALID_REQUEST);
    CHECK(json_get_many(SPAN("{\"method\":1,\"\\u006dethod\":2}"), want, 1) == ERR_INVALID_REQUEST);
    CHECK(json_get_many(SPAN("{\"x\":1,\"x\":2,\"method\":1}"), want, 1) == ERR_OK);
    CHECK(json_get_many(SPAN("{\"method\":1,\"Method\":2}"), want, 1) == ERR_OK);
}

TEST(several_members_of_no_object_are_refused)
{
    struct json_want want[] = {{.name = "a", .value = SPAN("old")}};

    CHECK(json_get_many(SPAN("[]"), want, 1) == ERR_INVALID_REQUEST);
    CHECK(want[0].value.p == NULL);
    CHECK(json_get_many(ABSENT, want, 1) == ERR_INVALID_REQUEST);
}

TEST(a_walk_meets_every_member_in_order)
{
    struct span o = SPAN(" {\"a\":1 , \"b\\n\" : \"x:y,z}\", \"\":[ ], \"d\":{\"e\":null}}\n");
    static const char *const names[] = {"a", "b\\n", "", "d"};
    static const char *const values[] = {"1", "\"x:y,z}\"", "[ ]", "{\"e\":null}"};
    struct span name;
    struct span value;
    size_t cursor = 0;

    for (size_t i = 0; i < 4; i++) {
        REQUIRE(json_next(o, &cursor, &name, &value));
        CHECK(span_is(name, names[i]));
        CHECK(span_is(value, values[i]));
    }
    CHECK(!json_next(o, &cursor, &name, &value));
    CHECK(!json_next(o, &cursor, &name, &value));
}

TEST(a_walk_of_an_array_has_no_names)
{
    struct span a = SPAN("[ \"a\" ,\"b\\\\\", 3 ,[4,5],true ]");
    static const char *const values[] = {"\"a\"", "\"b\\\\\"", "3", "[4,5]", "true"};
    struct span name;
    struct span value;
    size_t cursor = 0;

    for (size_t i = 0; i < 5; i++) {
        REQUIRE(json_next(a, &cursor, &name, &value));
        CHECK(name.p == NULL);
        CHECK(span_is(value, values[i]));
    }
    CHECK(!json_next(a, &cursor, &name, &value));
}

TEST(there_is_nothing_to_walk_in_empty_containers_and_scalars)
{
    static const char *const texts[] = {"{}", "[]", " [ ] ", "{ \n}", "1", "\"[1]\"", "null", ""};
    struct span name;
    struct span value;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        size_t cursor = 0;

        CHECK(!json_next(span_of(texts[i]), &cursor, &name, &value));
        CHECK(value.p == NULL);
    }
}

TEST(J14_an_array_of_20000_is_walked_once_from_end_to_end)
{
    char *text = mem_alloc(40001);
    struct span name;
    struct span value;
    size_t cursor = 0;
    size_t n = 0;

    for (size_t i = 0; i < 40000; i++)
        text[i] = i % 2 == 0 ? ',' : '7';
    text[0] = '[';
    text[40000] = ']';
    while (json_next((struct span){text, 40001}, &cursor, &name, &value)) {
        n++;
        CHECK(value.p == text + 2 * n - 1); /* each step starts where the last one ended */
    }
    CHECK(n == 20000);
    free(text);
}

TEST(a_truth_is_read_and_nothing_else_is_one)
{
    bool b = false;

    CHECK(json_bool(SPAN("true"), &b) && b);
    CHECK(json_bool(SPAN(" false "), &b) && !b);
    CHECK(!json_bool(SPAN("1"), &b));
    CHECK(!json_bool(SPAN("\"true\""), &b));
    CHECK(!json_bool(SPAN("null"), &b));
    CHECK(!json_bool(ABSENT, &b));
}

/* Only checked bytes have a meaning, but no bytes may be read that are not there. */
TEST(looking_into_bytes_that_were_not_checked_stays_inside_them)
{
    static const char *const texts[] = {
        "{\"a", "{\"a\"", "{\"a\":", "{\"a\\",  "[\"\\", "{",     "[",          "[[[", "{\"",
        "{:1}", "{1:2}",  "[,",      "{\"a\"x", "\"",    "\"\\u", "[\"\\u12\"", "{]",  "]}"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        size_t n = strlen(texts[i]);
        char *copy = malloc(n);
        struct span text = {copy, n};
        struct json_want want[] = {{.name = "a"}};
        struct span name;
        struct span value;
        size_t cursor = 0;
        char out[8];

        memcpy(copy, texts[i], n);
        while (json_next(text, &cursor, &name, &value)) {
            CHECK(value.p >= copy && value.p + value.n <= copy + n);
            (void)json_string(value, out, sizeof(out));
            (void)json_is_id(value);
        }
        if (json_get_many(text, want, 1) == ERR_OK)
            (void)json_int(want[0].value, &(int64_t){0});
        (void)json_is(text, "a");
        CHECK(cursor <= n);
        free(copy);
    }
}
