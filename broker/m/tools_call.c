/* tools/call: one job in Redis; see m/job.h for its answers.
 *
 *     begin -> the arguments do not fit: an error result, and nothing is queued (W-16) */
#include "broker/m/arrive.h"
#include "broker/m/header.h"
#include "broker/m/job.h"
#include "broker/m/method.h"
#include "broker/m/render.h"
#include "common/json.h"

#include <stdio.h>

enum { PROMOTE_DEFAULT_MS = 2000, TEXT_MAX = 64 << 10 };

static void fail_capability(struct req *q, const struct tool *t)
{
    struct buf data;

    buf_init(&data, TEXT_MAX);
    buf_adds(&data, "{\"requiredCapabilities\":");
    buf_adds(&data, t->needs);
    buf_addc(&data, '}');
    req_fail_data(q, ERR_CAPABILITY, span_of(err_text(ERR_CAPABILITY)), buf_span(&data));
    buf_fini(&data);
}

static const struct tool *find_tool(struct req *q, const struct call *c)
{
    const struct tool *t = catalog_find(q->b->catalog, span_of(c->name));
    char text[CALL_NAME_MAX + 32];
    struct buf why;
    bool agree;

    if (t == NULL) {
        (void)snprintf(text, sizeof(text), "Unknown tool: %s", c->name);
        req_fail_why(q, ERR_INVALID_PARAMS, text);
        return NULL;
    }
    if (t->support == SUPPORT_REQUIRED && !q->m.tasks) {
        m_fail_extension(q);
        return NULL;
    }
    if (!call_is_capable(t, q->m.capabilities)) {
        fail_capability(q, t);
        return NULL;
    }
    buf_init(&why, 512);
    agree = m_params_agree(q->http, json_get(span_of(t->plain), "inputSchema"), c->arguments, &why);
    if (!agree)
        req_fail_why(q, ERR_HEADER_MISMATCH, buf_span(&why).p);
    buf_fini(&why);
    return agree ? t : NULL;
}

static bool arguments_fit(struct req *q, const struct call *c, const struct tool *t)
{
    struct buf result;
    struct buf why;
    struct buf out;
    bool fit;

    buf_init(&why, CALL_WHY_MAX);
    fit = call_fits(c, t, &why);
    if (!fit) {
        buf_init(&result, TEXT_MAX);
        buf_init(&out, TEXT_MAX);
        call_refusal(&result, buf_span(&why));
        m_tool_result(&out, buf_span(&result));
        req_result(q, buf_span(&out));
        buf_fini(&out);
        buf_fini(&result);
    }
    buf_fini(&why);
    return fit;
}

void m_tools_call(struct req *q)
{
    const struct tool *t;
    struct call c;

    if (!call_read(q, &c))
        return;
    t = find_tool(q, &c);
    if (t == NULL || !arguments_fit(q, &c, t))
        return;
    id_digest(q->digest, (struct span[]){SPAN("tools/call"), span_of(c.name), c.arguments}, 3);
    q->may_promote = q->m.tasks && t->support != SUPPORT_FORBIDDEN;
    q->timeout_ms = t->promote_ms != 0 ? t->promote_ms : PROMOTE_DEFAULT_MS;
    m_job(q, &c, t);
}
