#include "worker/result.h"

#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

TEST(text_is_one_block_whatever_its_bytes)
{
    struct buf b;

    buf_init(&b, 1000);
    result_text(&b, SPAN("a\"\n\xff"), false);
    CHECK(span_is(buf_span(&b),
                  "{\"content\":[{\"type\":\"text\",\"text\":\"a\\\"\\n\xef\xbf\xbd\"}],"
                  "\"isError\":false}"));
    buf_reset(&b);
    result_text(&b, SPAN(""), true);
    CHECK(span_is(buf_span(&b),
                  "{\"content\":[{\"type\":\"text\",\"text\":\"\"}],\"isError\":true}"));
    buf_fini(&b);
}

TEST(structured_content_keeps_its_bytes)
{
    struct buf b;

    buf_init(&b, 1000);
    result_structured(&b, SPAN("{\"n\": 9007199254740993.0}"));
    CHECK(span_is(buf_span(&b),
                  "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"n\\\": 9007199254740993.0}\"}],"
                  "\"structuredContent\":{\"n\": 9007199254740993.0},\"isError\":false}"));
    buf_fini(&b);
}

static const struct {
    const char *json;
    bool ok;
    bool is_error;
} results[] = {
    {"{\"content\":[]}", true, false},
    {" {\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}\n", true, true},
    {"{\"content\":[],\"isError\":false,\"_meta\":{}}", true, false},
    {"{\"content\":{}}", false, false},
    {"{}", false, false},
    {"[]", false, false},
    {"", false, false},
    {"{\"content\":[],\"isError\":1}", false, false},
    {"{\"content\":[],\"content\":[]}", false, false},
    {"{\"content\":[]} x", false, false},
};

TEST(a_result_is_checked_in_form)
{
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        const char *why = NULL;
        bool is_error = false;

        CHECK(result_check(span_of(results[i].json), &is_error, &why) == results[i].ok);
        CHECK(is_error == results[i].is_error);
        CHECK(results[i].ok || (why != NULL && why[0] != '\0'));
    }
}

static void check_message(const char *result, const char *message)
{
    struct buf b;

    buf_init(&b, 2000);
    result_message(&b, span_of(result));
    CHECK(span_is(buf_span(&b), message));
    buf_fini(&b);
}

TEST(B9_the_message_is_the_first_text)
{
    check_message("{\"content\":[{\"type\":\"image\"},{\"type\":\"text\",\"text\":\"no\\u00e9\"},"
                  "{\"type\":\"text\",\"text\":\"two\"}]}",
                  "no\xc3\xa9");
    check_message("{\"content\":[]}", "");
    check_message("{\"content\":[7,{\"type\":\"text\"}]}", "");
    check_message("{}", "");
}

TEST(a_long_message_is_cut_between_characters)
{
    struct buf in;
    struct buf out;

    buf_init(&in, 10000);
    buf_init(&out, 2000);
    buf_adds(&in, "{\"content\":[{\"type\":\"text\",\"text\":\"x");
    for (int i = 0; i < 1000; i++)
        buf_adds(&in, "\xc3\xa9");
    buf_adds(&in, "\"}]}");
    result_message(&out, buf_span(&in));
    CHECK(out.n == RESULT_MESSAGE_MAX - 1 && out.p[out.n - 1] == '\xa9');
    buf_fini(&in);
    buf_fini(&out);
}

TEST(an_error_object_is_escaped)
{
    struct buf b;

    buf_init(&b, 1000);
    result_rpc_error(&b, -32603, SPAN("a \"b\""));
    CHECK(span_is(buf_span(&b), "{\"code\":-32603,\"message\":\"a \\\"b\\\"\"}"));
    buf_fini(&b);
}
