#include "worker/ask_check.h"

#include "common/json.h"
#include "tests/lib/test.h"

#include <stdio.h>

#define FORM "{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}"
#define URL \
    "{\"mode\":\"url\",\"message\":\"m\",\"url\":\"https://x.test\",\"elicitationId\":\"e\"}"
#define SAMPLE \
    "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"x\"}}]," \
    "\"maxTokens\":1}"

static int check(const char *caps, const char *method, const char *params)
{
    struct buf why;
    int code;

    buf_init(&why, 1024);
    code = ask_check(span_of(caps), span_of(method), span_of(params), &why);
    CHECK((code == 0) == (why.n == 0));
    buf_fini(&why);
    return code;
}

TEST(E_01_a_client_is_asked_only_in_its_modes)
{
    CHECK(check("{\"elicitation\":{}}", "elicitation/create", FORM) == 0);
    CHECK(check("{\"elicitation\":{\"form\":{}}}", "elicitation/create", FORM) == 0);
    CHECK(check("{\"elicitation\":{\"form\":{},\"url\":{}}}", "elicitation/create", URL) == 0);
    CHECK(check("{\"elicitation\":{\"url\":{}}}", "elicitation/create", URL) == 0);
    CHECK(check("{\"elicitation\":{\"url\":{}}}", "elicitation/create", FORM) == ASK_BAD_PARAMS);
    CHECK(check("{\"elicitation\":{}}", "elicitation/create", URL) == ASK_BAD_PARAMS);
    CHECK(check("{}", "elicitation/create", FORM) == ASK_NO_METHOD);
    CHECK(check("", "elicitation/create", FORM) == ASK_NO_METHOD);
    CHECK(check("{\"roots\":{}}", "roots/list", "") == 0);
    CHECK(check("{}", "roots/list", "") == ASK_NO_METHOD);
    CHECK(check("{\"roots\":{}}", "tools/list", "") == ASK_NO_METHOD);
}

TEST(E_02_what_must_be_there)
{
    static const char *const bad[] = {
        "[]",
        "{}",
        "{\"message\":\"m\"}",
        "{\"message\":1,\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}",
        "{\"mode\":\"voice\",\"message\":\"m\"}",
        "{\"mode\":\"url\",\"message\":\"m\",\"url\":\"https://x.test\"}",
        "{\"mode\":\"url\",\"message\":\"m\",\"url\":\"javascript:x\",\"elicitationId\":\"e\"}",
        "{\"mode\":\"url\",\"url\":\"https://x.test\",\"elicitationId\":\"e\"}",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(check("{\"elicitation\":{\"form\":{},\"url\":{}}}", "elicitation/create", bad[i]) ==
              ASK_BAD_PARAMS);
}

TEST(E_14_sampling_needs_its_capability_and_tools_theirs)
{
    static const char with_tools[] =
        "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\"}}],\"maxTokens\":1,"
        "\"tools\":[]}";

    CHECK(check("{\"sampling\":{}}", "sampling/createMessage", SAMPLE) == 0);
    CHECK(check("{}", "sampling/createMessage", SAMPLE) == ASK_NO_METHOD);
    CHECK(check("{\"sampling\":{}}", "sampling/createMessage", with_tools) == ASK_BAD_PARAMS);
    CHECK(check("{\"sampling\":{\"tools\":{}}}", "sampling/createMessage", with_tools) == 0);
    CHECK(check("{\"sampling\":{}}", "sampling/createMessage", "{}") == ASK_BAD_PARAMS);
}

TEST(T_05_T_06_a_task_is_asked_of_those_who_declared_it)
{
    static const char both[] = "{\"tasks\":{\"cancel\":{},\"requests\":{\"sampling\":{"
                               "\"createMessage\":{}},\"elicitation\":{\"create\":{}}}}}";
    static const char one[] = "{\"tasks\":{\"requests\":{\"sampling\":{\"createMessage\":{}}}}}";

    CHECK(ask_is_hosted(SPAN(both), SPAN("elicitation/create")));
    CHECK(ask_is_hosted(SPAN(both), SPAN("sampling/createMessage")));
    CHECK(!ask_is_hosted(SPAN(both), SPAN("roots/list")));
    CHECK(ask_is_hosted(SPAN(one), SPAN("sampling/createMessage")));
    CHECK(!ask_is_hosted(SPAN(one), SPAN("elicitation/create")));
    CHECK(!ask_is_hosted(SPAN("{\"tasks\":{}}"), SPAN("sampling/createMessage")));
    CHECK(!ask_is_hosted(SPAN(""), SPAN("sampling/createMessage")));
    CHECK(ask_can_cancel(SPAN(both)) && !ask_can_cancel(SPAN(one)));
}

static bool params_are(const char *params, const char *task, uint64_t ttl_ms, const char *out)
{
    struct buf b;
    bool same;

    buf_init(&b, 4096);
    ask_params(&b, span_of(params), task, ttl_ms);
    CHECK(json_check(buf_span(&b), NULL, NULL) == ERR_OK);
    same = strcmp(b.p, out) == 0;
    if (!same)
        printf("%s\n", b.p);
    buf_fini(&b);
    return same;
}

#define RELATED "\"io.modelcontextprotocol/related-task\":{\"taskId\":\"t\"}"

TEST(T_32_T_60_params_keep_their_bytes_and_name_the_task)
{
    CHECK(params_are("{\"a\": 1.50 , \"b\":[ ]}", "t", 0,
                     "{\"a\":1.50,\"b\":[ ],\"_meta\":{" RELATED "}}"));
    CHECK(params_are("", "t", 0, "{\"_meta\":{" RELATED "}}"));
    CHECK(params_are("", NULL, 0, "{}"));
    CHECK(params_are("{\"a\":1}", NULL, 500, "{\"a\":1,\"task\":{\"ttl\":500}}"));
    CHECK(params_are("{\"a\":1,\"task\":{},\"_meta\":{\"progressToken\":1,\"x\":2}}", "t", 0,
                     "{\"a\":1,\"_meta\":{\"x\":2," RELATED "}}"));
    CHECK(params_are("{\"_m\\u0065ta\":{\"io.modelcontextprotocol/related-task\":{\"taskId\":"
                     "\"other\"}}}",
                     "t", 0, "{\"_meta\":{" RELATED "}}"));
}
