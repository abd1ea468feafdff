#include "worker/ask_answer.h"

#include "tests/lib/test.h"

#define PARAMS \
    "{\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}}"

static bool check(const char *method, const char *params, const char *answer)
{
    struct buf why;
    bool ok;

    buf_init(&why, 1024);
    ok = ask_check_answer(method, span_of(params), span_of(answer), &why);
    CHECK(ok == (why.n == 0));
    buf_fini(&why);
    return ok;
}

TEST(E_06_only_what_was_asked_for_is_an_answer)
{
    static const char method[] = "elicitation/create";

    CHECK(check(method, PARAMS, "{\"result\":{\"action\":\"decline\"}}"));
    CHECK(check(method, PARAMS, "{\"result\":{\"action\":\"cancel\"}}"));
    CHECK(check(method, PARAMS, "{\"result\":{\"action\":\"accept\",\"content\":{\"n\":1}}}"));
    CHECK(!check(method, PARAMS, "{\"result\":{\"action\":\"accept\",\"content\":{\"n\":\"1\"}}}"));
    CHECK(!check(method, PARAMS, "{\"result\":{\"action\":\"accept\",\"content\":[]}}"));
    CHECK(!check(method, PARAMS, "{\"result\":{}}"));
    CHECK(!check(method, PARAMS, "{\"result\":1}"));
    CHECK(!check(method, PARAMS, "{}"));
    CHECK(!check(method, PARAMS, "{\"result\":{\"action\":\"cancel\"},\"error\":{}}"));
    CHECK(check(method, "{\"mode\":\"url\"}", "{\"result\":{\"action\":\"accept\"}}"));
}

TEST(E_13_errors_are_errors_when_they_are_whole)
{
    CHECK(check("roots/list", "{}", "{\"error\":{\"code\":-1,\"message\":\"no\"}}"));
    CHECK(!check("roots/list", "{}", "{\"error\":{\"message\":\"no\"}}"));
    CHECK(!check("roots/list", "{}", "{\"error\":\"no\"}"));
}

TEST(E_15_a_sampled_message_and_roots_have_their_members)
{
    static const char method[] = "sampling/createMessage";

    CHECK(check(method, "{}",
                "{\"result\":{\"role\":\"assistant\",\"model\":\"m\",\"content\":{}}}"));
    CHECK(check(method, "{}",
                "{\"result\":{\"role\":\"assistant\",\"model\":\"m\",\"content\":[]}}"));
    CHECK(!check(method, "{}", "{\"result\":{\"role\":\"assistant\",\"model\":\"m\"}}"));
    CHECK(!check(method, "{}", "{\"result\":{\"role\":\"assistant\",\"content\":{}}}"));
    CHECK(check("roots/list", "{}", "{\"result\":{\"roots\":[]}}"));
    CHECK(!check("roots/list", "{}", "{\"result\":{}}"));
}
