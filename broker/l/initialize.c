/* initialize: settles on a revision and opens a session in Redis, where every broker finds it.
 *
 *     begin -> on_created -> the answer, with the session's id in its header */
#include "broker/l/session.h"
#include "broker/method.h"
#include "broker/method/task_read.h"
#include "broker/req.h"
#include "common/json.h"

enum { PROTOCOL, CAPABILITIES, CLIENT, MEMBERS };
enum { KEPT_MAX = 64 << 10 }; /* what a session keeps in Redis */

static void answer(struct req *q)
{
    struct buf out;

    buf_init(&out, 2048);
    buf_addf(&out,
             "{\"protocolVersion\":\"%s\",\"capabilities\":{\"logging\":{},"
             "\"completions\":{},\"prompts\":{\"listChanged\":true},"
             "\"resources\":{\"subscribe\":true,\"listChanged\":true},"
             "\"tools\":{\"listChanged\":true}",
             l_version_name(q->version));
    if (l_has_tasks(q->version)) {
        /* T-96: whoever cannot be told apart is not offered a list. */
        buf_addf(&out, ",\"tasks\":{%s\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}",
                 q->who.anonymous ? "" : "\"list\":{},");
    }
    buf_adds(&out, "},\"serverInfo\":{\"name\":\"errand\",\"title\":\"errand task broker\","
                   "\"version\":\"" ERRAND_VERSION "\"}}");
    http_set_header(q->http, "Mcp-Session-Id", q->session);
    req_result(q, buf_span(&out));
    buf_fini(&out);
}

static void on_created(void *arg, enum err e, uint64_t retry_ms)
{
    struct req *q = arg;
    const struct store_result r = {.retry_ms = retry_ms};

    if (req_back(q) && task_read_ok(q, e, &r))
        answer(q);
}

static bool read_client(struct req *q, struct json_want *got)
{
    if (q->rpc.params.p == NULL || json_get_many(q->rpc.params, got, MEMBERS) != ERR_OK ||
        json_type(got[PROTOCOL].value) != JSON_STRING ||
        json_type(got[CAPABILITIES].value) != JSON_OBJECT ||
        json_type(got[CLIENT].value) != JSON_OBJECT) {
        req_fail_why(q, ERR_INVALID_PARAMS,
                     "params must hold protocolVersion (string), capabilities (object) and "
                     "clientInfo (object)");
        return false;
    }
    if (json_type(json_get(got[CLIENT].value, "name")) != JSON_STRING ||
        json_type(json_get(got[CLIENT].value, "version")) != JSON_STRING) {
        req_fail_why(q, ERR_INVALID_PARAMS,
                     "params.clientInfo must hold name and version, both strings");
        return false;
    }
    if (got[CAPABILITIES].value.n + got[CLIENT].value.n > KEPT_MAX) {
        req_fail_why(q, ERR_INVALID_PARAMS,
                     "params.capabilities and params.clientInfo must have at most 64 KiB together");
        return false;
    }
    return true;
}

void method_initialize(struct req *q)
{
    struct json_want got[MEMBERS] = {[PROTOCOL] = {.name = "protocolVersion"},
                                     [CAPABILITIES] = {.name = "capabilities"},
                                     [CLIENT] = {.name = "clientInfo"}};
    struct session s;

    if (!read_client(q, got))
        return;
    /* L-03, L-04: the version asked for, else our newest; never an error. */
    q->version = l_version_of((struct span){got[PROTOCOL].value.p + 1, got[PROTOCOL].value.n - 2});
    if (q->version == L_UNKNOWN)
        q->version = L_2025_11_25;
    id_new(q->session, q->who.partition);
    s = (struct session){
        .id = span_of(q->session),
        .owner = span_of(q->who.owner),
        .version = span_of(l_version_name(q->version)),
        .capabilities = got[CAPABILITIES].value,
        .client = got[CLIENT].value,
    };
    req_step(q);
    session_create(q->b->store, &s, SESSION_TTL_MS, q->b->conf->rate, on_created, q);
}
