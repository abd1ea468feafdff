#include "broker/m/arrive.h"

#include "broker/m/header.h"
#include "broker/m/method.h"
#include "broker/m/names.h"
#include "broker/m/render.h"
#include "common/json.h"
#include "common/metric.h"

#include <stdio.h>

static const char *const levels[] = {"debug", "info",     "notice", "warning",
                                     "error", "critical", "alert",  "emergency"};

bool m_speaks(const struct req *q)
{
    struct span meta = json_get(q->rpc.params, "_meta");
    const char *header = http_header(q->http, "MCP-Protocol-Version");

    if (json_get(meta, M_META_VERSION).p != NULL)
        return true;
    return header != NULL && http_header(q->http, "Mcp-Session-Id") == NULL &&
           l_version_of(span_of(header)) == L_UNKNOWN && strcmp(header, M_VERSION) >= 0 &&
           strlen(header) == strlen(M_VERSION) && header[4] == '-';
}

void m_fail_extension(struct req *q)
{
    req_fail_data(q, ERR_CAPABILITY,
                  SPAN("this needs the extension " M_TASKS ", declared on the request"),
                  SPAN("{\"requiredCapabilities\":{\"extensions\":{\"" M_TASKS "\":{}}}}"));
}

static bool meta_is_complete(struct req *q, struct span meta)
{
    struct span level = json_get(meta, M_META_LOG_LEVEL);

    q->m.capabilities = json_get(meta, M_META_CAPABILITIES);
    if (json_type(meta) != JSON_OBJECT ||
        json_type(json_get(meta, M_META_VERSION)) != JSON_STRING ||
        json_type(q->m.capabilities) != JSON_OBJECT) {
        req_fail_why(q, ERR_BAD_META,
                     "params._meta must hold " M_META_VERSION " (string) and " M_META_CAPABILITIES
                     " (object)");
        return false;
    }
    q->m.tasks = json_get(json_get(q->m.capabilities, "extensions"), M_TASKS).p != NULL;
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (json_is(level, levels[i]))
            q->m.level = levels[i];
    if (level.p != NULL && q->m.level == NULL) {
        req_fail_why(q, ERR_BAD_META, "params._meta[\"" M_META_LOG_LEVEL "\"] is no log level");
        return false;
    }
    return true;
}

static bool mismatch(struct req *q, const char *why)
{
    req_fail_why(q, ERR_HEADER_MISMATCH, why);
    return false;
}

static bool version_is_served(struct req *q, struct span meta)
{
    struct span raw = json_get(meta, M_META_VERSION);
    struct span version = {raw.p + 1, raw.n - 2};
    struct buf data;

    if (!m_header_says(q->http, "MCP-Protocol-Version", version))
        return mismatch(q, "the header MCP-Protocol-Version must say what _meta says");
    if (span_is(version, M_VERSION))
        return true;
    buf_init(&data, 1024);
    buf_adds(&data, "{\"supported\":");
    m_versions(&data, strcmp(q->b->conf->dialects, "both") == 0);
    buf_adds(&data, ",\"requested\":");
    buf_add_span(&data, raw);
    buf_addc(&data, '}');
    req_fail_data(q, ERR_VERSION, SPAN("Unsupported protocol version"), buf_span(&data));
    buf_fini(&data);
    return false;
}

static bool name_agrees(struct req *q, const struct m_method *m)
{
    char name[4096 + 1]; /* of a tool, a prompt or a task, or an address */
    long n;

    if (m->name == NULL)
        return true;
    n = json_string(json_get(q->rpc.params, m->name), name, sizeof(name));
    if (n < 0) {
        char why[64];

        (void)snprintf(why, sizeof(why), "params.%s must be a string", m->name);
        req_fail_why(q, ERR_INVALID_PARAMS, why);
        return false;
    }
    if (!m_header_says(q->http, "Mcp-Name", (struct span){name, (size_t)n}))
        return mismatch(
            q, "the header Mcp-Name must repeat the name, the uri or the taskId of params");
    return true;
}

static bool scope_allows(struct req *q, enum scope scope)
{
    char challenge[128];

    if (principal_may(&q->who, scope))
        return true;
    (void)snprintf(challenge, sizeof(challenge),
                   "Bearer error=\"insufficient_scope\", scope=\"%s\"", scope_name(scope));
    http_set_header(q->http, "WWW-Authenticate", challenge);
    req_fail(q, ERR_FORBIDDEN);
    return false;
}

/* A client without the extension may still look after a task that it made by a handshake session
 * (Z-06); whether it is one is seen when it is read. */
static bool extension_is_there(struct req *q, const struct m_method *m)
{
    if (!m->tasks || q->m.tasks || m->begin == m_tasks_get || m->begin == m_tasks_cancel)
        return true;
    m_fail_extension(q);
    return false;
}

void m_arrive(struct req *q)
{
    struct span meta = json_get(q->rpc.params, "_meta");
    const struct m_method *m = m_method_find(q->rpc.method);

    q->dialect = 'M';
    q->version = L_UNKNOWN;
    if (q->rpc.kind != RPC_REQUEST) {
        req_quiet(q);
        return;
    }
    if (!meta_is_complete(q, meta) || !version_is_served(q, meta))
        return;
    if (!m_header_says(q->http, "Mcp-Method", span_of(q->rpc.method))) {
        (void)mismatch(q, "the header Mcp-Method must repeat the method");
        return;
    }
    if (m == NULL) {
        req_fail(q, ERR_NO_METHOD);
        return;
    }
    q->name = m->method;
    if (name_agrees(q, m) && extension_is_there(q, m) && scope_allows(q, m->scope))
        m->begin(q);
}
