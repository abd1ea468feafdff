#include "deploy/cli/inspect.h"

#include "common/cfg_unit.h"
#include "deploy/cli/arguments.h"
#include "deploy/cli/command.h"
#include "deploy/cli/follow.h"
#include "deploy/cli/local.h"
#include "deploy/cli/say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WHY_MAX = 8192, TEXT_MAX = 64 << 20, PATH_MAX_BYTES = 8192 };

static const char *const tasks_words[] = {
    [TOOL_FORBIDDEN] = "-", [TOOL_OPTIONAL] = "optional", [TOOL_REQUIRED] = "required"};

/* --- what stands in the file --- */

static bool is_in_path(const char *program)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX_BYTES];

    for (const char *p = path; p != NULL && *p != '\0';) {
        size_t n = strcspn(p, ":");

        (void)snprintf(file, sizeof(file), "%.*s/%s", (int)n, p, program);
        if (access(file, X_OK) == 0)
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

/* What is no mistake in the file, but will be one on this machine. */
static bool look_for_program(const struct tool *t, struct buf *out)
{
    const char *program = t->run == TOOL_COMMAND ? t->command.items[0] : NULL;

    if (program == NULL || strchr(program, '{') != NULL)
        return true;
    if (strchr(program, '/') != NULL ? access(program, X_OK) == 0 : is_in_path(program))
        return true;
    buf_addf(out, "tool \"%s\": %s cannot be run here: %s", t->name, program,
             strchr(program, '/') != NULL ? strerror(errno) : "it is not in PATH");
    return false;
}

static void add_json(struct buf *out, const struct tool *t)
{
    struct buf warning;

    buf_init(&warning, PATH_MAX_BYTES * 2);
    buf_addf(out, "{\"definition\":%s,\"policy\":%s", t->definition, t->policy);
    if (!look_for_program(t, &warning)) {
        buf_adds(out, ",\"warning\":");
        buf_add_json(out, buf_span(&warning));
    }
    buf_addc(out, '}');
    buf_fini(&warning);
}

static void print_json(const char *path, const struct tools *all)
{
    struct buf out;

    buf_init(&out, TEXT_MAX);
    buf_adds(&out, "{\"file\":");
    buf_add_json(&out, span_of(path));
    buf_adds(&out, ",\"tools\":[");
    for (size_t i = 0; i < all->n; i++) {
        buf_adds(&out, i > 0 ? "," : "");
        add_json(&out, all->v[i]);
    }
    buf_adds(&out, "],\"servers\":[");
    for (size_t i = 0; i < all->server_n; i++) {
        buf_adds(&out, i > 0 ? "," : "");
        buf_add_json(&out, span_of(all->servers[i]->name));
    }
    buf_adds(&out, "]}");
    say_out(&out);
    buf_fini(&out);
}

static void add_time(struct table *table, uint64_t ms)
{
    struct buf text;

    buf_init(&text, 64);
    if (ms == 0)
        buf_addc(&text, '-');
    else
        cfg_add_number(&text, CFG_UNIT_TIME, ms);
    table_add(table, buf_span(&text));
    buf_fini(&text);
}

static void print_table(const struct tools *all)
{
    static const char *const heads[] = {"TOOL", "TASKS", "TIMEOUT", "ATTEMPTS", "PRIORITY"};
    struct table table;
    struct buf warning;

    table_init(&table, 5);
    for (size_t i = 0; i < 5; i++)
        table_adds(&table, heads[i]);
    buf_init(&warning, PATH_MAX_BYTES * 2);
    for (size_t i = 0; i < all->n; i++) {
        const struct tool *t = all->v[i];

        table_adds(&table, t->name);
        table_adds(&table, tasks_words[t->tasks]);
        add_time(&table, t->timeout_ms);
        table_addf(&table, "%u", t->attempts);
        table_adds(&table, task_priority_name(t->priority));
        buf_reset(&warning);
        if (!look_for_program(t, &warning))
            (void)fprintf(stderr, "warning: %s\n", warning.p);
    }
    if (all->n > 0)
        table_print(&table);
    else
        buf_fini(&table.text);
    for (size_t i = 0; i < all->server_n; i++)
        (void)printf("%sthe tools of the MCP server \"%s\"\n", all->n > 0 ? "and " : "",
                     all->servers[i]->name);
    buf_fini(&warning);
}

/* --- what is wrong with it --- */

static int refuse(const struct conf *c, const char *path, const struct buf *why)
{
    struct buf out;

    if (!c->json)
        return complain(EXIT_FAILED, "%s", why->p);
    buf_init(&out, TEXT_MAX);
    buf_adds(&out, "{\"file\":");
    buf_add_json(&out, span_of(path));
    buf_adds(&out, ",\"error\":");
    buf_add_json(&out, buf_span(why));
    buf_addc(&out, '}');
    say_out(&out);
    buf_fini(&out);
    return EXIT_FAILED;
}

int inspect_file(const struct conf *c, const char *path)
{
    struct tools all = {0};
    struct buf why;
    int status = EXIT_OK;

    buf_init(&why, WHY_MAX);
    if (!tools_add_files(&all, &path, 1, &why))
        status = refuse(c, path, &why);
    else if (c->json)
        print_json(path, &all);
    else
        print_table(&all);
    tools_fini(&all);
    buf_fini(&why);
    return status;
}

/* --- a run --- */

static int run(const struct conf *c, struct tools *all, const char *name, struct span arguments)
{
    struct mcp_reply reply;
    struct buf why;
    enum mcp_end end;
    int status;

    if (tools_find(all, span_of(name)) == NULL && all->server_n == 0)
        return complain(EXIT_USAGE, "the file declares no tool \"%.64s\"", name);
    mcp_reply_init(&reply);
    buf_init(&why, WHY_MAX * 2);
    end = local_run(c, all, name, arguments, &reply, &why);
    status = follow_print(c, end, &reply, &why);
    mcp_reply_fini(&reply);
    buf_fini(&why);
    return status;
}

int inspect_run(const struct conf *c, const char *path, const char *tool, const char *arguments)
{
    struct tools all = {0};
    struct buf text;
    struct buf why;
    int status;

    buf_init(&text, ARGUMENTS_MAX);
    buf_init(&why, WHY_MAX);
    if (!tools_add_files(&all, &path, 1, &why))
        status = refuse(c, path, &why);
    else if (!arguments_read(arguments, &text, &why))
        status = complain(EXIT_USAGE, "%s", why.p);
    else
        status = run(c, &all, tool, buf_span(&text));
    tools_fini(&all);
    buf_fini(&text);
    buf_fini(&why);
    return status;
}
