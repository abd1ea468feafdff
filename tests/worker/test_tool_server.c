#include "worker/tool_server.h"

#include "common/json.h"
#include "tests/lib/test.h"
#include "worker/tool_text.h"

#include <stdio.h>
#include <stdlib.h>

static struct buf why;

static struct tool_server *read_as(const char *name, const char *text)
{
    const struct tool_source src = {.where = "t.json", .dir = "/srv", .run = TOOL_COMMAND};

    buf_init(&why, 8192);
    return tool_server_read(span_of(name), span_of(text), &src, &why);
}

static void check_refused(const char *text, const char *sentence)
{
    struct tool_server *s = read_as("x", text);
    bool ok = s == NULL && strstr(buf_span(&why).p, "t.json: server \"x\": ") != NULL &&
              strstr(buf_span(&why).p, sentence) != NULL;

    if (!ok)
        printf("%s\n  %s\n", text, buf_span(&why).p);
    CHECK(ok);
    tool_server_let_go(s);
    buf_fini(&why);
}

TEST(an_entry_of_a_clients_configuration_is_taken_as_it_is)
{
    struct tool_server *s = read_as(
        "every", "{\"command\":\"./run.sh\",\"args\":[\"-y\",\"a b\"],\"env\":{\"A\":\"b\"},"
                 "\"type\":\"stdio\",\"cwd\":\"sub\",\"prefix\":\"e_\"}");

    CHECK(s != NULL && s->command.n == 3 && s->url == NULL);
    CHECK(strcmp(s->command.items[0], "/srv/./run.sh") == 0);
    CHECK(strcmp(s->command.items[2], "a b") == 0 && s->command.items[3] == NULL);
    CHECK(s->env.n == 2 && strcmp(s->env.items[1], "b") == 0);
    CHECK(strcmp(s->cwd, "/srv/sub") == 0 && s->start_ms == 60000);
    tool_server_let_go(s);
    buf_fini(&why);
    s = read_as("x", "{\"args\":[\"1\"],\"command\":\"npx\"}");
    CHECK(s != NULL && s->command.n == 2 && strcmp(s->command.items[0], "npx") == 0);
    CHECK(s != NULL && strcmp(s->prefix, "") == 0 && tool_server_allows(s, "anything"));
    tool_server_let_go(s);
    buf_fini(&why);
}

TEST(what_is_not_right_is_refused_in_one_sentence)
{
    check_refused("[]", "it is no object");
    check_refused("{}", "it says not where the server is");
    check_refused("{\"args\":[]}", "it says not where the server is");
    check_refused("{\"command\":\"\"}", "\"command\": \"\" is no program");
    check_refused("{\"command\":[\"a\"]}", "\"command\": [\"a\"] is no program");
    check_refused("{\"command\":\"a\",\"args\":\"b\"}", "\"args\": \"b\" is no list");
    check_refused("{\"command\":\"a\",\"args\":[1]}", "\"args\": 1 is no text");
    check_refused("{\"command\":\"a\",\"comand\":1}",
                  "\"comand\": it is unknown; there are command");
    check_refused("{\"command\":\"a\",\"command\":\"b\"}", "\"command\": it is there twice");
    check_refused("{\"command\":\"a\",\"url\":\"http://x/\"}", "keep one of them");
    check_refused("{\"command\":\"a\",\"headers\":{\"A\":\"b\"}}", "a command has none");
    check_refused("{\"command\":\"a\",\"env\":{\"A=B\":\"c\"}}", "a name of a variable");
    check_refused("{\"command\":\"a\",\"env\":[]}", "\"env\": it is no object");
    check_refused("{\"command\":\"a\",\"type\":\"sse\"}", "is the transport of 2024");
    check_refused("{\"command\":\"a\",\"type\":\"http\"}", "there is no \"command\"");
    check_refused("{\"command\":\"a\",\"prefix\":\"a b\"}", "\"prefix\": \"a b\" is no prefix");
    check_refused("{\"command\":\"a\",\"isolate\":1}", "\"isolate\": 1 is neither true nor false");
    check_refused("{\"command\":\"a\",\"startTimeout\":\"0s\"}", "is out of range");
    check_refused("{\"command\":\"a\",\"timeout\":\"5\"}", "\"timeout\": ");
    check_refused("{\"command\":\"a\",\"tools\":{\"t\":1}}", "tool \"t\": it is no object");
    check_refused("{\"command\":\"a\",\"tools\":{\"t\":{\"attempts\":0}}}",
                  "tool \"t\": \"attempts\": 0 is no number of attempts");
    check_refused("{\"command\":\"a\",\"tools\":{\"t\":{\"run\":{}}}}",
                  "tool \"t\": \"run\": it is unknown; there are taskSupport");
}

TEST(a_value_that_may_be_a_secret_is_never_shown)
{
    check_refused("{\"command\":\"a\",\"env\":{\"A\":\"s3cret${env:}\"}}", "it names no variable");
    CHECK(strstr(buf_span(&why).p, "s3cret") == NULL);
    check_refused("{\"command\":\"a\",\"env\":{\"A\":[\"s3cret\"]}}", "a value is no text");
    CHECK(strstr(buf_span(&why).p, "s3cret") == NULL);
}

TEST(tools_are_allowed_and_denied_by_their_own_names)
{
    struct tool_server *s =
        read_as("x", "{\"command\":\"a\",\"allow\":[\"get_*\",\"put\"],\"deny\":[\"get_secret\"]}");

    CHECK(tool_server_allows(s, "get_all") && tool_server_allows(s, "put"));
    CHECK(!tool_server_allows(s, "putt") && !tool_server_allows(s, "get_secret"));
    CHECK(!tool_server_allows(s, "delete"));
    tool_server_let_go(s);
    buf_fini(&why);
}

/* --- its tools --- */

static bool make(const char *entry, const char *definition, struct tool *t)
{
    struct tool_server *s = read_as("x", entry);
    struct buf bad;
    bool ok;

    buf_fini(&why);
    buf_init(&bad, 8192);
    ok = s != NULL && tool_server_tool(s, span_of(definition), t, &bad);
    if (!ok)
        printf("%s\n", buf_span(&bad).p);
    tool_server_let_go(s);
    buf_fini(&bad);
    return ok;
}

TEST(a_tool_keeps_what_its_server_says_of_it_and_gets_the_prefix)
{
    struct tool t;

    CHECK(make("{\"command\":\"a\",\"prefix\":\"p.\"}",
               "{\"name\":\"n\",\"inputSchema\":{\"type\":\"object\", \"x\":1.50},"
               "\"execution\":{\"taskSupport\":\"required\"},\"new\":[1e2]}",
               &t));
    CHECK(strcmp(t.name, "p.n") == 0 && strcmp(t.upstream, "n") == 0 && t.is_tasked);
    CHECK(strcmp(t.definition, "{\"name\":\"p.n\",\"inputSchema\":{\"type\":\"object\",\"x\":1.50},"
                               "\"new\":[1e2]}") == 0);
    CHECK(t.tasks == TOOL_OPTIONAL && t.run == TOOL_MCP);
    tool_fini(&t);
    CHECK(make("{\"command\":\"a\",\"prefix\":\"p.\"}",
               "{\"n\\u0061me\":\"n\",\"inputSchema\":{\"type\":\"object\"},"
               "\"e\\u0078ecution\":{}}",
               &t));
    CHECK(strcmp(t.definition, "{\"name\":\"p.n\",\"inputSchema\":{\"type\":\"object\"}}") == 0);
    tool_fini(&t);
}

TEST(only_an_idempotent_tool_is_tried_again_unless_the_file_says_so)
{
    static const char plain[] = "{\"name\":\"n\",\"inputSchema\":{\"type\":\"object\"}}";
    static const char *const entry = "{\"command\":\"a\"}";
    struct tool t;

    CHECK(make(entry, plain, &t) && t.attempts == 1);
    tool_fini(&t);
    CHECK(make(entry,
               "{\"name\":\"n\",\"inputSchema\":{\"type\":\"object\"},"
               "\"annotations\":{\"idempotentHint\":true}}",
               &t) &&
          t.attempts == 3);
    tool_fini(&t);
    CHECK(make(entry,
               "{\"name\":\"n\",\"inputSchema\":{\"type\":\"object\"},"
               "\"annotations\":{\"idempotentHint\":false,\"readOnlyHint\":true}}",
               &t) &&
          t.attempts == 3);
    tool_fini(&t);
    CHECK(make("{\"command\":\"a\",\"attempts\":4}", plain, &t) && t.attempts == 4);
    tool_fini(&t);
}

TEST(what_is_said_of_one_tool_counts_more_than_what_is_said_of_all)
{
    static const char entry[] =
        "{\"command\":\"a\",\"timeout\":\"5m\",\"taskSupport\":\"required\",\"asks\":true,"
        "\"tools\":{\"n\":{\"timeout\":\"7s\",\"asks\":false,\"priority\":\"low\"}}}";
    struct tool t;

    CHECK(make(entry, "{\"name\":\"n\",\"inputSchema\":{\"type\":\"object\"}}", &t));
    CHECK(t.timeout_ms == 7000 && t.tasks == TOOL_REQUIRED && !t.asks);
    CHECK(t.priority == TASK_LOW);
    tool_fini(&t);
    CHECK(make(entry, "{\"name\":\"m\",\"inputSchema\":{\"type\":\"object\"}}", &t));
    CHECK(t.timeout_ms == 300000 && t.asks && t.priority == TASK_NORMAL);
    tool_fini(&t);
}

/* --- ${env:NAME} --- */

TEST(variables_are_looked_up_when_they_are_used)
{
    struct buf out;
    struct buf bad;

    CHECK(setenv("ERRAND_TEST_A", "one", 1) == 0 && unsetenv("ERRAND_TEST_B") == 0);
    buf_init(&out, 1000);
    buf_init(&bad, 1000);
    CHECK(text_check("a ${env:X_1} $ {env:} ${other}", &bad));
    CHECK(text_expand(&out, "<${env:ERRAND_TEST_A}${env:ERRAND_TEST_A}>$", &bad));
    CHECK(strcmp(buf_span(&out).p, "<oneone>$") == 0);
    CHECK(!text_expand(&out, "${env:ERRAND_TEST_B}", &bad));
    CHECK(strstr(buf_span(&bad).p, "ERRAND_TEST_B is not set") != NULL);
    buf_fini(&out);
    buf_fini(&bad);
}

TEST(what_variables_hold_is_hidden_where_it_is_repeated)
{
    struct buf text;

    CHECK(setenv("ERRAND_TEST_A", "secret", 1) == 0 && setenv("ERRAND_TEST_C", "abc", 1) == 0);
    buf_init(&text, 1000);
    text_hide_named(&text, "${env:ERRAND_TEST_A}");
    CHECK(text.n == 0);
    buf_adds(&text, "secret secretsecret, Bearer abc");
    text_hide_named(&text, "Bearer ${env:ERRAND_TEST_C} ${env:ERRAND_TEST_B}${env:ERRAND_TEST_A}");
    CHECK(strcmp(buf_span(&text).p, "*** ******, Bearer abc") == 0);
    buf_fini(&text);
}
