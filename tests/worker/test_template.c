#include "worker/template.h"

#include "common/json.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

static const struct template_facts facts = {
    .arguments = {"{\"file\":\"a b/\\u00e9?\",\"n\":1.50,\"o\":{\"x\": [1]},\"dots\":\"..\","
                  "\"break\":\"a\\r\\nX: y\",\"zero\":\"\\u0000\",\"quote\":\"\\\"{n}\\\"\"}",
                  121},
    .job = {"\"j/1\"", 5},
    .task = "T1",
    .principal = "bob",
    .callback_url = "http://e/hooks/T1/x",
    .callback_secret = "whsec_x"};

static struct template_facts these(void)
{
    struct template_facts f = facts;

    f.arguments.n = strlen(f.arguments.p);
    return f;
}

static bool fills(const char *text, enum template_kind kind, const char *wanted)
{
    struct template_facts f = these();
    struct buf out;
    const char *bad;
    bool same;

    buf_init(&out, 4096);
    bad = template_fill(&out, text, kind, &f);
    same = bad == NULL && strcmp(buf_span(&out).p, wanted) == 0;
    if (!same)
        printf("%s: %s\n", text, bad != NULL ? bad : buf_span(&out).p);
    buf_fini(&out);
    return same;
}

static bool refused(const char *text, enum template_kind kind, const char *part)
{
    struct template_facts f = these();
    struct buf out;
    const char *bad;

    buf_init(&out, 4096);
    bad = template_fill(&out, text, kind, &f);
    buf_fini(&out);
    return bad != NULL && strstr(bad, part) != NULL;
}

static bool fills_json(const char *json, const char *wanted)
{
    struct template_facts f = these();
    struct buf out;
    const char *bad;
    bool same;

    buf_init(&out, 4096);
    bad = template_fill_json(&out, span_of(json), &f);
    same = bad == NULL && strcmp(buf_span(&out).p, wanted) == 0 &&
           json_check(buf_span(&out), NULL, NULL) == ERR_OK;
    if (!same)
        printf("%s: %s\n", json, bad != NULL ? bad : buf_span(&out).p);
    buf_fini(&out);
    return same;
}

TEST(a_place_in_a_url_is_encoded_and_stays_in_its_part)
{
    CHECK(fills("http://h/{file}?q={n}&t={taskId}", TEMPLATE_URL,
                "http://h/a%20b%2F%C3%A9%3F?q=1.50&t=T1"));
    CHECK(fills("http://h/{job}/{none}", TEMPLATE_URL, "http://h/j%2F1/"));
    CHECK(fills("http://h/?o={o}", TEMPLATE_URL, "http://h/?o=%7B%22x%22%3A%20%5B1%5D%7D"));
    CHECK(fills("http://h/?d={dots}", TEMPLATE_URL, "http://h/?d=.."));
    CHECK(refused("http://h/{dots}/x", TEMPLATE_URL, ".. in the path"));
    CHECK(refused("http://h/x/{dots}", TEMPLATE_URL, ".. in the path"));
}

TEST(a_variable_is_taken_as_it_is_when_the_request_is_made)
{
    (void)setenv("T_BASE", "https://h/x?", 1);
    CHECK(fills("${env:T_BASE}/{n}", TEMPLATE_URL, "https://h/x?/1.50"));
    (void)setenv("T_BASE", "ftp://h", 1);
    CHECK(refused("${env:T_BASE}/{n}", TEMPLATE_URL, "neither http"));
    CHECK(fills("Bearer ${env:T_BASE}", TEMPLATE_HEADER, "Bearer ftp://h"));
    (void)setenv("T_BASE", "{n}\"", 1);
    CHECK(fills_json("{\"a\":\"${env:T_BASE}\"}", "{\"a\":\"{n}\\\"\"}"));
}

TEST(no_value_breaks_out_of_a_header)
{
    CHECK(fills("x {n} {principal}", TEMPLATE_HEADER, "x 1.50 bob"));
    CHECK(refused("{break}", TEMPLATE_HEADER, "control character"));
    CHECK(refused("{zero}", TEMPLATE_HEADER, "U+0000"));
}

TEST(whose_fault_it_is_that_a_text_cannot_be_made_is_said)
{
    struct template_facts f = these();
    struct buf out;

    f.job = SPAN("\"j\\u0000\"");
    buf_init(&out, 4);
    CHECK(strstr(template_fill(&out, "http://h/{job}", TEMPLATE_URL, &f), "the handle of the job"));
    CHECK(strstr(template_fill(&out, "http://h/{zero}", TEMPLATE_URL, &f), "an argument holds"));
    CHECK(
        strstr(template_fill(&out, "x{job}", TEMPLATE_TEXT, &facts), "what is to be sent is too"));
    buf_fini(&out);
}

TEST(what_was_put_in_is_not_looked_at_again)
{
    CHECK(fills("{quote}", TEMPLATE_TEXT, "\"{n}\""));
    CHECK(fills("{ n } {} {n", TEMPLATE_TEXT, "{ n } {} {n"));
}

TEST(in_JSON_a_place_alone_is_the_value_itself)
{
    CHECK(fills_json("{\"a\":\"{n}\",\"b\":\"n is {n}\",\"c\":[\"{o}\",\"{none}\"]}",
                     "{\"a\":1.50,\"b\":\"n is 1.50\",\"c\":[{\"x\": [1]},null]}"));
    CHECK(fills_json("{\"a\":\"{none}\",\"b\":{\"c\":\"{none}\"},\"d\":true,\"e\":1e2}",
                     "{\"b\":{},\"d\":true,\"e\":1e2}"));
    CHECK(fills_json("{\"t\":\"{taskId}\",\"j\":\"{job}\",\"s\":\"{file}!\"}",
                     "{\"t\":\"T1\",\"j\":\"j/1\",\"s\":\"a b/\xc3\xa9?!\"}"));
    CHECK(fills_json("\"{callbackUrl}\"", "\"http://e/hooks/T1/x\""));
    CHECK(fills_json("{\"\\u0061\":\"\\u0041\"}", "{\"\\u0061\":\"\\u0041\"}"));
}

/* --- checking --- */

static char named[256];

static void on_env(void *arg, const char *name)
{
    (void)arg;
    (void)snprintf(named, sizeof(named), "%s", name);
}

static bool passes(const char *text, enum template_kind kind, struct template_use *use,
                   const char *part)
{
    struct template_use none = {0};
    struct buf why;
    bool ok;

    buf_init(&why, 1024);
    ok = template_check(text, kind, use != NULL ? use : &none, on_env, NULL, &why);
    if (!ok && part != NULL)
        CHECK(strstr(buf_span(&why).p, part) != NULL);
    buf_fini(&why);
    return ok;
}

TEST(a_template_is_checked_before_it_is_ever_filled)
{
    struct template_use use = {0};

    (void)setenv("T_SET", "1", 1);
    (void)unsetenv("T_UNSET");
    CHECK(passes("http://h/{job}?c={callbackUrl}", TEMPLATE_URL, &use, NULL));
    CHECK(use.job && use.callback_url && !use.callback_secret);
    CHECK(passes("${env:T_SET}/{x}", TEMPLATE_URL, NULL, NULL) && strcmp(named, "T_SET") == 0);
    CHECK(!passes("Bearer ${env:T_UNSET}", TEMPLATE_HEADER, NULL, "T_UNSET is not set"));
    CHECK(!passes("Bearer ${T_SET}", TEMPLATE_HEADER, NULL, "${env:NAME}"));
    CHECK(!passes("Bearer ${env:T_SET", TEMPLATE_HEADER, NULL, "${env:NAME}"));
    CHECK(!passes("a\nb", TEMPLATE_HEADER, NULL, "line break"));
    CHECK(!passes("ftp://h/", TEMPLATE_URL, NULL, "http://"));
    CHECK(!passes("http://{x}/", TEMPLATE_URL, NULL, "cannot choose the server"));
    CHECK(!passes("http://h{x}/", TEMPLATE_URL, NULL, "cannot choose the server"));
    CHECK(!passes("${env:T_SET}{x}/", TEMPLATE_URL, NULL, "cannot choose the server"));
}

TEST(every_string_of_a_body_is_checked)
{
    struct template_use use = {0};
    struct buf why;

    buf_init(&why, 1024);
    CHECK(template_check_json(SPAN("{\"a\":[{\"b\":\"{callbackSecret}\"}],\"c\":1}"), &use, on_env,
                              NULL, &why));
    CHECK(use.callback_secret && !use.job);
    CHECK(!template_check_json(SPAN("{\"a\":[\"${env:T_UNSET}\"]}"), &use, on_env, NULL, &why));
    CHECK(strstr(buf_span(&why).p, "T_UNSET") != NULL);
    buf_fini(&why);
}
