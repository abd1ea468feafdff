#include "worker/tool_header.h"

#include "common/json.h"
#include "tests/lib/test.h"

#include <stdio.h>

#define HEAD "\"x-mcp-header\":"
#define OF(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"

static bool check(const char *schema, const char *says)
{
    struct buf why;
    bool ok;

    buf_init(&why, 1024);
    CHECK(json_check(span_of(schema), NULL, NULL) == ERR_OK);
    ok = tool_check_headers(span_of(schema), &why);
    if (says != NULL)
        ok = !ok && strstr(why.p, says) != NULL;
    if (!ok)
        printf("%s\n%s\n", schema, why.n > 0 ? why.p : "");
    buf_fini(&why);
    return ok;
}

TEST(HX_11_good_marks_are_taken)
{
    CHECK(check(OF(""), NULL));
    CHECK(check(OF("\"a\":{\"type\":\"string\"," HEAD "\"Region\"},"
                   "\"b\":{\"type\":\"integer\"," HEAD "\"x-n\"},"
                   "\"c\":{\"type\":\"boolean\"," HEAD "\"y\"}"),
                NULL));
    CHECK(check(OF("\"a\":" OF("\"b\":{\"type\":\"string\"," HEAD "\"Deep\"}")), NULL));
    CHECK(check(OF("\"x-mcp-header\":{\"type\":\"number\"}"), NULL)); /* a property of that name */
    CHECK(check(OF("\"a\":{\"type\":\"object\",\"default\":{" HEAD "1}}"), NULL)); /* data */
}

TEST(HX_11_bad_marks_are_refused)
{
    CHECK(check(OF("\"a\":{\"type\":\"string\"," HEAD "\"\"}"), "name of a header"));
    CHECK(check(OF("\"a\":{\"type\":\"string\"," HEAD "\"a b\"}"), "name of a header"));
    CHECK(check(OF("\"a\":{\"type\":\"string\"," HEAD "7}"), "name of a header"));
    CHECK(check(OF("\"a\":{\"type\":\"number\"," HEAD "\"A\"}"), "of type string"));
    CHECK(check(OF("\"a\":{\"type\":[\"string\"]," HEAD "\"A\"}"), "of type string"));
    CHECK(check(OF("\"a\":{\"type\":\"string\"," HEAD "\"A\"},"
                   "\"b\":{\"type\":\"string\"," HEAD "\"a\"}"),
                "the same name"));
    CHECK(check(OF("\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\"," HEAD "\"A\"}}"),
                "through"));
    CHECK(check(
        "{\"type\":\"object\",\"oneOf\":[" OF("\"a\":{\"type\":\"string\"," HEAD "\"A\"}") "]}",
        "through"));
    CHECK(check("{\"type\":\"object\",\"$defs\":{\"x\":{\"type\":\"string\"," HEAD "\"A\"}}}",
                "through"));
    CHECK(check("{\"type\":\"object\"," HEAD "\"A\"}", "through"));
}
