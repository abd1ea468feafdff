#include "worker/tools.h"

#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char dir[64];
static char path[96];

static const char *put(const char *text)
{
    FILE *f;

    if (dir[0] == '\0') {
        (void)snprintf(dir, sizeof(dir), "/tmp/errand-tools-XXXXXX");
        if (mkdtemp(dir) == NULL)
            exit(2);
    }
    (void)snprintf(path, sizeof(path), "%s/t.json", dir);
    f = fopen(path, "we");
    (void)fputs(text, f);
    (void)fclose(f);
    return path;
}

static void check_refused(const char *text, const char *says)
{
    struct tools all = {0};
    struct buf why;

    buf_init(&why, 4096);
    CHECK(!tools_add_file(&all, put(text), &why));
    CHECK(strncmp(buf_span(&why).p, path, strlen(path)) == 0);
    CHECK(strstr(buf_span(&why).p, says) != NULL);
    if (strstr(buf_span(&why).p, says) == NULL)
        printf("%s\n    lacks: %s\n", why.p, says);
    buf_fini(&why);
    tools_fini(&all);
    remove_tree(dir);
    dir[0] = '\0';
}

#define TOOL(name) \
    "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}," \
    "\"run\":{\"command\":[\"./x\"]}}"

TEST(a_file_of_tools_is_read)
{
    struct tools all = {0};
    struct buf why;
    char program[128];

    buf_init(&why, 4096);
    CHECK(
        tools_add_file(&all, put("\n { \"tools\" : [ " TOOL("a") ",\n" TOOL("b") " ] }\n"), &why));
    CHECK(why.n == 0 && all.n == 2);
    REQUIRE(tools_find(&all, SPAN("b")) != NULL);
    CHECK(tools_find(&all, SPAN("c")) == NULL);
    (void)snprintf(program, sizeof(program), "%s/./x", dir);
    CHECK(strcmp(tools_find(&all, SPAN("b"))->command.items[0], program) == 0);
    CHECK(!tools_add_file(&all, put("{\"tools\":[" TOOL("b") "]}"), &why));
    CHECK(strstr(why.p, "tool \"b\": there is another tool of that name") != NULL);
    buf_fini(&why);
    tools_fini(&all);
    remove_tree(dir);
    dir[0] = '\0';
}

TEST(what_is_wrong_with_a_file_is_one_sentence)
{
    check_refused("", "line 1, column 1");
    check_refused("{\"tools\":\n  [,]}", "line 2, column 4");
    check_refused("[]", "it holds no object");
    check_refused("{}", "it has no tools");
    check_refused("{\"tools\":{}}", "\"tools\" is no list");
    check_refused("{\"tools\":[],\"tool\":[]}", "\"tool\" is unknown; there are \"tools\" and");
    check_refused("{\"tools\":[],\"tools\":[]}", "is there twice; join them");
    check_refused("{\"tools\":[],\"mcpServers\":[]}", "\"mcpServers\" is no object");
    check_refused("{\"mcpServers\":{\"a\":{\"command\":\"x\"},\"a\":{\"command\":\"x\"}}}",
                  "server \"a\": there is another server of that name");
    check_refused("{\"tools\":[7]}", "tool 1: it is no object");
    check_refused("{\"tools\":[" TOOL("a") "," TOOL("a") "]}", "another tool of that name");
    check_refused("{\"tools\":[" TOOL("a") ",{\"name\":\"b\"}]}", "tool \"b\": \"inputSchema\"");
}

TEST(a_file_that_cannot_be_read_says_why)
{
    struct tools all = {0};
    struct buf why;

    buf_init(&why, 4096);
    CHECK(!tools_add_file(&all, "/nowhere/tools.json", &why));
    CHECK(strncmp(buf_span(&why).p, "/nowhere/tools.json: cannot be read: No such file", 48) == 0);
    buf_reset(&why);
    CHECK(!tools_add_file(&all, "/tmp", &why));
    CHECK(strstr(buf_span(&why).p, "Is a directory") != NULL);
    buf_fini(&why);
}

TEST(a_program_declares_its_own)
{
    struct tools all = {0};
    struct buf why;
    int handler;

    buf_init(&why, 4096);
    CHECK(tools_add_text(&all, "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}}", &handler,
                         &why));
    CHECK(all.n == 1 && all.v[0]->handler == &handler && all.v[0]->run == TOOL_HANDLER);
    CHECK(!tools_add_text(&all, "{", &handler, &why));
    CHECK(strncmp(buf_span(&why).p, "declaration: line 1", 19) == 0);
    buf_fini(&why);
    tools_fini(&all);
}

TEST(the_digest_names_the_set_whatever_the_order)
{
    struct tools ab = {0};
    struct tools ba = {0};
    struct tools a = {0};
    struct buf why;
    char one[23];
    char two[23];

    buf_init(&why, 4096);
    CHECK(tools_add_file(&ab, put("{\"tools\":[" TOOL("a") "," TOOL("b") "]}"), &why));
    CHECK(tools_add_file(&ba, put("{\"tools\":[" TOOL("b") "," TOOL("a") "]}"), &why));
    CHECK(tools_add_file(&a, put("{\"tools\":[" TOOL("a") "]}"), &why));
    tools_digest(&ab, one);
    tools_digest(&ba, two);
    CHECK(strcmp(one, two) == 0);
    tools_digest(&a, two);
    CHECK(strcmp(one, two) != 0);
    buf_fini(&why);
    tools_fini(&ab);
    tools_fini(&ba);
    tools_fini(&a);
    remove_tree(dir);
    dir[0] = '\0';
}
