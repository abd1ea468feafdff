#include "worker/tool.h"

#include "common/json.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#define SCHEMA "\"inputSchema\":{\"type\":\"object\"}"
#define RUN "\"run\":{\"command\":[\"true\"]}"

static const struct tool_source from_file = {"t.json", "/srv", 2, TOOL_COMMAND};
static const struct tool_source from_program = {"declaration", ".", 1, TOOL_HANDLER};

static bool read_tool(struct tool *t, const struct tool_source *from, const char *text,
                      struct buf *why)
{
    buf_init(why, 4096);
    CHECK(json_check(span_of(text), NULL, NULL) == ERR_OK);
    return tool_read(t, from, span_of(text), why);
}

static void check_refused(const struct tool_source *from, const char *text, const char *says)
{
    struct tool t;
    struct buf why;

    CHECK(!read_tool(&t, from, text, &why));
    CHECK(why.n > 0 && strstr(why.p, says) != NULL);
    if (why.n == 0 || strstr(why.p, says) == NULL)
        printf("%s\n    lacks: %s\n", why.p, says);
    buf_fini(&why);
}

TEST(defaults_are_those_of_the_guide)
{
    struct tool t;
    struct buf why;

    REQUIRE(read_tool(&t, &from_file, "{\"name\":\"a\"," SCHEMA "," RUN "}", &why));
    CHECK(t.tasks == TOOL_OPTIONAL && t.priority == TASK_NORMAL && t.output == TOOL_TEXT);
    CHECK(t.attempts == 3 && t.backoff_ms == 5000 && t.grace_ms == 5000 && !t.retry_exit);
    CHECK(t.timeout_ms == 0 && t.ttl_ms == TOOL_UNSAID);
    CHECK(strcmp(t.cwd, "/srv") == 0);
    CHECK(strcmp(t.policy,
                 "{\"taskSupport\":\"optional\",\"attempts\":3,\"priority\":\"normal\"}") == 0);
    tool_fini(&t);
    buf_fini(&why);
}

TEST(the_definition_holds_the_authors_bytes_in_the_authors_order)
{
    struct tool t;
    struct buf why;

    REQUIRE(read_tool(&t, &from_file,
                      "{ \"title\" : \"A \\\"b\\\\\\\" c\",\n \"name\":\"a\", " RUN ",\r\n"
                      "\t\"inputSchema\": { \"type\": \"object\",\n \"x\": 9007199254740993.10 },\n"
                      "\"_meta\": {\"k\\u0041\": [1, 2]}, \"annotations\":{}, \"icons\": [ ],\n"
                      "\"description\": \"two  spaces\", \"ttl\": \"1h\" }",
                      &why));
    CHECK(strcmp(t.definition,
                 "{\"title\":\"A \\\"b\\\\\\\" c\",\"name\":\"a\",\"inputSchema\":{\"type\":"
                 "\"object\",\"x\":9007199254740993.10},\"_meta\":{\"k\\u0041\":[1,2]},"
                 "\"annotations\":{},\"icons\":[],\"description\":\"two  spaces\"}") == 0);
    tool_fini(&t);
    buf_fini(&why);
}

TEST(the_policy_says_what_was_said)
{
    struct tool t;
    struct buf why;

    REQUIRE(read_tool(&t, &from_file,
                      "{\"name\":\"a\"," SCHEMA "," RUN ",\"taskSupport\":\"required\","
                      "\"timeout\":\"30m\",\"ttl\":\"24h\",\"pollInterval\":\"2s\","
                      "\"promoteAfter\":\"0s\",\"attempts\":5,\"priority\":\"high\"}",
                      &why));
    CHECK(strcmp(t.policy, "{\"taskSupport\":\"required\",\"attempts\":5,\"priority\":\"high\","
                           "\"ttl\":86400000,\"pollInterval\":2000,\"promoteAfter\":0,"
                           "\"timeout\":1800000}") == 0);
    tool_fini(&t);
    buf_fini(&why);
}

TEST(what_is_not_a_tool_is_refused_with_its_place)
{
    check_refused(&from_file, "[]", "t.json: tool 2: it is no object");
    check_refused(&from_file, "{" SCHEMA "," RUN "}", "t.json: tool 2: it has no name");
    check_refused(&from_file, "{\"name\":\"a b\"," SCHEMA "," RUN "}", "\"a b\" is no name");
    check_refused(&from_file, "{\"name\":\"\"," SCHEMA "," RUN "}", "\"\" is no name");
    check_refused(&from_file, "{\"name\":7," SCHEMA "," RUN "}", "7 is no name");
    check_refused(
        &from_file,
        "{\"name\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"," SCHEMA
        "," RUN "}",
        "is no name");
    check_refused(&from_file, "{\"name\":\"a\"," RUN "}",
                  "tool \"a\": \"inputSchema\": it is missing");
    check_refused(&from_file, "{\"name\":\"a\"," SCHEMA "}", "\"run\": it is missing");
    check_refused(&from_file, "{\"name\":\"a\"," SCHEMA ",\"run\":{}}", "\"run\": it says not how");
    check_refused(&from_file, "{\"name\":\"a\"," SCHEMA ",\"run\":[]}", "\"run\": [] is no object");
    check_refused(&from_file, "{\"name\":\"a\"," SCHEMA "," RUN ",\"colour\":1}",
                  "\"colour\": it is unknown; there are name, title");
    check_refused(&from_file, "{\"name\":\"a\"," SCHEMA ",\"run\":{\"comand\":[\"x\"]}}",
                  "\"run.comand\": it is unknown; there are command, output");
    check_refused(&from_file, "{\"name\":\"a\"," SCHEMA ",\"run\":{\"http\":{}}}",
                  "\"run.http\": it has no \"submit\"");
    check_refused(&from_file, "{\"name\":\"a\"," SCHEMA "," RUN "," RUN "}",
                  "\"run\": it is there twice");
    check_refused(&from_file, "{\"name\":\"a\",\"name\":\"b\"," SCHEMA "," RUN "}",
                  "\"name\": it is there twice");
    check_refused(&from_file,
                  "{\"name\":\"a\"," SCHEMA "," RUN ",\"outputSchema\":{\"type\":\"object\"}}",
                  "\"outputSchema\": it asks for structured output");
    check_refused(&from_file,
                  "{\"name\":\"a\"," SCHEMA ",\"env\":[\"A\"],\"run\":{\"command\":[\"x\"],"
                  "\"env\":[\"A\"]}}",
                  "\"run.env\": it stands in the tool and in \"run\"");
}

TEST(a_programs_tool_has_no_run)
{
    struct tool t;
    struct buf why;

    REQUIRE(read_tool(&t, &from_program, "{\"name\":\"a\"," SCHEMA "}", &why));
    CHECK(t.run == TOOL_HANDLER);
    tool_fini(&t);
    buf_fini(&why);
    check_refused(&from_program, "{\"name\":\"a\"," SCHEMA "," RUN "}",
                  "declaration: tool \"a\": \"run\": a handler runs this tool");
}

TEST(a_text_is_decoded_or_is_none)
{
    char *text = tool_text(SPAN("\"a\\u00e9\\n\""));

    CHECK(text != NULL && strcmp(text, "a\xc3\xa9\n") == 0);
    free(text);
    CHECK(tool_text(SPAN("\"a\\u0000\"")) == NULL);
    CHECK(tool_text(SPAN("7")) == NULL);
    CHECK(tool_text((struct span){NULL, 0}) == NULL);
}

TEST(what_a_client_must_have_and_what_a_model_is_told_at_once_are_in_the_policy)
{
    struct tool t;
    struct buf why;

    REQUIRE(read_tool(&t, &from_file,
                      "{\"name\":\"a\"," SCHEMA "," RUN
                      ",\"requires\": {\"sampling\": {\"tools\": {}} },"
                      "\"immediateResponse\": \"it runs \\u00e9\"}",
                      &why));
    CHECK(strstr(t.policy, ",\"requires\":{\"sampling\":{\"tools\":{}}},\"immediateResponse\":"
                           "\"it runs \\u00e9\"}") != NULL);
    CHECK(strstr(t.definition, "requires") == NULL);
    tool_fini(&t);
    buf_fini(&why);
    check_refused(&from_file, "{\"name\":\"a\"," SCHEMA "," RUN ",\"requires\":[\"sampling\"]}",
                  "\"requires\"");
    check_refused(&from_file, "{\"name\":\"a\"," SCHEMA "," RUN ",\"requires\":{\"sampling\":1}}",
                  "is no capability");
    check_refused(&from_file, "{\"name\":\"a\"," SCHEMA "," RUN ",\"immediateResponse\":1}",
                  "is no string");
}
