#include "worker/ask_sample.h"

#include "common/json.h"
#include "tests/lib/test.h"

#include <stdio.h>

#define TEXT "{\"type\":\"text\",\"text\":\"x\"}"
#define USE(id) "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"n\",\"input\":{}}"
#define RESULT(id) "{\"type\":\"tool_result\",\"toolUseId\":\"" id "\",\"content\":[]}"
#define USER(content) "{\"role\":\"user\",\"content\":" content "}"
#define MODEL(content) "{\"role\":\"assistant\",\"content\":" content "}"

static bool check(const char *messages)
{
    static char params[1 << 16];
    struct buf why;
    bool ok;

    (void)snprintf(params, sizeof(params), "{\"maxTokens\":10,\"messages\":[%s]}", messages);
    CHECK(json_check(span_of(params), NULL, NULL) == ERR_OK);
    buf_init(&why, 1024);
    ok = ask_check_sample(span_of(params), &why);
    CHECK(ok == (why.n == 0));
    buf_fini(&why);
    return ok;
}

TEST(E_15_messages_and_max_tokens)
{
    struct buf why;

    CHECK(check(USER(TEXT)));
    CHECK(check(USER("[" TEXT "," TEXT "]") "," MODEL(TEXT) "," USER(TEXT)));
    CHECK(!check(""));
    CHECK(!check("1"));
    CHECK(!check("{\"role\":\"system\",\"content\":" TEXT "}"));
    CHECK(!check(USER("\"x\"")));
    CHECK(!check(USER("{}")));
    buf_init(&why, 1024);
    CHECK(!ask_check_sample(SPAN("{\"messages\":[" USER(TEXT) "]}"), &why));
    CHECK(!ask_check_sample(SPAN("{\"messages\":[" USER(TEXT) "],\"maxTokens\":0}"), &why));
    CHECK(!ask_check_sample(SPAN("{\"messages\":{},\"maxTokens\":1}"), &why));
    buf_fini(&why);
}

TEST(E_16_every_tool_use_is_answered_by_the_next_message_and_nothing_else)
{
    CHECK(check(USER(TEXT) "," MODEL("[" TEXT "," USE("a") "]") "," USER("[" RESULT("a") "]")));
    CHECK(
        check(MODEL("[" USE("a") "," USE("b") "]") "," USER("[" RESULT("b") "," RESULT("a") "]")));
    CHECK(check(MODEL(USE("a")) "," USER(RESULT("a"))));
    CHECK(!check(MODEL(USE("a")) "," USER(TEXT)));
    CHECK(!check(MODEL(USE("a")) "," USER(RESULT("b"))));
    CHECK(!check(MODEL(USE("a")) "," USER("[" RESULT("a") "," TEXT "]")));
    CHECK(!check(MODEL("[" USE("a") "," USE("b") "]") "," USER(RESULT("a"))));
    CHECK(!check(MODEL(USE("a"))));
    CHECK(!check(USER(RESULT("a"))));
    CHECK(!check(MODEL(USE("a")) "," MODEL(RESULT("a"))));
}

static bool with_uses(unsigned n)
{
    struct buf text;
    bool ok;

    buf_init(&text, 1 << 20);
    for (int half = 0; half < 2; half++) {
        buf_adds(&text, half == 0 ? "{\"role\":\"assistant\",\"content\":["
                                  : "]},{\"role\":\"user\",\"content\":[");
        for (unsigned i = 0; i < n; i++)
            buf_addf(&text,
                     half == 0 ? "%s{\"type\":\"tool_use\",\"id\":\"%u\"}"
                               : "%s{\"type\":\"tool_result\",\"toolUseId\":\"%u\"}",
                     i > 0 ? "," : "", i);
    }
    buf_adds(&text, "]}");
    ok = check(buf_span(&text).p);
    buf_fini(&text);
    return ok;
}

TEST(a_message_asks_for_so_many_tools_and_no_more)
{
    CHECK(with_uses(100) && !with_uses(101));
}
