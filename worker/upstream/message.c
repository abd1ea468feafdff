#include "worker/upstream/message.h"

#include "common/json.h"

static bool read_answer(struct message *m, struct span result, struct span error, const char **why)
{
    m->kind = error.p != NULL ? MESSAGE_ERROR : MESSAGE_RESULT;
    m->value = error.p != NULL ? error : result;
    *why = "a result or an error is no object";
    return json_type(m->value) == JSON_OBJECT;
}

static bool read_call(struct message *m, struct span method, struct span params, const char **why)
{
    m->kind = m->id.p != NULL ? MESSAGE_REQUEST : MESSAGE_NOTICE;
    m->params = params;
    *why = "\"method\" is no name of a method";
    if (json_string(method, m->method, sizeof(m->method)) <= 0)
        return false;
    *why = "\"params\" is no object";
    return params.p == NULL || json_type(params) == JSON_OBJECT;
}

bool message_read(struct message *m, struct span text, const char **why)
{
    struct json_want want[] = {{.name = "jsonrpc"}, {.name = "id"},     {.name = "method"},
                               {.name = "params"},  {.name = "result"}, {.name = "error"}};

    *m = (struct message){.id = {NULL, 0}};
    if (json_check_limits(text, 0, 0, why, NULL) != ERR_OK)
        return false;
    *why = "it is no JSON-RPC 2.0 message";
    if (json_get_many(text, want, 6) != ERR_OK || !json_is(want[0].value, "2.0"))
        return false;
    m->id = want[1].value;
    *why = "\"id\" is neither a string nor a whole number";
    if (json_type(m->id) == JSON_NULL)
        m->id = (struct span){NULL, 0};
    if (m->id.p != NULL && !json_is_id(m->id))
        return false;
    if (want[2].value.p != NULL)
        return read_call(m, want[2].value, want[3].value, why);
    *why = "it is neither a request nor an answer";
    if ((want[4].value.p != NULL) == (want[5].value.p != NULL))
        return false;
    return read_answer(m, want[4].value, want[5].value, why);
}

void message_add_flat(struct buf *out, struct span json)
{
    while (json.n > 0) {
        const char *cr = memchr(json.p, '\r', json.n);
        size_t n = cr != NULL ? (size_t)(cr - json.p) : json.n;
        const char *lf = memchr(json.p, '\n', n);

        n = lf != NULL ? (size_t)(lf - json.p) : n;
        buf_add(out, json.p, n);
        n += n < json.n ? 1 : 0;
        json = (struct span){json.p + n, json.n - n};
    }
}

static void add_params(struct buf *out, const char *method, struct span params)
{
    buf_adds(out, "\"method\":");
    buf_add_json(out, span_of(method));
    if (params.p != NULL) {
        buf_adds(out, ",\"params\":");
        message_add_flat(out, params);
    }
    buf_addc(out, '}');
}

void message_request(struct buf *out, uint64_t number, const char *method, struct span params)
{
    buf_adds(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_add_u64(out, number);
    buf_addc(out, ',');
    add_params(out, method, params);
}

void message_notice(struct buf *out, const char *method, struct span params)
{
    buf_adds(out, "{\"jsonrpc\":\"2.0\",");
    add_params(out, method, params);
}

void message_answer(struct buf *out, struct span id, struct span answer)
{
    buf_adds(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_add_span(out, id);
    buf_addc(out, ',');
    message_add_flat(out, (struct span){answer.p + 1, answer.n - 1});
}
