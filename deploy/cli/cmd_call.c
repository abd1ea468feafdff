/* errand call: find the tool, create the task (or make a plain call), follow it.
 *
 * Every call carries an idempotency key, so that one whose answer was lost may be sent again: the
 * broker gives the same task, and a plain call finds the job it had begun. */
#include "common/id.h"
#include "common/json.h"
#include "common/mem.h"
#include "deploy/cli/arguments.h"
#include "deploy/cli/command.h"
#include "deploy/cli/conf.h"
#include "deploy/cli/follow.h"
#include "deploy/cli/person_mcp.h"
#include "deploy/cli/stop.h"
#include "deploy/cli/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARAMS_MAX = ARGUMENTS_MAX + (1 << 20) };

static void make_params(struct buf *out, const struct conf *c, const char *tool,
                        struct span arguments, bool as_task)
{
    char key[ID_LEN + 1];

    id_new(key, 0);
    buf_adds(out, "{\"name\":");
    buf_add_json(out, span_of(tool));
    buf_adds(out, ",\"arguments\":");
    buf_add_span(out, arguments);
    if (as_task && c->has_ttl)
        buf_addf(out, ",\"task\":{\"ttl\":%" PRIu64 "}", c->ttl);
    else if (as_task)
        buf_adds(out, ",\"task\":{}");
    buf_adds(out, ",\"_meta\":{");
    buf_addf(out, "\"progressToken\":\"p\",\"dev.errand/idempotency-key\":\"%s\"}}", key);
}

/* --- as a task --- */

/* For programs as tasks/get would say it, for people the id alone. */
static void say_task(const struct conf *c, struct span task, const char *id)
{
    if (c->json)
        (void)printf("%.*s\n", (int)task.n, task.p);
    else
        (void)puts(id);
}

static int call_as_task(struct mcp *m, const struct conf *c, struct person *p, struct span params)
{
    struct mcp_reply r;
    struct buf why;
    char id[256] = "";
    enum mcp_end end;
    int status;

    mcp_reply_init(&r);
    buf_init(&why, 4096);
    if (!c->detach)
        mcp_hear(m, person_note, p);
    end = mcp_call(m, "tools/call", params, NULL, NULL, &r, &why);
    if (end == MCP_RESULT)
        (void)json_string(json_get(json_get(r.value, "task"), "taskId"), id, sizeof(id));
    if (id[0] == '\0') {
        status = follow_print(c, end, &r, &why); /* refused, or a broker that answers at once */
    } else if (c->detach) {
        say_task(c, json_get(r.value, "task"), id);
        status = EXIT_OK;
    } else {
        status = follow(m, c, p, id, true);
    }
    mcp_reply_fini(&r);
    buf_fini(&why);
    return status;
}

/* --- as a plain call --- */

static int call_plain(struct mcp *m, const struct conf *c, struct person *p, struct span params)
{
    struct mcp_reply r;
    struct buf why;
    enum mcp_end end;
    int status;

    mcp_reply_init(&r);
    buf_init(&why, 4096);
    end = mcp_call(m, "tools/call", params, person_note, p, &r, &why);
    status_end(person_status(p));
    status = follow_print(c, end, &r, &why);
    mcp_reply_fini(&r);
    buf_fini(&why);
    return status;
}

/* What was asked for and this tool cannot do: NULL is nothing. */
static const char *misfit(const struct conf *c, enum tool_support support, bool as_task)
{
    if (as_task)
        return c->plain ? "it runs only as a task: leave out --plain" : NULL;
    if (c->detach && c->plain)
        return "a plain call has nobody to be left to: leave out --plain or --detach";
    if (c->detach)
        return support == TOOL_NO_TASKS ? "it never runs as a task: leave out --detach"
                                        : "this broker has no tasks: leave out --detach";
    return c->has_ttl ? "a call that is no task keeps nothing: leave out --ttl" : NULL;
}

static int call(struct mcp *m, const struct conf *c, const char *tool, struct span arguments)
{
    struct person *p = person_of_mcp(m, c, tool, true);
    enum tool_support support = TOOL_NO_TASKS;
    struct buf why;
    struct buf params;
    const char *wrong;
    bool as_task;
    int status;

    buf_init(&why, 4096);
    buf_init(&params, PARAMS_MAX);
    status = tools_look_up(m, c, tool, &support);
    if (status == EXIT_OK) {
        as_task = mcp_has_tasks(m) &&
                  (support == TOOL_ONLY_TASKS || (support == TOOL_MAY_TASK && !c->plain));
        wrong = misfit(c, support, as_task);
        if (wrong != NULL) {
            status = complain(EXIT_USAGE, "call: %s: %s", tool, wrong);
        } else {
            make_params(&params, c, tool, arguments, as_task);
            status = (as_task ? call_as_task : call_plain)(m, c, p, buf_span(&params));
        }
    }
    person_free(p);
    buf_fini(&params);
    buf_fini(&why);
    return status;
}

int cmd_call(const struct conf *c, char **args, size_t count)
{
    struct buf arguments;
    struct buf why;
    struct mcp *m;
    int status;

    buf_init(&arguments, ARGUMENTS_MAX);
    buf_init(&why, 4096);
    if (!arguments_read(count > 1 ? args[1] : NULL, &arguments, &why)) {
        status = complain(EXIT_USAGE, "call: %s", why.p);
    } else {
        stop_init();
        m = mcp_new(c->url, c->key);
        status = call(m, c, args[0], buf_span(&arguments));
        mcp_free(m);
    }
    buf_fini(&arguments);
    buf_fini(&why);
    return status;
}
