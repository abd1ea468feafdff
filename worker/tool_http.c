#include "worker/tool_http.h"

#include "common/json.h"
#include "common/mem.h"
#include "worker/template.h"
#include "worker/tool_field.h"
#include "worker/tool_http_field.h"

#include <stddef.h>
#include <stdlib.h>

enum {
    EVERY_MS = 5000,
    TIMEOUT_MS = 30000,
    CONNECT_MS = 10000,
    RETRIES = 4,
    FAILURES = 10,
    COUNT_MAX = 1000,
    EVERY_MIN_MS = 10,
};

#define YEAR_MS (365ULL * 24 * 3600 * 1000)

/* --- the tables --- */

#define AT(member) .offset = offsetof(struct tool_http, member)
#define TIME(field, member, least) \
    { \
        .name = (field), .read = field_time, AT(member), .min = (least), .max = YEAR_MS \
    }
#define REQUEST(which) \
    {.name = "method", .read = http_read_method, AT(which.method)}, \
        {.name = "url", .read = http_read_url, AT(which.url)}, \
        {.name = "headers", .read = http_read_headers, AT(which.headers)}, \
    { \
        .name = "body", .read = http_read_body, AT(which.body) \
    }

static const struct field submit_fields[] = {REQUEST(submit), {.name = NULL}};
static const struct field cancel_fields[] = {REQUEST(cancel), {.name = NULL}};
static const struct field result_fields[] = {
    REQUEST(result),
    {.name = "as", .read = field_output},
    {.name = "at", .read = http_read_pointer, AT(at)},
    {.name = NULL},
};
static const struct field poll_fields[] = {
    REQUEST(poll),
    TIME("every", every_ms, EVERY_MIN_MS),
    TIME("everyMax", every_max_ms, EVERY_MIN_MS),
    {.name = "failures", .read = http_read_count, AT(failures), .max = COUNT_MAX},
    {.name = "state", .read = http_read_pointer, AT(state)},
    {.name = "working", .read = http_read_states, AT(states[HTTP_WORKING])},
    {.name = "completed", .read = http_read_states, AT(states[HTTP_COMPLETED])},
    {.name = "failed", .read = http_read_states, AT(states[HTTP_FAILED])},
    {.name = "cancelled", .read = http_read_states, AT(states[HTTP_CANCELLED])},
    {.name = "progress", .read = http_read_pointer, AT(progress)},
    {.name = "total", .read = http_read_total, AT(total)},
    {.name = "message", .read = http_read_pointer, AT(message)},
    {.name = NULL},
};

/* --- the requests --- */

/* What the templates that are read from now on make use of. */
static void read_into(struct reading *r, struct template_use *use)
{
    *use = (struct template_use){0};
    r->own = use;
}

static bool read_request(struct reading *r, const struct field *f, struct span value,
                         const struct field *fields, struct template_use *use)
{
    static const struct {
        const char *name;
        const char *within;
    } places[] = {{"submit", "run.http.submit."},
                  {"poll", "run.http.poll."},
                  {"result", "run.http.result."},
                  {"cancel", "run.http.cancel."}};
    size_t i = 0;

    if (json_type(value) != JSON_OBJECT)
        return field_refuse_value(r, f->name, value,
                                  "is no object; write {\"url\": \"https://...\"}");
    while (strcmp(places[i].name, f->name) != 0)
        i++;
    read_into(r, use);
    return field_members(r, fields, value, places[i].within, r->into);
}

/* A request without a method has the usual one. */
static bool complete(struct reading *r, const struct field *f, struct http_request *q,
                     const char *method)
{
    if (q->url == NULL)
        return field_refuse(r, f->name, "it has no \"url\"; write {\"url\": \"https://...\"}");
    if (q->method == NULL)
        q->method = mem_strdup(method);
    if (strcmp(q->method, "GET") == 0 && q->body != NULL)
        return field_refuse(r, f->name, "a GET has no \"body\"; take it out, or say \"method\"");
    return true;
}

static bool has_no_callback(const struct reading *r, const struct field *f,
                            const struct template_use *use)
{
    return (!use->callback_url && !use->callback_secret) ||
           field_refuse(r, f->name, "{callbackUrl} and {callbackSecret} are for \"submit\" only");
}

static bool read_submit(struct reading *r, const struct field *f, struct span value)
{
    struct tool_http *h = r->into;
    struct template_use use = {0};

    if (!read_request(r, f, value, submit_fields, &use) || !complete(r, f, &h->submit, "POST"))
        return false;
    if (use.job)
        return field_refuse(r, f->name, "there is no {job} before the submit is answered");
    if (use.callback_secret && !use.callback_url)
        return field_refuse(r, f->name, "{callbackSecret} is nothing without {callbackUrl}");
    h->takes_callback = use.callback_url;
    h->signs_callback = use.callback_secret;
    return true;
}

static bool read_poll(struct reading *r, const struct field *f, struct span value)
{
    struct tool_http *h = r->into;
    struct template_use use = {0};

    if (!read_request(r, f, value, poll_fields, &use) || !complete(r, f, &h->poll, "GET") ||
        !has_no_callback(r, f, &use))
        return false;
    if (h->state == NULL)
        return field_refuse(r, f->name,
                            "it has no \"state\"; write where the answer has it, like "
                            "\"/state\"");
    if (h->states[HTTP_COMPLETED].n == 0)
        return field_refuse(r, f->name,
                            "it does not say what is \"completed\"; write a list of "
                            "states, like [\"DONE\"]");
    if (h->every_max_ms != 0 && h->every_max_ms < h->every_ms)
        return field_refuse(r, f->name, "\"everyMax\" is less than \"every\"; write more");
    return true;
}

static bool read_result(struct reading *r, const struct field *f, struct span value)
{
    struct tool_http *h = r->into;
    struct template_use use = {0};

    r->t->output = TOOL_TEXT;
    if (!read_request(r, f, value, result_fields, &use) || !has_no_callback(r, f, &use))
        return false;
    if (h->result.url == NULL &&
        (h->result.method != NULL || h->result.headers.n > 0 || h->result.body != NULL))
        return field_refuse(r, f->name, "it has no \"url\" to send that to; write one");
    return h->result.url == NULL || complete(r, f, &h->result, "GET");
}

static bool read_cancel(struct reading *r, const struct field *f, struct span value)
{
    struct tool_http *h = r->into;
    struct template_use use = {0};

    return read_request(r, f, value, cancel_fields, &use) && complete(r, f, &h->cancel, "DELETE") &&
           has_no_callback(r, f, &use);
}

static bool read_shared_headers(struct reading *r, const struct field *f, struct span value)
{
    struct template_use use = {0};

    read_into(r, &use);
    return http_read_headers(r, f, value) && has_no_callback(r, f, &use);
}

static const struct field http_fields[] = {
    {.name = "submit", .read = read_submit},
    {.name = "job", .read = http_read_pointer, AT(job)},
    {.name = "poll", .read = read_poll},
    {.name = "result", .read = read_result},
    {.name = "cancel", .read = read_cancel},
    {.name = "headers", .read = read_shared_headers, AT(headers)},
    TIME("timeout", timeout_ms, 1),
    TIME("connectTimeout", connect_ms, 1),
    {.name = "retries", .read = http_read_count, AT(retries), .max = COUNT_MAX},
    {.name = "ca", .read = http_read_file, AT(ca_file)},
    {.name = "followRedirects", .read = field_bool, AT(follow)},
    {.name = NULL},
};

static bool has_all(const struct reading *r, const struct field *f, const struct tool_http *h)
{
    if (h->submit.url == NULL)
        return field_refuse(r, f->name, "it has no \"submit\"; write {\"url\": \"https://...\"}");
    if (h->job == NULL)
        return field_refuse(r, f->name,
                            "it does not say where the answer to the submit has the "
                            "job's id; write \"job\": \"/id\"");
    if (h->poll.url == NULL)
        return field_refuse(r, f->name,
                            "it has no \"poll\"; write {\"url\": \"https://...\", "
                            "\"state\": \"/state\", \"completed\": [\"DONE\"]}");
    return true;
}

bool field_http(struct reading *r, const struct field *f, struct span value)
{
    struct tool_http *h = mem_zalloc(sizeof(*h));

    h->every_ms = EVERY_MS;
    h->timeout_ms = TIMEOUT_MS;
    h->connect_ms = CONNECT_MS;
    h->retries = RETRIES;
    h->failures = FAILURES;
    r->t->http = h;
    r->t->run = TOOL_HTTP;
    r->t->output = TOOL_JSON; /* the poll's answer, unless "result" says otherwise */
    if (json_type(value) != JSON_OBJECT)
        return field_refuse_value(r, f->name, value,
                                  "is no object; write {\"submit\": {...}, \"job\": ...}");
    return field_members(r, http_fields, value, "run.http.", h) && has_all(r, f, h);
}

/* --- looking --- */

bool tool_takes_callback(const struct tool *t)
{
    return t->http != NULL && t->http->takes_callback;
}

static bool same_value(struct span a, struct span b)
{
    char *text;
    bool same;

    if (json_type(a) != JSON_STRING || json_type(b) != JSON_STRING)
        return span_equal(a, b);
    text = tool_text(a);
    same = text != NULL && json_is(b, text);
    free(text);
    return same;
}

enum http_state tool_http_state(const struct tool_http *h, struct span value)
{
    enum json_type type = json_type(value);

    for (int s = 0; s < HTTP_UNKNOWN; s++)
        for (size_t i = 0; i < h->states[s].n; i++)
            if (same_value(span_of(h->states[s].items[i]), value))
                return (enum http_state)s;
    if (h->states[HTTP_WORKING].n == 0 && type != JSON_NONE && type != JSON_OBJECT &&
        type != JSON_ARRAY)
        return HTTP_WORKING;
    return HTTP_UNKNOWN;
}

static void request_fini(struct http_request *q)
{
    free(q->method);
    free(q->url);
    free(q->body);
    tool_list_fini(&q->headers);
}

void tool_http_free(struct tool_http *h)
{
    if (h == NULL)
        return;
    request_fini(&h->submit);
    request_fini(&h->poll);
    request_fini(&h->result);
    request_fini(&h->cancel);
    for (int s = 0; s < HTTP_UNKNOWN; s++)
        tool_list_fini(&h->states[s]);
    tool_list_fini(&h->headers);
    tool_list_fini(&h->secrets);
    free(h->job);
    free(h->state);
    free(h->progress);
    free(h->total);
    free(h->message);
    free(h->at);
    free(h->ca_file);
    free(h);
}
