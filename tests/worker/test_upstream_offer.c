#include "worker/upstream/offer.h"

#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct tool_server *server(void)
{
    const struct tool_source src = {.where = "t.json", .dir = "/tmp", .run = TOOL_COMMAND};
    struct tool_server *s;
    struct buf why;

    buf_init(&why, 8192);
    s = tool_server_read(SPAN("s"), SPAN("{\"command\":\"sh\",\"prefix\":\"p_\"}"), &src, &why);
    buf_fini(&why);
    if (s == NULL)
        exit(2);
    return s;
}

static void offer(struct tools *out, const char *capabilities, const char *tools,
                  const char *prompts)
{
    struct offer_from from = {.server = server(), .capabilities = span_of(capabilities)};

    from.items[PAGES_TOOLS] = span_of(tools);
    from.items[PAGES_PROMPTS] = span_of(prompts);
    offer_make(out, &from);
    tool_server_let_go(from.server);
}

static char *many(unsigned n, const char *more)
{
    struct buf list;

    buf_init(&list, PAGES_BYTES_MAX);
    buf_addc(&list, '[');
    for (unsigned i = 0; i < n; i++)
        buf_addf(&list, "%s{\"name\":\"t%u\"%s}", i > 0 ? "," : "", i, more);
    buf_addc(&list, ']');
    CHECK(buf_ok(&list));
    return buf_take(&list);
}

TEST(of_a_list_without_end_as_many_are_served_as_a_worker_can)
{
    struct tools out = {0};
    char *list = many(10000, ",\"inputSchema\":{\"type\":\"object\"}");

    offer(&out, "{\"tools\":{}}", list, NULL);
    CHECK(out.n == TOOLS_MAX && strcmp(out.v[0]->name, "p_t0") == 0);
    tools_fini(&out);
    free(list);
}

TEST(of_many_that_cannot_be_served_the_log_names_a_few_and_counts_the_others)
{
    struct tools out = {0};
    char *list = many(1000, "");
    FILE *log = tmpfile();
    int before = dup(2);
    bool counted = false;
    unsigned lines = 0;
    char line[1024];

    REQUIRE(log != NULL && before != -1 && dup2(fileno(log), 2) != -1);
    offer(&out, "{\"tools\":{}}", list, NULL);
    CHECK(dup2(before, 2) != -1 && fseek(log, 0, SEEK_SET) == 0);
    while (fgets(line, sizeof(line), log) != NULL) {
        lines += strstr(line, "TOOL_SKIPPED") != NULL;
        counted = counted || strstr(line, "980 more cannot be served") != NULL;
    }
    CHECK(out.n == 0 && lines == 21 && counted);
    (void)close(before);
    (void)fclose(log);
    tools_fini(&out);
    free(list);
}

TEST(prompts_get_the_prefix_however_their_name_is_written)
{
    struct tools out = {0};

    offer(&out, "{\"prompts\":{}}", NULL,
          "[{\"n\\u0061me\":\"a\",\"x\":1.50},{\"title\":\"nameless\"}]");
    REQUIRE(out.n == 1);
    CHECK(strcmp(out.v[0]->name, "@s") == 0);
    CHECK(strcmp(out.v[0]->definition, "{\"prompts\":[{\"name\":\"p_a\",\"x\":1.50}]}") == 0);
    tools_fini(&out);
}
