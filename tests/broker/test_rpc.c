#include "broker/rpc.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static enum err parse(struct rpc *m, const char *text)
{
    struct buf why;
    enum err e;

    buf_init(&why, 256);
    e = rpc_parse(m, span_of(text), &why);
    CHECK((why.n == 0) == (e == ERR_OK));
    buf_fini(&why);
    return e;
}

TEST(J_01_to_J_04_what_a_message_is)
{
    static const struct {
        const char *text;
        enum err want;
        enum rpc_kind kind;
        const char *id; /* as it is echoed; NULL: none */
    } rows[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", ERR_OK, RPC_REQUEST, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"\\u0031\",\"method\":\"ping\"}", ERR_OK, RPC_REQUEST,
         "\"\\u0031\""},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}", ERR_OK, RPC_NOTIFICATION, NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", ERR_OK, RPC_RESPONSE, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}", ERR_OK, RPC_RESPONSE, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", ERR_INVALID_REQUEST, 0, NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", ERR_INVALID_REQUEST, 0, NULL},
        {"{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"ping\"}", ERR_INVALID_REQUEST, 0, "7"},
        {"{\"id\":7,\"method\":\"ping\"}", ERR_INVALID_REQUEST, 0, "7"},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":5}", ERR_INVALID_REQUEST, 0, "7"},
        {"{\"jsonrpc\":\"2.0\",\"id\":7}", ERR_INVALID_REQUEST, 0, "7"},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{},\"error\":{}}", ERR_INVALID_REQUEST, 0, "7"},
        {"{\"jsonrpc\":\"2.0\",\"result\":{}}", ERR_INVALID_REQUEST, 0, NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"a\",\"params\":[]}", ERR_INVALID_REQUEST, 0,
         "7"},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"a\",\"method\":\"b\"}", ERR_INVALID_REQUEST, 0,
         NULL},
        {"[]", ERR_INVALID_REQUEST, 0, NULL},
        {"5", ERR_INVALID_REQUEST, 0, NULL},
        {"{", ERR_PARSE, 0, NULL},
        {"", ERR_PARSE, 0, NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct rpc m;

        CHECK(parse(&m, rows[i].text) == rows[i].want);
        if (rows[i].want == ERR_OK)
            CHECK(m.kind == rows[i].kind);
        CHECK(rows[i].id != NULL ? span_is(m.id, rows[i].id) : m.id.p == NULL);
    }
}

TEST(a_method_longer_than_any_is_no_method)
{
    struct rpc m;
    char text[600];
    char name[400];

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    (void)snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\"}", name);
    CHECK(parse(&m, text) == ERR_OK);
    CHECK(m.method[0] == '\0' && m.kind == RPC_REQUEST);
}

TEST(answers_echo_the_raw_id_or_none)
{
    struct buf out;

    buf_init(&out, 1024);
    rpc_write_result(&out, SPAN("12345678901234567890"), SPAN("{}"));
    CHECK(
        span_is(buf_span(&out), "{\"jsonrpc\":\"2.0\",\"id\":12345678901234567890,\"result\":{}}"));
    buf_reset(&out);
    rpc_write_error(&out, (struct span){NULL, 0}, -32700, SPAN("a \"b\""), (struct span){NULL, 0});
    CHECK(span_is(buf_span(&out),
                  "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"a \\\"b\\\"\"}}"));
    buf_reset(&out);
    rpc_write_error_raw(&out, SPAN("\"x\""), SPAN("{\"code\":1,\"message\":\"m\"}"));
    CHECK(span_is(buf_span(&out),
                  "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":1,\"message\":\"m\"}}"));
    buf_reset(&out);
    rpc_write_notification(&out, "notifications/x", SPAN("{\"a\":1}"));
    CHECK(span_is(buf_span(&out),
                  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"a\":1}}"));
    buf_fini(&out);
}
