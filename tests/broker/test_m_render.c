#include "broker/m/render.h"
#include "tests/lib/test.h"

#include <string.h>

#define SERVER \
    "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"errand\",\"title\":\"errand task " \
    "broker\",\"version\":\"" ERRAND_VERSION "\"}"

static void tool_result(const char *result, const char *want)
{
    struct buf out;

    buf_init(&out, 4096);
    m_tool_result(&out, span_of(result));
    CHECK(span_is(buf_span(&out), want));
    buf_fini(&out);
}

TEST(S_05_S_08_a_tools_result_gets_its_type_and_the_server_and_keeps_its_bytes)
{
    tool_result("{\"content\":[]}",
                "{\"resultType\":\"complete\",\"_meta\":{" SERVER "},\"content\":[]}");
    tool_result("{\"_meta\":{\"x\":1e2},\"a\":\"\\/\",\"resultType\":\"task\"}",
                "{\"resultType\":\"complete\",\"_meta\":{" SERVER ",\"x\":1e2},\"a\":\"\\/\"}");
    tool_result("{\"result\\u0054ype\":\"task\",\"_met\\u0061\":{"
                "\"io.modelcontextprotocol\\/serverInfo\":{},\"x\":1},\"a\":2}",
                "{\"resultType\":\"complete\",\"_meta\":{" SERVER ",\"x\":1},\"a\":2}");
}

static void detailed(const struct task *t, const struct store_question *q, size_t n,
                     const char *want)
{
    struct buf out;

    buf_init(&out, 4096);
    m_detailed(&out, t, q, n);
    CHECK(strstr(out.p, want) != NULL);
    buf_fini(&out);
}

TEST(X_10_X_11_a_detailed_task_carries_result_error_or_questions)
{
    struct task t = {.id = SPAN("T"),
                     .state = TASK_RESULT,
                     .is_error = true,
                     .outcome = SPAN("{\"content\":[],\"isError\":true}")};
    struct store_question q = {.key = SPAN("k"),
                               .method = SPAN("elicitation/create"),
                               .params = SPAN("{\"message\":\"m\"}")};

    detailed(&t, NULL, 0, "\"status\":\"completed\"");
    detailed(&t, NULL, 0,
             ",\"result\":{\"resultType\":\"complete\",\"content\":[],\"isError\":true}");
    t.state = TASK_ERROR;
    t.outcome = SPAN("{\"code\":5,\"message\":\"m\"}");
    detailed(&t, NULL, 0, "\"status\":\"failed\"");
    detailed(&t, NULL, 0, ",\"error\":{\"code\":5,\"message\":\"m\"}");
    t.state = TASK_INPUT;
    detailed(&t, &q, 1,
             ",\"inputRequests\":{\"k\":{\"method\":\"elicitation/create\",\"params\":{"
             "\"message\":\"m\"}}}");
}

TEST(X_25_questions_lose_the_metadata_of_the_other_dialect)
{
    struct store_question q[] = {
        {.key = SPAN("a"),
         .method = SPAN("m"),
         .params = SPAN("{\"_meta\":{\"io.modelcontextprotocol/related-task\":{\"taskId\":\"T\"}},"
                        "\"x\":1}")},
        {.key = SPAN("b"),
         .method = SPAN("m"),
         .params = SPAN("{\"x\":1,\"_meta\":{\"y\":2,"
                        "\"io.modelcontextprotocol/related-task\":{\"taskId\":\"T\"}}}")},
        {.key = SPAN("c"), .method = SPAN("m"), .params = SPAN("{}")},
    };
    struct buf out;

    buf_init(&out, 4096);
    m_input_requests(&out, q, 3);
    CHECK(span_is(buf_span(&out),
                  "\"inputRequests\":{\"a\":{\"method\":\"m\",\"params\":{\"x\":1}},"
                  "\"b\":{\"method\":\"m\",\"params\":{\"_meta\":{\"y\":2},\"x\":1}},"
                  "\"c\":{\"method\":\"m\",\"params\":{}}}"));
    buf_fini(&out);
}

static bool read_is(const char *result, const char *want)
{
    struct buf out;
    bool same;

    buf_init(&out, 4096);
    m_read_result(&out, span_of(result));
    same = strstr(out.p, want) != NULL;
    buf_fini(&out);
    return same;
}

TEST(C_01_a_read_says_how_long_it_may_be_kept_unless_its_server_did)
{
    CHECK(read_is("{\"contents\":[]}", ",\"contents\":[],\"ttlMs\":0,\"cacheScope\":\"private\"}"));
    CHECK(read_is("{\"ttlMs\":5}", ",\"ttlMs\":5,\"cacheScope\":\"private\"}"));
    CHECK(read_is("{\"cacheScope\":\"public\",\"ttlMs\":5}",
                  "},\"cacheScope\":\"public\",\"ttlMs\":5}"));
}

static bool error_is(const char *error, const char *want)
{
    struct buf out;
    bool same;

    buf_init(&out, 4096);
    m_resource_error(&out, span_of(error), SPAN("\"x://a\""));
    same = strcmp(out.p, want) == 0;
    buf_fini(&out);
    return same;
}

TEST(C_08_a_resource_that_is_not_there_is_invalid_params_and_named)
{
    const char *ours = "{\"code\":-32602,\"message\":\"m\",\"data\":{\"uri\":\"x://a\"}}";

    CHECK(error_is("{\"code\":-32002,\"message\":\"m\"}", ours));
    CHECK(error_is("{\"code\":-32602,\"message\":\"m\"}", ours));
    CHECK(error_is("{\"code\":-32002,\"message\":\"m\",\"data\":null}", ours));
    CHECK(error_is("{\"code\":-32002,\"message\":\"m\",\"data\":{\"uri\":\"y\",\"z\":1}}",
                   "{\"code\":-32602,\"message\":\"m\",\"data\":{\"uri\":\"y\",\"z\":1}}"));
    CHECK(error_is("{\"code\": 5,\"message\":\"m\"}", "{\"code\": 5,\"message\":\"m\"}"));
}
