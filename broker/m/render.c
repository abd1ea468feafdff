#include "broker/m/render.h"

#include "broker/l/version.h"
#include "broker/m/names.h"
#include "common/json.h"

#define RELATED "io.modelcontextprotocol/related-task"
#define SERVER \
    "\"" M_META_SERVER "\":{\"name\":\"errand\",\"title\":\"errand task broker\"," \
    "\"version\":\"" ERRAND_VERSION "\"}"

void m_result(struct buf *out, struct span members)
{
    buf_adds(out, "{\"resultType\":\"complete\",\"_meta\":{" SERVER "}");
    if (members.n != 0) {
        buf_addc(out, ',');
        buf_add_span(out, members);
    }
    buf_addc(out, '}');
}

/* The members of an object but the named one; each with a comma before it. */
static void add_others(struct buf *out, struct span object, const char *but, const char *but_too)
{
    struct span name;
    struct span value;
    size_t cursor = 0;

    while (json_next(object, &cursor, &name, &value)) {
        if (json_name_is(name, but) || (but_too != NULL && json_name_is(name, but_too)))
            continue;
        buf_adds(out, ",\"");
        buf_add_span(out, name);
        buf_adds(out, "\":");
        buf_add_span(out, value);
    }
}

void m_tool_result(struct buf *out, struct span result)
{
    struct span meta = json_get(result, "_meta");

    buf_adds(out, "{\"resultType\":\"complete\",\"_meta\":{" SERVER);
    if (json_type(meta) == JSON_OBJECT)
        add_others(out, meta, M_META_SERVER, NULL);
    buf_addc(out, '}');
    add_others(out, result, "_meta", "resultType");
    buf_addc(out, '}');
}

void m_read_result(struct buf *out, struct span result)
{
    m_tool_result(out, result);
    if (json_get(result, "ttlMs").p != NULL && json_get(result, "cacheScope").p != NULL)
        return;
    out->n--; /* the closing brace */
    if (json_get(result, "ttlMs").p == NULL)
        buf_adds(out, ",\"ttlMs\":0");
    if (json_get(result, "cacheScope").p == NULL)
        buf_adds(out, ",\"cacheScope\":\"private\"");
    buf_addc(out, '}');
}

void m_resource_error(struct buf *out, struct span error, struct span uri)
{
    struct span data = json_get(error, "data");
    int64_t code = 0;
    bool is_ours = json_int(json_get(error, "code"), &code) && code == err_rpc(ERR_INVALID_PARAMS);

    if (code != err_rpc(ERR_NO_RESOURCE) && !(is_ours && data.p == NULL)) {
        buf_add_span(out, error);
        return;
    }
    buf_addf(out, "{\"code\":%d,\"message\":", err_rpc(ERR_INVALID_PARAMS));
    buf_add_span(out, json_get(error, "message"));
    buf_adds(out, ",\"data\":");
    if (json_get(data, "uri").p != NULL) {
        buf_add_span(out, data);
    } else {
        buf_adds(out, "{\"uri\":");
        buf_add_span(out, uri);
        buf_addc(out, '}');
    }
    buf_addc(out, '}');
}

/* isError is not a failure here: only JSON-RPC errors are. */
static const char *status_of(const struct task *t)
{
    return task_l_status(t, false);
}

void m_task(struct buf *out, const struct task *t)
{
    buf_adds(out, "\"taskId\":\"");
    buf_add_span(out, t->id);
    buf_addf(out, "\",\"status\":\"%s\"", status_of(t));
    if (t->message.n != 0) {
        buf_adds(out, ",\"statusMessage\":");
        buf_add_json(out, t->message);
    }
    buf_adds(out, ",\"createdAt\":\"");
    buf_add_time(out, t->created_ms);
    buf_adds(out, "\",\"lastUpdatedAt\":\"");
    buf_add_time(out, t->updated_ms);
    buf_adds(out, "\",\"ttlMs\":");
    buf_add_u64(out, t->expires_ms - t->created_ms);
    if (t->poll_ms != 0) {
        buf_adds(out, ",\"pollIntervalMs\":");
        buf_add_u64(out, t->poll_ms);
    }
}

/* params without the metadata of the handshake dialect. */
static void add_params(struct buf *out, struct span params)
{
    struct span meta = json_get(params, "_meta");
    struct buf rest;

    buf_init(&rest, params.n + 256);
    if (json_type(meta) == JSON_OBJECT)
        add_others(&rest, meta, RELATED, NULL);
    if (rest.n != 0) {
        buf_adds(out, "{\"_meta\":{");
        buf_add(out, rest.p + 1, rest.n - 1);
        buf_addc(out, '}');
        add_others(out, params, "_meta", NULL);
    } else {
        buf_reset(&rest);
        add_others(&rest, params, "_meta", NULL);
        buf_addc(out, '{');
        if (rest.n != 0)
            buf_add(out, rest.p + 1, rest.n - 1);
    }
    buf_addc(out, '}');
    buf_fini(&rest);
}

void m_input_requests(struct buf *out, const struct store_question *questions, size_t count)
{
    buf_adds(out, "\"inputRequests\":{");
    for (size_t i = 0; i < count; i++) {
        buf_adds(out, i == 0 ? "" : ",");
        buf_add_json(out, questions[i].key);
        buf_adds(out, ":{\"method\":");
        buf_add_json(out, questions[i].method);
        buf_adds(out, ",\"params\":");
        add_params(out, questions[i].params);
        buf_addc(out, '}');
    }
    buf_addc(out, '}');
}

size_t m_questions_size(const struct store_question *questions, size_t count)
{
    enum { ESCAPED = 6, AROUND = 128 };
    size_t n = AROUND;

    for (size_t i = 0; i < count; i++)
        n +=
            (questions[i].key.n + questions[i].method.n) * ESCAPED + questions[i].params.n + AROUND;
    return n;
}

void m_detailed(struct buf *out, const struct task *t, const struct store_question *questions,
                size_t count)
{
    m_task(out, t);
    if (t->state == TASK_INPUT) {
        buf_addc(out, ',');
        m_input_requests(out, questions, count);
    } else if (t->state == TASK_RESULT) {
        buf_adds(out, ",\"result\":{\"resultType\":\"complete\"");
        add_others(out, t->outcome, "resultType", NULL);
        buf_addc(out, '}');
    } else if (t->state == TASK_ERROR) {
        buf_adds(out, ",\"error\":");
        buf_add_span(out, t->outcome);
    }
}

void m_versions(struct buf *out, bool both)
{
    buf_adds(out, "[\"" M_VERSION "\"");
    for (unsigned v = 0; both && v < L_VERSIONS; v++)
        buf_addf(out, ",\"%s\"", l_version_name((enum l_version)v));
    buf_addc(out, ']');
}
