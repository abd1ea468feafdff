#include "worker/upstream/message.h"

#include "tests/lib/test.h"

static bool is_refused(const char *text, const char *sentence)
{
    struct message m;
    const char *why = "";

    return !message_read(&m, span_of(text), &why) && strcmp(why, sentence) == 0;
}

TEST(the_four_kinds_of_messages_are_told_apart)
{
    struct message m;
    const char *why = "";

    CHECK(message_read(&m, SPAN("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"roots/list\"}"),
                       &why));
    CHECK(m.kind == MESSAGE_REQUEST && strcmp(m.method, "roots/list") == 0 && m.params.p == NULL);
    CHECK(message_read(&m, SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":1e1}}"),
                       &why));
    CHECK(m.kind == MESSAGE_NOTICE && span_is(m.params, "{\"a\":1e1}"));
    CHECK(message_read(&m, SPAN("{\"result\":{ },\"jsonrpc\":\"2.0\",\"id\":3}"), &why));
    CHECK(m.kind == MESSAGE_RESULT && span_is(m.value, "{ }") && span_is(m.id, "3"));
    CHECK(message_read(&m, SPAN("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1}}"), &why));
    CHECK(m.kind == MESSAGE_ERROR && m.id.p == NULL);
}

TEST(what_is_no_message_is_refused)
{
    CHECK(is_refused("{\"jsonrpc\":\"2.0\",\"id\":1}", "it is neither a request nor an answer"));
    CHECK(is_refused("[]", "it is no JSON-RPC 2.0 message"));
    CHECK(is_refused("{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":{}}",
                     "it is no JSON-RPC 2.0 message"));
    CHECK(is_refused("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"result\":{}}",
                     "\"id\" is neither a string nor a whole number"));
    CHECK(is_refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}",
                     "it is neither a request nor an answer"));
    CHECK(is_refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":7}",
                     "a result or an error is no object"));
    CHECK(is_refused("{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":[]}",
                     "\"params\" is no object"));
}

TEST(a_message_is_one_line_whatever_stood_between_the_tokens)
{
    struct buf b;

    buf_init(&b, 1000);
    message_request(&b, 7, "tools/call", SPAN("{\n \"a\":\r\n\"b\\n\"}"));
    CHECK(span_is(buf_span(&b),
                  "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{ "
                  "\"a\":\"b\\n\"}}"));
    buf_reset(&b);
    message_notice(&b, "x", (struct span){NULL, 0});
    CHECK(span_is(buf_span(&b), "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}"));
    buf_reset(&b);
    message_answer(&b, SPAN("\"q\""), SPAN("{\"result\":{}}"));
    CHECK(span_is(buf_span(&b), "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":{}}"));
    buf_fini(&b);
}
