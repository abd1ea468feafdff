#include "worker/run/argv.h"

#include "tests/lib/test.h"

#include <stdlib.h>

static struct tool tool;

static void declare(void)
{
    static const struct tool_source src = {"t.json", "/srv", 1, TOOL_COMMAND};
    struct buf why;

    if (tool.name != NULL)
        return;
    buf_init(&why, 1000);
    if (!tool_read(
            &tool, &src,
            SPAN("{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"run\":{\"command\":"
                 "[\"prog\",\"{a}\",\"--x={a}{b}\",\"{ print }\",\"{}\",\"{{n}}\",\"{none}\"]},"
                 "\"env\":[\"LET_ME\",\"NOT_SET\",\"PATH\",\"ERRAND_ATTEMPT\"]}"),
            &why))
        exit(2);
    buf_fini(&why);
}

static bool make(struct argv *a, const char *arguments, const char **why)
{
    const struct run_job job = {.tool = &tool,
                                .id = "the-id",
                                .attempt = 2,
                                .arguments = span_of(arguments),
                                .principal = "bob",
                                .trace = "00-x"};

    declare();
    return argv_make(a, &job, why);
}

static bool has(char **list, const char *word)
{
    for (; *list != NULL; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

TEST(names_in_braces_become_arguments_once_and_nothing_else_changes)
{
    struct argv a;
    const char *why;

    REQUIRE(make(&a, "{\"a\":\"{b} $(x) \\u00e9\",\"b\":[1, {\"k\":2.50}],\"n\":null}", &why));
    CHECK(strcmp(a.words[0], "prog") == 0);
    CHECK(strcmp(a.words[1], "{b} $(x) \xc3\xa9") == 0);
    CHECK(strcmp(a.words[2], "--x={b} $(x) \xc3\xa9[1, {\"k\":2.50}]") == 0);
    CHECK(strcmp(a.words[3], "{ print }") == 0);
    CHECK(strcmp(a.words[4], "{}") == 0);
    CHECK(strcmp(a.words[5], "{null}") == 0);
    CHECK(strcmp(a.words[6], "") == 0); /* an argument that is not there */
    CHECK(a.words[7] == NULL);
    argv_fini(&a);
}

TEST(an_argument_with_a_nul_is_refused)
{
    struct argv a;
    const char *why = NULL;

    CHECK(!make(&a, "{\"a\":\"x\\u0000y\"}", &why));
    CHECK(why != NULL && strstr(why, "U+0000") != NULL);
}

TEST(the_environment_is_ours_and_what_the_tool_lets_through)
{
    struct argv a;
    const char *why;
    size_t n = 0;

    CHECK(setenv("LET_ME", "in=1", 1) == 0 && setenv("SECRET", "x", 1) == 0);
    CHECK(setenv("PATH", "/a:/b", 1) == 0 && setenv("HOME", "/h", 1) == 0);
    CHECK(setenv("ERRAND_ATTEMPT", "9", 1) == 0 && unsetenv("LANG") == 0);
    REQUIRE(make(&a, "{}", &why));
    CHECK(has(a.env, "PATH=/a:/b") && has(a.env, "HOME=/h") && has(a.env, "LET_ME=in=1"));
    CHECK(has(a.env, "ERRAND_TASK_ID=the-id") && has(a.env, "ERRAND_ATTEMPT=2"));
    CHECK(has(a.env, "ERRAND_PRINCIPAL=bob") && has(a.env, "TRACEPARENT=00-x"));
    CHECK(has(a.env, "ERRAND_FD=3"));
    while (a.env[n] != NULL)
        n++;
    CHECK(n == 8);
    argv_fini(&a);
    CHECK(unsetenv("PATH") == 0);
    REQUIRE(make(&a, "{}", &why));
    CHECK(strncmp(a.env[0], "PATH=/usr/local/sbin:", 21) == 0);
    argv_fini(&a);
}
