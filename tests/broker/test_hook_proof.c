#include "broker/hook_proof.h"

#include "common/id.h"
#include "common/seal.h"
#include "tests/lib/test.h"

#include <stdio.h>

#define TASK "00AAAAAAAAAAAAAAAAAAAAAA"

static const unsigned char secret[SEAL_SECRET_LEN] = "a secret of one installation ..";
static const uint64_t now_ms = 1700000000000;

/* A token that was given out for the task. */
static struct span token_of(const char *purpose)
{
    static char token[SEAL_HASH_LEN + 1];

    seal_tag(token, secret, purpose, SPAN(TASK));
    return span_of(token);
}

TEST(a_callbacks_path_is_taken_apart_or_refused)
{
    char path[128];
    struct span id;
    struct span token;

    (void)snprintf(path, sizeof(path), "/hooks/%s/%s", TASK, token_of("hook").p);
    CHECK(hook_path(path, &id, &token) && span_is(id, TASK));
    CHECK(span_equal(token, token_of("hook")));
    path[sizeof("/hooks/" TASK) - 1] = '-';
    CHECK(!hook_path(path, &id, &token));
    CHECK(!hook_path("/hooks/", &id, &token) && !hook_path("/hooks/" TASK "/", &id, &token));
    CHECK(!hook_path("/hook", &id, &token) && !hook_path("", &id, &token));
}

TEST(a_token_is_proof_for_one_task_and_in_one_way)
{
    struct span other = SPAN("00BBBBBBBBBBBBBBBBBBBBBB");

    CHECK(hook_kind(secret, SPAN(TASK), token_of("hook")) == HOOK_PLAIN);
    CHECK(hook_kind(secret, SPAN(TASK), token_of("hook-signed")) == HOOK_SIGNED);
    CHECK(hook_kind(secret, other, token_of("hook")) == HOOK_FOREIGN);
    CHECK(hook_kind(secret, SPAN(TASK), token_of("cursor")) == HOOK_FOREIGN);
    CHECK(hook_kind(secret, SPAN(TASK), SPAN("")) == HOOK_FOREIGN);
}

/* Is it taken, signed at that time with this before and after the right signature? */
static bool is_taken(const char *at, const char *before, const char *after, const char *body)
{
    char right[SEAL_HOOK_SIGN_LEN + 1];
    char list[256];
    const struct hook_signature s = {.message = "m1", .at = at, .list = list};

    seal_hook_sign(right, secret, SPAN(TASK),
                   (struct span[]){SPAN("m1."), span_of(at), SPAN(".{\"a\":1}")}, 3);
    (void)snprintf(list, sizeof(list), "%s%s%s", before, right, after);
    return hook_is_signed(secret, now_ms, SPAN(TASK), &s, span_of(body));
}

TEST(a_signature_covers_id_time_and_body_and_ages)
{
    struct hook_signature none = {.message = "m1", .at = "1700000000"};

    CHECK(is_taken("1700000000", "v1,", "", "{\"a\":1}"));
    CHECK(is_taken("1700000000", "v1,AAAA v1,", " v1a,BBBB", "{\"a\":1}"));
    CHECK(!is_taken("1700000000", "v1,", "", "{\"a\":2}"));
    CHECK(!is_taken("1700000000", "v2,", "", "{\"a\":1}"));
    CHECK(is_taken("1699999701", "v1,", "", "{\"a\":1}"));
    CHECK(!is_taken("1699999699", "v1,", "", "{\"a\":1}"));
    CHECK(!is_taken("1700000301", "v1,", "", "{\"a\":1}"));
    CHECK(!is_taken("17000000000000000000000", "v1,", "", "{\"a\":1}"));
    CHECK(!is_taken("now", "v1,", "", "{\"a\":1}") && !is_taken("", "v1,", "", "{\"a\":1}"));
    CHECK(!hook_is_signed(secret, now_ms, SPAN(TASK), &none, SPAN("{\"a\":1}")));
}
