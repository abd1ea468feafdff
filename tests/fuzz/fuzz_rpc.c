/* Any body of a request: what passes for a message is one by a second reading of JSON-RPC (cJSON
 * and a few lines), what is refused is none; and an answer to its id can be read again. */
#include "tests/fuzz/fuzz.h"

#include "broker/rpc.h"
#include "common/json.h"

#include <cjson/cJSON.h>
#include <string.h>

enum { LONGEST = 1 << 20 };

static unsigned times(const cJSON *object, const char *name)
{
    unsigned n = 0;

    for (const cJSON *it = object->child; it != NULL; it = it->next)
        n += strcmp(it->string, name) == 0;
    return n;
}

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static bool is_request_in_form(const cJSON *all)
{
    const cJSON *params = member(all, "params");

    return cJSON_IsString(member(all, "method")) && !times(all, "result") && !times(all, "error") &&
           (params == NULL || cJSON_IsObject(params));
}

static bool is_response_in_form(const cJSON *all)
{
    return times(all, "result") + times(all, "error") == 1 && times(all, "id") == 1;
}

/* All but the form of its id: cJSON does not keep how a number was written. */
static bool is_message(const cJSON *all)
{
    static const char *const names[] = {"jsonrpc", "id", "method", "params", "result", "error"};
    const cJSON *id = member(all, "id");

    if (!cJSON_IsObject(all))
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (times(all, names[i]) > 1)
            return false;
    if (!cJSON_IsString(member(all, "jsonrpc")) ||
        strcmp(member(all, "jsonrpc")->valuestring, "2.0") != 0)
        return false;
    if (id != NULL && !cJSON_IsString(id) && !cJSON_IsNumber(id))
        return false;
    return times(all, "method") ? is_request_in_form(all) : is_response_in_form(all);
}

static void check_kind(const struct rpc *m, const cJSON *all)
{
    const cJSON *method = member(all, "method");

    if (method == NULL) {
        FUZZ_CHECK(m->kind == RPC_RESPONSE && m->method[0] == '\0');
        return;
    }
    FUZZ_CHECK(m->kind == (member(all, "id") != NULL ? RPC_REQUEST : RPC_NOTIFICATION));
    if (strlen(method->valuestring) < sizeof(m->method))
        FUZZ_CHECK(strcmp(m->method, method->valuestring) == 0);
    else
        FUZZ_CHECK(m->method[0] == '\0');
    FUZZ_CHECK((m->params.p != NULL) == (member(all, "params") != NULL));
}

static void check_answer(struct span id)
{
    struct buf out;
    struct buf why;
    struct rpc again;

    buf_init(&out, 4 * LONGEST);
    buf_init(&why, 4096);
    rpc_write_error(&out, id, -32603, SPAN("no \"way\"\n"), SPAN("{\"a\":1}"));
    FUZZ_CHECK(rpc_parse(&again, buf_span(&out), &why) == ERR_OK && again.kind == RPC_RESPONSE);
    FUZZ_CHECK(span_equal(again.id, id) && again.error.p != NULL && again.result.p == NULL);
    buf_reset(&out);
    rpc_write_result(&out, id, SPAN("{}"));
    FUZZ_CHECK(rpc_parse(&again, buf_span(&out), &why) == ERR_OK);
    FUZZ_CHECK(span_equal(again.id, id) && span_is(again.result, "{}"));
    buf_fini(&why);
    buf_fini(&out);
}

/* cJSON's texts end at a U+0000. */
static bool has_no_nul(struct span body)
{
    return json_check(body, NULL, NULL) == ERR_OK && memmem(body.p, body.n, "\\u0000", 6) == NULL;
}

int fuzz_one(const uint8_t *data, size_t size)
{
    struct span body = {(const char *)data, size};
    struct buf why;
    struct rpc m;
    enum err e;
    cJSON *all;

    if (size > LONGEST)
        return 0;
    buf_init(&why, 4096);
    e = rpc_parse(&m, body, &why);
    FUZZ_CHECK((e == ERR_OK) == (why.n == 0));
    all = has_no_nul(body) ? cJSON_ParseWithLength(body.p, body.n) : NULL;
    if (all != NULL && e == ERR_OK) {
        FUZZ_CHECK(is_message(all));
        check_kind(&m, all);
    } else if (all != NULL && is_message(all)) {
        FUZZ_CHECK(strcmp(buf_span(&why).p, "id must be a string or an integer") == 0);
    }
    if (m.id.p != NULL) {
        FUZZ_CHECK(json_is_id(m.id) && m.id.p >= body.p && m.id.p + m.id.n <= body.p + body.n);
        check_answer(m.id);
    }
    cJSON_Delete(all);
    buf_fini(&why);
    return 0;
}
