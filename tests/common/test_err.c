#include "common/err.h"
#include "tests/lib/test.h"

#include <string.h>

TEST(every_failure_has_a_name_of_its_own_and_a_sentence)
{
    for (unsigned a = 0; a < ERR_COUNT; a++) {
        CHECK(err_name((enum err)a)[0] != '\0');
        CHECK(err_text((enum err)a)[0] != '\0');
        for (unsigned b = 0; b < a; b++)
            CHECK(strcmp(err_name((enum err)a), err_name((enum err)b)) != 0);
    }
}

TEST(ok_is_zero_and_no_failure)
{
    CHECK((int)ERR_OK == 0);
    CHECK(err_rpc(ERR_OK) == 0);
    CHECK(err_http(ERR_OK) == 200);
    CHECK(!err_may_retry(ERR_OK));
    CHECK(strcmp(err_name(ERR_OK), "OK") == 0);
}

TEST(J_08_the_codes_are_those_of_json_rpc)
{
    CHECK(err_rpc(ERR_PARSE) == -32700);
    CHECK(err_rpc(ERR_INVALID_REQUEST) == -32600);
    CHECK(err_rpc(ERR_METHOD_NOT_FOUND) == -32601);
    CHECK(err_rpc(ERR_INVALID_PARAMS) == -32602);
    CHECK(err_rpc(ERR_INTERNAL) == -32603);
}

TEST(not_there_and_ended_are_told_as_invalid_params)
{
    CHECK(err_rpc(ERR_NOT_FOUND) == -32602);
    CHECK(err_rpc(ERR_TERMINAL) == -32602);
    CHECK(err_rpc(ERR_CONFLICT) == -32602);
}

TEST(J_04_an_unreadable_message_is_http_400)
{
    CHECK(err_http(ERR_PARSE) == 400);
    CHECK(err_http(ERR_INVALID_REQUEST) == 400);
    CHECK(err_http(ERR_METHOD_NOT_FOUND) == 200);
    CHECK(err_http(ERR_INVALID_PARAMS) == 200);
}

TEST(what_may_be_retried_says_so)
{
    CHECK(err_may_retry(ERR_UNAVAILABLE));
    CHECK(err_may_retry(ERR_RATE));
    CHECK(err_may_retry(ERR_LIMIT));
    CHECK(!err_may_retry(ERR_INVALID_PARAMS));
    CHECK(!err_may_retry(ERR_NOT_FOUND));
    CHECK(err_http(ERR_UNAVAILABLE) == 503);
    CHECK(err_http(ERR_RATE) == 429);
    CHECK(err_http(ERR_TOO_BIG) == 413);
}

TEST(every_code_a_client_can_see_has_an_http_status)
{
    for (unsigned e = 0; e < ERR_COUNT; e++) {
        int http = err_http((enum err)e);

        CHECK(err_rpc((enum err)e) == 0 || (http >= 200 && http < 600));
    }
}
