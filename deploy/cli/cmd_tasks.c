/* errand tasks, get, cancel, result: what has become of tasks. */
#include "common/clock.h"
#include "common/json.h"
#include "deploy/cli/command.h"
#include "deploy/cli/conf.h"
#include "deploy/cli/follow.h"
#include "deploy/cli/person_mcp.h"
#include "deploy/cli/say.h"
#include "deploy/cli/stop.h"
#include "deploy/cli/tools.h"

#include <stdio.h>

enum { TEXT_MAX = 64 << 20 };

struct listing {
    struct table table;
    struct buf json;
    size_t count;
    size_t limit;
};

static void add_string(struct table *t, struct span json)
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    say_string(&text, json, false);
    table_add(t, (struct span){text.n > 0 ? text.p : "", text.n});
    buf_fini(&text);
}

static void add_age(struct table *t, struct span json)
{
    struct buf text;
    uint64_t then;
    uint64_t now = clock_wall_ms();

    buf_init(&text, 64);
    if (say_time(json, &then))
        say_age(&text, now > then ? now - then : 0);
    table_add(t, (struct span){text.n > 0 ? text.p : "", text.n});
    buf_fini(&text);
}

static bool on_task(void *arg, struct span task)
{
    struct listing *l = arg;

    buf_addc(&l->json, l->count++ == 0 ? '[' : ',');
    buf_add_span(&l->json, task);
    add_string(&l->table, json_get(task, "taskId"));
    add_string(&l->table, json_get(task, "status"));
    add_age(&l->table, json_get(task, "createdAt"));
    add_string(&l->table, json_get(task, "statusMessage"));
    return l->count < l->limit;
}

static int list(struct mcp *m, const struct conf *c, struct listing *l)
{
    struct buf why;
    enum mcp_end end;
    int status;

    buf_init(&why, 4096);
    end = mcp_open(m, &why);
    if (end != MCP_RESULT)
        status = end == MCP_STOPPED ? EXIT_STOPPED : complain(EXIT_FAILED, "%s", why.p);
    else if (!mcp_has_list(m))
        status = complain(EXIT_FAILED,
                          "this broker lists no tasks: it does not know its callers "
                          "apart, so a task's id is the only way to it; one with --auth key "
                          "does");
    else
        status = tools_walk(m, c, "tasks/list", "tasks", on_task, l);
    buf_fini(&why);
    return status;
}

int cmd_tasks(const struct conf *c, char **args, size_t count)
{
    struct listing l = {.limit = c->limit};
    struct mcp *m = mcp_new(c->url, c->key);
    int status;

    (void)args;
    (void)count;
    stop_init();
    buf_init(&l.json, TEXT_MAX);
    table_init(&l.table, 4);
    table_adds(&l.table, "TASK");
    table_adds(&l.table, "STATUS");
    table_adds(&l.table, "AGE");
    table_adds(&l.table, "MESSAGE");
    status = list(m, c, &l);
    buf_adds(&l.json, l.count == 0 ? "[]" : "]");
    if (status == EXIT_OK && c->json)
        say_out(&l.json);
    else if (status == EXIT_OK)
        table_print(&l.table);
    buf_fini(&l.table.text);
    buf_fini(&l.json);
    mcp_free(m);
    return status;
}

/* One task as rows of a name and a value. */
static void print_task(struct span task)
{
    static const char *const names[] = {"taskId",        "status", "statusMessage", "createdAt",
                                        "lastUpdatedAt", "ttl",    "pollInterval"};
    struct table t;

    table_init(&t, 2);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct span v = json_get(task, names[i]);

        if (v.p == NULL)
            continue;
        table_adds(&t, names[i]);
        if (json_type(v) == JSON_STRING)
            add_string(&t, v);
        else
            table_addf(&t, "%.*s%s", (int)v.n, v.p, json_type(v) == JSON_NUMBER ? " ms" : "");
    }
    table_print(&t);
}

static int one(const struct conf *c, const char *method, const char *id)
{
    struct mcp *m = mcp_new(c->url, c->key);
    struct mcp_reply r;
    struct buf params;
    struct buf why;
    enum mcp_end end;
    int status = EXIT_OK;

    stop_init();
    mcp_reply_init(&r);
    buf_init(&why, 4096);
    buf_init(&params, 1 << 20);
    buf_adds(&params, "{\"taskId\":");
    buf_add_json(&params, span_of(id));
    buf_addc(&params, '}');
    end = mcp_call(m, method, buf_span(&params), NULL, NULL, &r, &why);
    if (end != MCP_RESULT || c->json)
        status = follow_print(c, end, &r, &why);
    else
        print_task(r.value);
    mcp_reply_fini(&r);
    buf_fini(&params);
    buf_fini(&why);
    mcp_free(m);
    return status;
}

int cmd_get(const struct conf *c, char **args, size_t count)
{
    (void)count;
    return one(c, "tasks/get", args[0]);
}

int cmd_cancel(const struct conf *c, char **args, size_t count)
{
    (void)count;
    return one(c, "tasks/cancel", args[0]);
}

int cmd_result(const struct conf *c, char **args, size_t count)
{
    struct mcp *m = mcp_new(c->url, c->key);
    struct person *p = person_of_mcp(m, c, args[0], c->no_input);
    struct buf why;
    enum mcp_end end;
    int status;

    (void)count;
    stop_init();
    buf_init(&why, 4096);
    end = mcp_open(m, &why);
    if (end == MCP_RESULT)
        status = follow(m, c, p, args[0], false);
    else
        status = end == MCP_STOPPED ? EXIT_STOPPED : complain(EXIT_FAILED, "%s", why.p);
    buf_fini(&why);
    person_free(p);
    mcp_free(m);
    return status;
}
