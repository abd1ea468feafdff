#include "worker/ask_check.h"

#include "common/elicit.h"
#include "common/json.h"
#include "worker/ask_sample.h"

enum { URL_MAX = 8192 };

static const char related[] = "io.modelcontextprotocol/related-task";

static int refuse(struct buf *why, int code, const char *what)
{
    buf_adds(why, what);
    return code;
}

/* --- elicitation --- */

static bool has_http(struct span url)
{
    char text[URL_MAX];

    return json_string(url, text, sizeof(text)) > 0 &&
           (strncmp(text, "https://", 8) == 0 || strncmp(text, "http://", 7) == 0) &&
           strpbrk(text, " \t\r\n\"<>") == NULL;
}

static int check_url(struct span can, struct span params, struct buf *why)
{
    if (json_type(json_get(can, "url")) != JSON_OBJECT)
        return refuse(why, ASK_BAD_PARAMS,
                      "this client does not open addresses (elicitation mode url)");
    if (!has_http(json_get(params, "url")))
        return refuse(why, ASK_BAD_PARAMS, "\"url\" must be an http or https address");
    if (json_type(json_get(params, "elicitationId")) != JSON_STRING)
        return refuse(why, ASK_BAD_PARAMS, "\"elicitationId\" must be a string");
    return 0;
}

static int check_form(struct span can, struct span params, struct buf *why)
{
    bool only_url = json_get(can, "form").p == NULL && json_get(can, "url").p != NULL;

    if (only_url)
        return refuse(why, ASK_BAD_PARAMS, "this client shows no forms (elicitation mode form)");
    buf_adds(why, "\"requestedSchema\": ");
    if (!elicit_check_form(json_get(params, "requestedSchema"), why))
        return ASK_BAD_PARAMS;
    buf_reset(why);
    return 0;
}

static int check_elicitation(struct span caps, struct span params, struct buf *why)
{
    struct span can = json_get(caps, "elicitation");
    struct span mode = json_get(params, "mode");

    if (json_type(can) != JSON_OBJECT)
        return refuse(why, ASK_NO_METHOD, "this client cannot be asked (no elicitation)");
    if (json_type(json_get(params, "message")) != JSON_STRING)
        return refuse(why, ASK_BAD_PARAMS, "\"message\" must be a string");
    if (json_is(mode, "url"))
        return check_url(can, params, why);
    if (mode.p != NULL && !json_is(mode, "form"))
        return refuse(why, ASK_BAD_PARAMS, "\"mode\" must be \"form\" or \"url\"");
    return check_form(can, params, why);
}

/* --- the others --- */

static int check_sampling(struct span caps, struct span params, struct buf *why)
{
    struct span can = json_get(caps, "sampling");
    bool tools = json_get(params, "tools").p != NULL || json_get(params, "toolChoice").p != NULL;

    if (json_type(can) != JSON_OBJECT)
        return refuse(why, ASK_NO_METHOD, "this client has no model to ask (no sampling)");
    if (tools && json_type(json_get(can, "tools")) != JSON_OBJECT)
        return refuse(why, ASK_BAD_PARAMS, "this client takes no tools (no sampling.tools)");
    return ask_check_sample(params, why) ? 0 : ASK_BAD_PARAMS;
}

static int check_roots(struct span caps, struct buf *why)
{
    if (json_type(json_get(caps, "roots")) == JSON_OBJECT)
        return 0;
    return refuse(why, ASK_NO_METHOD, "this client has no roots");
}

int ask_check(struct span caps, struct span method, struct span params, struct buf *why)
{
    if (params.n > 0 && json_type(params) != JSON_OBJECT)
        return refuse(why, ASK_BAD_PARAMS, "\"params\" must be an object");
    if (span_is(method, "elicitation/create"))
        return check_elicitation(caps, params, why);
    if (span_is(method, "sampling/createMessage"))
        return check_sampling(caps, params, why);
    if (span_is(method, "roots/list"))
        return check_roots(caps, why);
    return refuse(why, ASK_NO_METHOD,
                  "a job can ask elicitation/create, sampling/createMessage and roots/list");
}

static struct span task_caps(struct span caps)
{
    return json_get(caps, "tasks");
}

bool ask_is_hosted(struct span caps, struct span method)
{
    struct span requests = json_get(task_caps(caps), "requests");
    struct span one = {NULL, 0};

    if (span_is(method, "elicitation/create"))
        one = json_get(json_get(requests, "elicitation"), "create");
    else if (span_is(method, "sampling/createMessage"))
        one = json_get(json_get(requests, "sampling"), "createMessage");
    return json_type(one) == JSON_OBJECT;
}

bool ask_can_cancel(struct span caps)
{
    return json_type(json_get(task_caps(caps), "cancel")) == JSON_OBJECT;
}

/* --- what is sent --- */

static void begin_member(struct buf *out, struct span name)
{
    buf_adds(out, out->p[out->n - 1] == '{' ? "\"" : ",\"");
    buf_add_span(out, name);
    buf_adds(out, "\":");
}

static void copy_but(struct buf *out, struct span object, const char *a, const char *b)
{
    size_t cursor = 0;
    struct span name;
    struct span value;

    if (json_type(object) != JSON_OBJECT)
        return;
    while (json_next(object, &cursor, &name, &value)) {
        if (json_name_is(name, a) || json_name_is(name, b))
            continue;
        begin_member(out, name);
        buf_add_span(out, value);
    }
}

static void add_meta(struct buf *out, struct span meta, const char *task)
{
    size_t before = out->n;
    size_t empty;

    begin_member(out, SPAN("_meta"));
    buf_addc(out, '{');
    empty = out->n;
    copy_but(out, meta, related, "progressToken");
    if (task != NULL) {
        begin_member(out, span_of(related));
        buf_adds(out, "{\"taskId\":");
        buf_add_json(out, span_of(task));
        buf_addc(out, '}');
    }
    if (out->n == empty) {
        out->n = before;
        out->p[before] = '\0';
    } else {
        buf_addc(out, '}');
    }
}

void ask_params(struct buf *out, struct span params, const char *task, uint64_t ttl_ms)
{
    buf_addc(out, '{');
    copy_but(out, params, "task", "_meta");
    if (ttl_ms != 0) {
        begin_member(out, SPAN("task"));
        buf_addf(out, "{\"ttl\":%llu}", (unsigned long long)ttl_ms);
    }
    add_meta(out, json_get(params, "_meta"), task);
    buf_addc(out, '}');
}
