/* errand tools: the tools that can be called; or those of a file (inspect.h). */
#include "common/json.h"
#include "deploy/cli/command.h"
#include "deploy/cli/conf.h"
#include "deploy/cli/inspect.h"
#include "deploy/cli/say.h"
#include "deploy/cli/stop.h"
#include "deploy/cli/tools.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 64 << 20, DESCRIPTION_MAX = 100 };

struct listing {
    struct table table;
    struct buf json;
    size_t count;
};

/* Its first line, cut where a terminal would wrap it. */
static void add_description(struct table *t, struct span description)
{
    struct buf text;
    size_t n;
    bool cut;

    buf_init(&text, TEXT_MAX);
    say_string(&text, description, true);
    n = text.n > 0 ? strcspn(text.p, "\n") : 0;
    cut = n > DESCRIPTION_MAX;
    if (cut) {
        n = DESCRIPTION_MAX;
        while (n > 0 && ((unsigned char)text.p[n] & 0xc0) == 0x80)
            n--;
    }
    table_addf(t, "%.*s%s", (int)n, text.n > 0 ? text.p : "", cut ? "..." : "");
    buf_fini(&text);
}

static bool on_tool(void *arg, struct span tool)
{
    static const char *const words[] = {"-", "optional", "required"};
    struct listing *l = arg;
    struct buf name;

    buf_addc(&l->json, l->count++ == 0 ? '[' : ',');
    buf_add_span(&l->json, tool);
    buf_init(&name, 4096);
    say_string(&name, json_get(tool, "name"), false);
    table_add(&l->table, buf_span(&name));
    table_adds(&l->table, words[tools_support(tool)]);
    add_description(&l->table, json_get(tool, "description"));
    buf_fini(&name);
    return true;
}

static int list(const struct conf *c)
{
    struct listing l = {.count = 0};
    struct mcp *m = mcp_new(c->url, c->key);
    int status;

    stop_init();
    buf_init(&l.json, TEXT_MAX);
    table_init(&l.table, 3);
    table_adds(&l.table, "TOOL");
    table_adds(&l.table, "TASKS");
    table_adds(&l.table, "WHAT");
    status = tools_walk(m, c, "tools/list", "tools", on_tool, &l);
    buf_adds(&l.json, l.count == 0 ? "[]" : "]");
    if (status == EXIT_OK && c->json)
        say_out(&l.json);
    else if (status == EXIT_OK && l.count == 0)
        (void)fputs("no worker has announced a tool\n", stderr);
    else if (status == EXIT_OK)
        table_print(&l.table);
    buf_fini(&l.table.text);
    buf_fini(&l.json);
    mcp_free(m);
    return status;
}

int cmd_tools(const struct conf *c, char **args, size_t count)
{
    if (count == 0)
        return list(c);
    if (strcmp(args[0], "check") != 0)
        return complain(EXIT_USAGE,
                        "tools: \"%.64s\" is none of its words; there is errand tools, "
                        "and errand tools check FILE",
                        args[0]);
    if (count == 1)
        return complain(EXIT_USAGE, "tools check: it needs a file; write errand tools check FILE");
    if (c->run != NULL)
        return inspect_run(c, args[1], c->run, count > 2 ? args[2] : NULL);
    if (count > 2)
        return complain(EXIT_USAGE, "tools check: arguments are for --run TOOL; write that too");
    return inspect_file(c, args[1]);
}
