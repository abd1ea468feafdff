#include "broker/rpc.h"

#include "common/json.h"

enum { JSONRPC, ID, METHOD, PARAMS, RESULT, ERROR, MEMBERS };

static enum err refuse(struct buf *why, const char *text)
{
    buf_adds(why, text);
    return ERR_INVALID_REQUEST;
}

static enum err read_request(struct rpc *m, const struct json_want *got, struct buf *why)
{
    enum json_type params = json_type(got[PARAMS].value);

    if (json_type(got[METHOD].value) != JSON_STRING)
        return refuse(why, "method must be a string");
    if (got[RESULT].value.p != NULL || got[ERROR].value.p != NULL)
        return refuse(why, "a message with a method must not have a result or an error");
    if (json_string(got[METHOD].value, m->method, sizeof(m->method)) < 0)
        m->method[0] = '\0'; /* longer than any method there is */
    m->kind = got[ID].value.p != NULL ? RPC_REQUEST : RPC_NOTIFICATION;
    if (params != JSON_NONE && params != JSON_OBJECT)
        return refuse(why, "params must be an object");
    m->params = got[PARAMS].value;
    return ERR_OK;
}

static enum err read_response(struct rpc *m, const struct json_want *got, struct buf *why)
{
    m->kind = RPC_RESPONSE;
    m->result = got[RESULT].value;
    m->error = got[ERROR].value;
    if ((m->result.p != NULL) == (m->error.p != NULL))
        return refuse(why, "a message needs a method, or exactly one of result and error");
    if (m->id.p == NULL)
        return refuse(why, "a response needs an id");
    return ERR_OK;
}

enum err rpc_parse(struct rpc *m, struct span body, struct buf *why)
{
    struct json_want got[MEMBERS] = {[JSONRPC] = {.name = "jsonrpc"}, [ID] = {.name = "id"},
                                     [METHOD] = {.name = "method"},   [PARAMS] = {.name = "params"},
                                     [RESULT] = {.name = "result"},   [ERROR] = {.name = "error"}};
    const char *reason = NULL;
    size_t at = 0;
    enum err e;

    *m = (struct rpc){0};
    e = json_check(body, &reason, &at);
    if (e != ERR_OK) {
        buf_addf(why, "%s at byte %zu", reason != NULL ? reason : err_text(e), at);
        return e;
    }
    if (json_type(body) == JSON_ARRAY)
        return refuse(why, "batches are not accepted: send one message a request");
    if (json_type(body) != JSON_OBJECT)
        return refuse(why, "a message must be a JSON object");
    if (json_get_many(body, got, MEMBERS) != ERR_OK)
        return refuse(why, "a member of the message stands there twice");
    if (got[ID].value.p != NULL && !json_is_id(got[ID].value))
        return refuse(why, "id must be a string or an integer");
    m->id = got[ID].value;
    if (!json_is(got[JSONRPC].value, "2.0"))
        return refuse(why, "jsonrpc must be \"2.0\"");
    return got[METHOD].value.p != NULL ? read_request(m, got, why) : read_response(m, got, why);
}

static void open_answer(struct buf *out, struct span id)
{
    buf_adds(out, "{\"jsonrpc\":\"2.0\"");
    if (id.p != NULL) {
        buf_adds(out, ",\"id\":");
        buf_add_span(out, id);
    }
}

void rpc_write_result(struct buf *out, struct span id, struct span result)
{
    open_answer(out, id);
    buf_adds(out, ",\"result\":");
    buf_add_span(out, result);
    buf_addc(out, '}');
}

void rpc_write_error(struct buf *out, struct span id, int code, struct span message,
                     struct span data)
{
    open_answer(out, id);
    buf_addf(out, ",\"error\":{\"code\":%d,\"message\":", code);
    buf_add_json(out, message);
    if (data.p != NULL) {
        buf_adds(out, ",\"data\":");
        buf_add_span(out, data);
    }
    buf_adds(out, "}}");
}

void rpc_write_error_raw(struct buf *out, struct span id, struct span error)
{
    open_answer(out, id);
    buf_adds(out, ",\"error\":");
    buf_add_span(out, error);
    buf_addc(out, '}');
}

void rpc_write_notification(struct buf *out, const char *method, struct span params)
{
    buf_addf(out, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"", method);
    if (params.p != NULL) {
        buf_adds(out, ",\"params\":");
        buf_add_span(out, params);
    }
    buf_addc(out, '}');
}
