#include "common/buf.h"
#include "common/json.h"
#include "common/mem.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

/* A heap copy of exact size, so that a sanitizer sees a read past the end. */
static enum err check_n(const char *p, size_t n, size_t *at)
{
    char *copy = malloc(n != 0 ? n : 1);
    const char *why = NULL;
    enum err e;

    *at = 0;
    memcpy(copy, p, n);
    e = json_check((struct span){copy, n}, &why, at);
    if (e != ERR_OK && (why == NULL || *at > n))
        e = ERR_INTERNAL;
    free(copy);
    return e;
}

static bool all_are(const struct span *texts, size_t count, enum err want)
{
    bool ok = true;

    for (size_t i = 0; i < count; i++) {
        size_t at;
        enum err e = check_n(texts[i].p, texts[i].n, &at);

        if (e != want) {
            printf("  row %zu is %s at %zu: %.*s\n", i, err_name(e), at, (int)texts[i].n,
                   texts[i].p);
            ok = false;
        }
    }
    return ok;
}

#define CHECK_ALL(want, ...) \
    do { \
        const struct span texts_[] = {__VA_ARGS__}; \
        CHECK(all_are(texts_, sizeof(texts_) / sizeof(texts_[0]), want)); \
    } while (0)

TEST(every_kind_of_value_is_a_text)
{
    CHECK_ALL(ERR_OK, SPAN("{}"), SPAN("[]"), SPAN("\"\""), SPAN("0"), SPAN("-0"), SPAN("true"),
              SPAN("false"), SPAN("null"), SPAN(" \t\r\n{ \"a\" : [ 1 , { } , [ ] ] } \n"),
              SPAN("1.5e-10"), SPAN("1E+2"), SPAN("-12.0e0"), SPAN("[[[]],{\"\":{}}]"),
              SPAN("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00\""),
              SPAN("\"\x7f\xc2\x80\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\""),
              SPAN("{\"a\":1,\"a\":2}"));
}

TEST(an_empty_text_and_an_unfinished_one_are_refused)
{
    CHECK_ALL(ERR_PARSE, SPAN(""), SPAN(" "), SPAN("{"), SPAN("["), SPAN("[1"), SPAN("[1,"),
              SPAN("{\"a\""), SPAN("{\"a\":"), SPAN("{\"a\":1"), SPAN("{\"a\":1,"), SPAN("\""),
              SPAN("\"\\"), SPAN("\"\\u"), SPAN("\"\\u12"), SPAN("\"\\ud800\\"), SPAN("tru"),
              SPAN("-"), SPAN("\"\xc3"), SPAN("\"\xf0\x9f\x98"));
}

TEST(structure_that_is_nearly_right_is_refused)
{
    CHECK_ALL(ERR_PARSE, SPAN("{,}"), SPAN("[,]"), SPAN("[1,]"), SPAN("[1 2]"), SPAN("{\"a\":1,}"),
              SPAN("{\"a\" 1}"), SPAN("{a:1}"), SPAN("{1:1}"), SPAN("{'a':1}"), SPAN("{\"a\"}"),
              SPAN("[}"), SPAN("{]"), SPAN("[{]}"), SPAN("]"), SPAN("}"), SPAN(","), SPAN(":"),
              SPAN("[\"a\":1]"), SPAN("{\"a\":1 \"b\":2}"), SPAN("True"), SPAN("NaN"),
              SPAN("Infinity"), SPAN("undefined"), SPAN("truex"), SPAN("nul l"), SPAN("// x\n1"),
              SPAN("/**/1"), SPAN("'a'"));
}

TEST(J4_an_escape_of_four_letters_that_are_no_hex_is_refused)
{
    CHECK_ALL(ERR_PARSE, SPAN("\"\\uZZZZ\""), SPAN("\"\\u00g0\""), SPAN("\"\\u+123\""),
              SPAN("\"\\u 123\""), SPAN("\"\\u123\""), SPAN("\"\\U0041\""), SPAN("\"\\x41\""),
              SPAN("\"\\a\""), SPAN("\"\\0\""), SPAN("\"\\'\""), SPAN("\"\\\n\""));
    CHECK_ALL(ERR_OK, SPAN("\"\\uabCD\\uAbcd\\u0000\""));
}

TEST(J3_a_member_name_with_a_nul_is_refused)
{
    CHECK_ALL(ERR_PARSE, SPAN("{\"\\u0000\":1}"), SPAN("{\"method\\u0000x\":1}"),
              SPAN("[{\"a\":{\"b\\u0000\":1}}]"));
    CHECK_ALL(ERR_OK, SPAN("{\"a\":\"\\u0000\"}"), SPAN("{\"\\\\u0000\":1}"));
}

TEST(J5_raw_control_characters_in_a_string_are_refused)
{
    char text[] = "[\"abcdefgh?abcdefgh\"]";
    size_t at;

    for (int c = 0; c < 0x20; c++) {
        text[10] = (char)c;
        CHECK(check_n(text, sizeof(text) - 1, &at) == ERR_PARSE);
        CHECK(at == 10);
    }
    text[10] = ' ';
    CHECK(check_n(text, sizeof(text) - 1, &at) == ERR_OK);
}

TEST(J6_invalid_and_overlong_utf8_is_refused)
{
    CHECK_ALL(ERR_PARSE, SPAN("\"\xff\""), SPAN("\"\xc0\xaf\""), SPAN("\"\xc1\xbf\""),
              SPAN("\"\x80\""), SPAN("\"\xe0\x9f\xbf\""), SPAN("\"\xed\xa0\x80\""),
              SPAN("\"\xed\xbf\xbf\""), SPAN("\"\xf0\x8f\xbf\xbf\""), SPAN("\"\xf4\x90\x80\x80\""),
              SPAN("\"\xf5\x80\x80\x80\""), SPAN("\"\xc3(\""), SPAN("\"\xe2\x82\""),
              SPAN("\"\xe2(\xac\""), SPAN("\"\xf0\x9f\x98\""), SPAN("\xc3\xa9"),
              SPAN("{\"\xff\":1}"));
}

TEST(J7_numbers_outside_the_grammar_are_refused)
{
    CHECK_ALL(ERR_PARSE, SPAN("01"), SPAN("-01"), SPAN("00"), SPAN("1."), SPAN("1.e1"), SPAN("1e"),
              SPAN("1e+"), SPAN("1E-"), SPAN(".5"), SPAN("-.5"), SPAN("+1"), SPAN("--1"),
              SPAN("1-"), SPAN("0x10"), SPAN("1_0"), SPAN("1f"), SPAN("[-]"), SPAN("1e1.5"));
}

TEST(J1_J2_numbers_of_any_size_are_passed_on_as_they_are)
{
    CHECK_ALL(ERR_OK, SPAN("9007199254740991"), SPAN("12345678901234567890"), SPAN("1e400"),
              SPAN("-1e-400"), SPAN("0.1000000000000000055511151231257827"));
}

TEST(J8_only_the_four_blanks_stand_between_tokens)
{
    char text[] = "?{?}?";
    size_t at;

    for (int c = 0; c < 256; c++) {
        bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';

        text[0] = text[2] = text[4] = (char)c;
        CHECK((check_n(text, 5, &at) == ERR_OK) == blank);
    }
    CHECK_ALL(ERR_PARSE, SPAN("\x01{}"), SPAN("\xc2\xa0{}"), SPAN("\x0b{}"), SPAN("{}\0"));
}

TEST(J9_bytes_after_the_text_are_refused)
{
    CHECK_ALL(ERR_PARSE, SPAN("{}x"), SPAN("{}{}"), SPAN("[] ,"), SPAN("1 2"), SPAN("\"\"\""),
              SPAN("{}\n{}"), SPAN("{}}"));
}

TEST(J20_a_byte_order_mark_is_refused_and_named)
{
    const char *why = NULL;
    size_t at = 99;

    CHECK(json_check(SPAN("\xef\xbb\xbf{}"), &why, &at) == ERR_PARSE);
    CHECK(at == 0);
    CHECK(why != NULL && strstr(why, "byte order mark") != NULL);
}

TEST(half_a_surrogate_pair_is_refused)
{
    CHECK_ALL(ERR_PARSE, SPAN("\"\\ud800\""), SPAN("\"\\udc00\""), SPAN("\"\\ud83dx\""),
              SPAN("\"\\ud83d\\n\""), SPAN("\"\\ud83d\\u0041\""), SPAN("\"\\ud83d\\ud83d\""),
              SPAN("\"\\ude00\\ud83d\""));
}

/* n bytes of c, then the rest. */
static char *repeat(char c, size_t n, const char *rest)
{
    char *text = mem_alloc(n + strlen(rest) + 1);

    memset(text, c, n);
    memcpy(text + n, rest, strlen(rest) + 1);
    return text;
}

TEST(J12_depth_64_is_read_and_depth_65_refused)
{
    char *text = repeat('[', 65, "");
    char *closed = mem_alloc(129);
    size_t at = 0;

    memset(closed, '[', 64);
    memset(closed + 64, ']', 64);
    CHECK(check_n(closed, 128, &at) == ERR_OK);
    CHECK(check_n(text, 65, &at) == ERR_INVALID_REQUEST);
    CHECK(at == 64);
    CHECK(check_n(text, 64, &at) == ERR_PARSE);
    free(text);
    free(closed);
}

TEST(J12_of_a_million_brackets_65_are_looked_at)
{
    char *text = repeat('[', 1000000, "");
    size_t at = 0;

    CHECK(check_n(text, 1000000, &at) == ERR_INVALID_REQUEST);
    CHECK(at == 64);
    free(text);
}

TEST(J12_objects_and_arrays_that_alternate_are_told_apart_at_every_depth)
{
    struct buf text;
    size_t at;

    buf_init(&text, 1024);
    for (int i = 0; i < 32; i++)
        buf_adds(&text, "[{\"\":");
    buf_adds(&text, "0");
    for (int i = 0; i < 32; i++)
        buf_adds(&text, "}]");
    CHECK(check_n(text.p, text.n, &at) == ERR_OK);
    for (char *p = strchr(text.p, '}'); *p != '\0'; p++) {
        char was = *p;

        *p = was == '}' ? ']' : '}';
        CHECK(check_n(text.p, text.n, &at) == ERR_PARSE);
        CHECK(at == (size_t)(p - text.p));
        *p = was;
    }
    buf_fini(&text);
}

TEST(J13_half_a_million_values_are_refused_at_the_first_too_many)
{
    char *text = mem_alloc(1048577);
    size_t at = 0;

    for (size_t i = 0; i < 1048576; i++)
        text[i] = i % 2 == 0 ? '1' : ',';
    text[0] = '[';
    text[1] = ' ';
    text[1048575] = ']';
    CHECK(check_n(text, 1048576, &at) == ERR_INVALID_REQUEST);
    /* The array is one value, the elements stand at 2, 4, 6... */
    CHECK(at == 2 * (size_t)JSON_NODES_MAX);
    CHECK(json_check_limits((struct span){text, 1048576}, 0, 0, NULL, NULL) == ERR_OK);
    free(text);
}

TEST(limits_can_be_chosen_and_the_deepest_is_bounded)
{
    char *text = repeat('[', 1025, "");

    CHECK(json_check_limits(SPAN("[1,2]"), 1, 3, NULL, NULL) == ERR_OK);
    CHECK(json_check_limits(SPAN("[1,2]"), 1, 2, NULL, NULL) == ERR_INVALID_REQUEST);
    CHECK(json_check_limits(SPAN("[[]]"), 1, 0, NULL, NULL) == ERR_INVALID_REQUEST);
    CHECK(json_check_limits((struct span){text, 1024}, 0, 0, NULL, NULL) == ERR_PARSE);
    CHECK(json_check_limits((struct span){text, 1025}, 0, 0, NULL, NULL) == ERR_INVALID_REQUEST);
    CHECK(json_check_limits((struct span){text, 1025}, 5000, 0, NULL, NULL) == ERR_INVALID_REQUEST);
    CHECK(json_check_limits((struct span){NULL, 0}, 0, 0, NULL, NULL) == ERR_PARSE);
    free(text);
}

TEST(a_failure_says_where_and_a_success_touches_nothing)
{
    const char *why = "untouched";
    size_t at = 77;

    CHECK(json_check(SPAN("{\"a\":1}"), &why, &at) == ERR_OK);
    CHECK(strcmp(why, "untouched") == 0 && at == 77);
    CHECK(json_check(SPAN("{\"a\":1,\"b\":tru}"), &why, &at) == ERR_PARSE);
    CHECK(at == 11);
    CHECK(json_check(SPAN("[\"abc\\q\"]"), &why, &at) == ERR_PARSE);
    CHECK(at == 6);
}

/* Each byte of a string at each alignment: the fast way and the slow way agree. */
TEST(every_byte_at_every_place_of_a_word_is_judged_alike)
{
    char text[24];
    size_t at;

    for (size_t place = 1; place < 20; place++) {
        for (int c = 0; c < 256; c++) {
            memset(text, 'a', sizeof(text));
            text[0] = text[23] = '"';
            text[place] = (char)c;
            CHECK((check_n(text, sizeof(text), &at) == ERR_OK) ==
                  (c >= 0x20 && c < 0x80 && c != '"' && c != '\\'));
        }
    }
}
