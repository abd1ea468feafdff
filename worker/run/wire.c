#include "worker/run/wire.h"

#include "common/json.h"
#include "worker/result.h"
#include "worker/run/say.h"

#include <stdlib.h>
#include <string.h>

enum { METHOD_ROOM = 64, ID_MAX = 1024 };

void wire_init(struct wire *w, const struct run_sink *sink, struct run_job *job)
{
    *w = (struct wire){.sink = sink, .job = job};
    buf_init(&w->in, WIRE_LINE_MAX + 1);
    buf_init(&w->out, WIRE_OUT_MAX);
}

void wire_fini(struct wire *w)
{
    buf_fini(&w->in);
    buf_fini(&w->out);
}

/* --- what it is told --- */

struct span wire_unread(const struct wire *w)
{
    struct span all = buf_span(&w->out);

    return (struct span){all.n > 0 ? all.p + w->out_at : "", all.n - w->out_at};
}

void wire_was_read(struct wire *w, size_t n)
{
    w->out_at += n;
    if (w->out_at == w->out.n) {
        buf_reset(&w->out);
        w->out_at = 0;
    }
}

bool wire_is_stuck(const struct wire *w)
{
    return !buf_ok(&w->out);
}

void wire_answer(struct wire *w, struct span id, struct span answer)
{
    buf_adds(&w->out, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_add_span(&w->out, id);
    buf_addc(&w->out, ',');
    buf_add(&w->out, answer.p + 1, answer.n - 1);
    buf_addc(&w->out, '\n');
}

/* id may be absent. */
static void fault(struct wire *w, struct span id, int code, const char *message)
{
    if (w->out.n - w->out_at > WIRE_UNREAD)
        return;
    buf_adds(&w->out, "{\"jsonrpc\":\"2.0\",");
    if (id.p != NULL) {
        buf_adds(&w->out, "\"id\":");
        buf_add_span(&w->out, id);
        buf_addc(&w->out, ',');
    }
    buf_adds(&w->out, "\"error\":");
    result_rpc_error(&w->out, code, span_of(message));
    buf_adds(&w->out, "}\n");
}

/* --- what it says --- */

static void on_notification(const struct wire *w, const char *method, struct span params)
{
    if (strcmp(method, "notifications/progress") == 0)
        say_progress(w->sink, w->job, params);
    else if (strcmp(method, "notifications/message") == 0)
        say_log(w->sink, w->job, params);
    else if (strcmp(method, "notifications/cancelled") == 0 &&
             json_is_id(json_get(params, "requestId")))
        w->sink->withdrew(w->job, json_get(params, "requestId"));
}

static void on_request(struct wire *w, struct span id, const char *method, struct span params)
{
    if (!json_is_id(id) || id.n > ID_MAX)
        fault(w, (struct span){NULL, 0}, -32600, "the id must be a string or a whole number");
    else if (strcmp(method, "ping") == 0)
        wire_answer(w, id, SPAN("{\"result\":{}}"));
    else
        w->sink->asked(w->job, id, span_of(method), params);
}

static void on_line(struct wire *w, struct span line)
{
    const struct span none = {NULL, 0};
    struct json_want want[] = {
        {.name = "jsonrpc"}, {.name = "id"}, {.name = "method"}, {.name = "params"}};
    char method[METHOD_ROOM];
    const char *why = "";

    if (line.n == 0 || strspn(line.p, " \t\r") == line.n)
        return;
    if (json_check(line, &why, NULL) != ERR_OK)
        fault(w, none, -32700, why);
    else if (json_get_many(line, want, 4) != ERR_OK || !json_is(want[0].value, "2.0"))
        fault(w, none, -32600, "this is no JSON-RPC 2.0 message");
    else if (want[2].value.p == NULL && want[1].value.p != NULL)
        ; /* an answer: nothing is ever asked of a command */
    else if (json_type(want[2].value) != JSON_STRING)
        fault(w, none, -32600, "\"method\" must be a string");
    else if (json_string(want[2].value, method, sizeof(method)) < 0)
        fault(w, want[1].value, -32601, "there is no such method");
    else if (want[1].value.p == NULL)
        on_notification(w, method, want[3].value);
    else
        on_request(w, want[1].value, method, want[3].value);
}

static void end_line(struct wire *w)
{
    if (w->is_long || w->in.n > WIRE_LINE_MAX)
        fault(w, (struct span){NULL, 0}, -32700, "a line may have 1 MiB at most");
    else
        on_line(w, buf_span(&w->in));
    w->is_long = false;
    buf_reset(&w->in);
}

void wire_feed(struct wire *w, const char *p, size_t n)
{
    while (n > 0) {
        const char *end = memchr(p, '\n', n);
        size_t len = end != NULL ? (size_t)(end - p) : n;

        if (!w->is_long && w->in.n + len <= WIRE_LINE_MAX) {
            buf_add(&w->in, p, len);
        } else {
            w->is_long = true;
            buf_reset(&w->in);
        }
        if (end == NULL)
            return;
        end_line(w);
        p += len + 1;
        n -= len + 1;
    }
}
