#include "deploy/cli/mcp.h"

#include "common/json.h"
#include "deploy/cli/stop.h"
#include "tests/lib/mcpd.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static struct mcpd d;
static struct mcp *m;
static struct mcp_reply reply;
static struct buf why;
static unsigned notes;
static char note[256];

static void start(void)
{
    mcpd_start(&d);
    stop_init();
    notes = 0;
    m = mcp_new(d.url, NULL);
    mcp_reply_init(&reply);
    buf_init(&why, 4096);
    buf_adds(&why, "");
}

static void stop(void)
{
    mcp_free(m);
    mcp_reply_fini(&reply);
    buf_fini(&why);
    mcpd_stop(&d);
}

static void on_note(void *arg, struct span method, struct span params)
{
    (void)arg;
    if (!json_is(method, "notifications/progress"))
        return;
    notes++;
    (void)json_string(json_get(params, "message"), note, sizeof(note));
}

static enum mcp_end call(void)
{
    return mcp_call(m, "tools/call", SPAN("{\"name\":\"x\"}"), on_note, NULL, &reply, &why);
}

static void answer(const char *text)
{
    (void)snprintf(d.s->answer, sizeof(d.s->answer), "%s", text);
}

TEST(an_answer_comes_byte_for_byte)
{
    start();
    answer(",\"result\":{ \"n\":9007199254740993, \"b\":1e2,\"a\":\"\\u00e9\" }");
    CHECK(call() == MCP_RESULT);
    CHECK(span_is(reply.value, "{ \"n\":9007199254740993, \"b\":1e2,\"a\":\"\\u00e9\" }"));
    CHECK(strstr(d.s->body, "\"params\":{\"name\":\"x\"}") != NULL);
    stop();
}

TEST(an_error_is_an_answer_and_says_why)
{
    start();
    answer(",\"error\":{\"code\":-32602,\"message\":\"no \\\"x\\\"\"}");
    CHECK(call() == MCP_ERROR);
    CHECK(span_is(reply.value, "{\"code\":-32602,\"message\":\"no \\\"x\\\"\"}"));
    CHECK(strcmp(why.p, "no \"x\"") == 0);
    stop();
}

TEST(a_stream_brings_notifications_and_the_answer)
{
    start();
    CHECK(call() == MCP_RESULT);
    d.s->events = 1;
    answer(",\"result\":{\"k\":1}");
    CHECK(call() == MCP_RESULT && span_is(reply.value, "{\"k\":1}"));
    CHECK(notes == 1 && strcmp(note, "a A") == 0);
    stop();
}

static bool is_answered(void)
{
    return d.s->pongs > 0 && d.s->errors > 0;
}

TEST(a_ping_of_the_broker_is_answered_and_other_requests_are_declined)
{
    start();
    CHECK(call() == MCP_RESULT);
    d.s->events = 1;
    CHECK(call() == MCP_RESULT);
    d.s->events = 0;
    for (unsigned i = 0; i < 50 && !is_answered(); i++)
        mcp_turn(m, 100);
    CHECK(d.s->pongs == 1 && d.s->errors == 1);
    stop();
}

TEST(what_is_no_answer_is_told)
{
    static const char *const bodies[] = {"hello", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":", "[]",
                                         "{\"result\":1,\"result\":2}"};

    start();
    CHECK(call() == MCP_RESULT);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        (void)snprintf(d.s->raw, sizeof(d.s->raw), "%s", bodies[i]);
        CHECK(call() == MCP_BROKEN);
    }
    stop();
}

TEST(two_requests_may_wait_at_a_time)
{
    struct mcp_request *a;
    struct mcp_request *b;

    start();
    CHECK(mcp_open(m, &why) == MCP_RESULT);
    a = mcp_begin(m, "tasks/result", SPAN("{}"), NULL, NULL);
    b = mcp_begin(m, "tasks/get", SPAN("{}"), NULL, NULL);
    for (unsigned i = 0; i < 100 && !(mcp_is_done(a) && mcp_is_done(b)); i++)
        mcp_turn(m, 100);
    CHECK(mcp_end(b, &reply, &why) == MCP_RESULT);
    CHECK(mcp_end(a, &reply, &why) == MCP_RESULT);
    a = mcp_begin(m, "tasks/result", SPAN("{}"), NULL, NULL);
    CHECK(mcp_end(a, NULL, NULL) == MCP_STOPPED); /* given up at once */
    stop();
}
