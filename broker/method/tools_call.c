/* tools/call: one job in Redis, and an answer.
 *
 *     begin -> on_created -> the task's handle                       (params.task: T-15)
 *                         -> wait -> on_ended -> the job's outcome   (a plain call)
 *
 *           -> the arguments do not fit: a failed task's handle    (params.task: T-19)
 *                                         an error result           (a plain call: W-16)
 *
 * Both ways make the same job. Nothing is written before store_create, so an earlier failure
 * leaves no trace. When store_create ends in ERR_UNAVAILABLE the job may or may not exist; a
 * client that must not run it twice sends an idempotency key. */
#include "broker/facade.h"
#include "broker/l/render.h"
#include "broker/l/session.h"
#include "broker/method.h"
#include "broker/method/call.h"
#include "broker/method/outcome.h"
#include "common/event.h"

#include <stdio.h>

static struct span capabilities_of(const struct req *q)
{
    const struct session_copy *s =
        sessions_admitted(q->b->sessions, span_of(q->session), span_of(q->who.owner));

    return s != NULL ? span_of(s->capabilities) : (struct span){NULL, 0};
}

/* The tool, if it may be called in this way (T-09, T-11, W-12). */
static const struct tool *find_tool(struct req *q, const struct call *c)
{
    const struct tool *t = catalog_find(q->b->catalog, span_of(c->name));
    char why[CALL_NAME_MAX + 96];

    if (t == NULL) {
        (void)snprintf(why, sizeof(why), "Unknown tool: %s", c->name);
        req_fail_why(q, ERR_INVALID_PARAMS, why);
        return NULL;
    }
    if (c->as_task && t->support == SUPPORT_FORBIDDEN) {
        (void)snprintf(why, sizeof(why), "Tool %s cannot run as a task: call it without task",
                       t->name);
    } else if (!c->as_task && t->support == SUPPORT_REQUIRED && !facade_applies(q)) {
        (void)snprintf(why, sizeof(why), "Tool %s runs only as a task: call it with task", t->name);
    } else if (!call_is_capable(t, capabilities_of(q))) {
        (void)snprintf(why, sizeof(why),
                       "Tool %s needs client capabilities that this session has "
                       "not declared",
                       t->name);
        req_fail_why(q, ERR_INVALID_PARAMS, why);
        return NULL;
    } else {
        return t;
    }
    req_fail_why(q, ERR_METHOD_NOT_FOUND, why);
    return NULL;
}

static void answer_handle(struct req *q, const struct task *t)
{
    struct buf out;
    struct task first = *t;
    const struct tool *tool;

    buf_init(&out, 64 << 10);
    first.state = TASK_WORKING; /* T-27, even when the work is already done */
    if (task_is_terminal(t->state))
        first.message = (struct span){NULL, 0};
    buf_adds(&out, "{\"task\":");
    l_task(&out, &first, true);
    tool = catalog_find(q->b->catalog, t->tool);
    if (tool != NULL && tool->immediate != NULL)
        buf_addf(&out, ",\"_meta\":{\"io.modelcontextprotocol/model-immediate-response\":%s}",
                 tool->immediate);
    buf_addc(&out, '}');
    req_result(q, buf_span(&out));
    buf_fini(&out);
}

static void answer_task(struct req *q, const struct store_result *r)
{
    if (!r->repeated)
        req_log(q, EVENT_TASK_CREATED, &r->task);
    if (q->plain_handle)
        facade_handle(q, &r->task);
    else
        answer_handle(q, &r->task);
}

static void on_created(void *arg, enum err e, const struct store_result *r)
{
    struct req *q = arg;

    if (!call_created(q, e, r))
        return;
    if (!q->hidden)
        call_durable(q, r, answer_task);
    else
        outcome_created(q, &r->task);
}

/* Nothing is queued: the answer is an error result, or the handle of a task that ends with it. */
static void refuse(struct req *q, struct call *c, const struct tool *t, struct span why)
{
    struct buf result;

    buf_init(&result, 64 << 10);
    call_refusal(&result, why);
    if (c->as_task) {
        c->outcome = buf_span(&result);
        c->message = why;
        call_create(q, c, t, on_created);
    } else {
        req_result(q, buf_span(&result));
    }
    buf_fini(&result);
}

static void create(struct req *q, struct call *c, const struct tool *t)
{
    struct buf why;

    buf_init(&why, CALL_WHY_MAX);
    if (call_fits(c, t, &why))
        call_create(q, c, t, on_created);
    else
        refuse(q, c, t, buf_span(&why));
    buf_fini(&why);
}

void method_tools_call(struct req *q)
{
    const struct tool *t;
    struct call c;

    if (!call_read(q, &c))
        return;
    if (facade_applies(q) && facade_call(q, &c))
        return;
    t = find_tool(q, &c);
    if (t == NULL)
        return;
    /* Only the facade lets a plain call of a tool that runs as a task through. */
    q->hidden = !c.as_task && t->support != SUPPORT_REQUIRED;
    q->plain_handle = !c.as_task && !q->hidden;
    create(q, &c, t);
}
