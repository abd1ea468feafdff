#include "broker/method/forward.h"

#include "common/json.h"
#include "common/mem.h"

#include <stdio.h>

enum { NAME_MAX_BYTES = 1024 };

const char forward_nothing[] = "{\"completion\":{\"values\":[],\"total\":0,\"hasMore\":false}}";

/* --- whose it is --- */

static long uri_of(struct span value, char uri[static FORWARD_URI_MAX + 1])
{
    return json_string(value, uri, FORWARD_URI_MAX + 1);
}

bool forward_uri(struct req *q, char uri[static FORWARD_URI_MAX + 1])
{
    if (uri_of(json_get(q->rpc.params, "uri"), uri) > 0)
        return true;
    req_fail_why(q, ERR_INVALID_PARAMS,
                 "params.uri must be a string of 1 to 4096 bytes, the address of a resource");
    return false;
}

void forward_no_resource(struct req *q)
{
    enum err e = q->dialect == 'M' ? ERR_INVALID_PARAMS : ERR_NO_RESOURCE;
    struct buf data;

    buf_init(&data, FORWARD_URI_MAX * 8);
    buf_adds(&data, "{\"uri\":");
    buf_add_span(&data, json_get(q->rpc.params, "uri"));
    buf_addc(&data, '}');
    req_fail_data(q, e, span_of(err_text(ERR_NO_RESOURCE)), buf_span(&data));
    buf_fini(&data);
}

static const struct offer *prompts_server(struct req *q, struct span name)
{
    const struct offer_item *prompt;
    char text[NAME_MAX_BYTES + 1];
    char why[NAME_MAX_BYTES + 64];
    long n = json_string(name, text, sizeof(text));

    if (json_type(name) != JSON_STRING) {
        req_fail_why(q, ERR_INVALID_PARAMS, "the name of a prompt must be a string");
        return NULL;
    }
    prompt = n > 0 ? offers_find(catalog_offers(q->b->catalog), OFFER_PROMPT,
                                 (struct span){text, (size_t)n})
                   : NULL;
    if (prompt != NULL)
        return prompt->of;
    (void)snprintf(why, sizeof(why), "Unknown prompt: %s", n > 0 ? text : "");
    req_fail_why(q, ERR_INVALID_PARAMS, why);
    return NULL;
}

/* A completion may name a template as it is listed. */
static const struct offer *template_server(struct req *q, struct span value)
{
    const struct offers *offers = catalog_offers(q->b->catalog);
    const struct offer_item *listed;
    char uri[FORWARD_URI_MAX + 1];
    long n = uri_of(value, uri);
    const struct offer *of = NULL;

    if (n > 0) {
        listed = offers_find(offers, OFFER_TEMPLATE, span_of(uri));
        of = listed != NULL ? listed->of : offers_route(offers, span_of(uri));
    }
    if (of == NULL)
        req_fail_why(q, ERR_INVALID_PARAMS,
                     "params.ref.uri is no resource and no template that is listed here");
    return of;
}

/* --- what is asked --- */

/* {"method":...,"params":...}, byte for byte as the client sent them but for a prompt's name, which
 * loses what is before it here. */
static void write_params(struct forward *f, const char *method, struct span params,
                         struct span name)
{
    size_t prefix = strlen(f->to->prefix);
    char text[NAME_MAX_BYTES + 1];
    long n = name.p != NULL ? json_string(name, text, sizeof(text)) : -1;

    buf_init(&f->params, params.n + NAME_MAX_BYTES * 8 + 256);
    buf_addf(&f->params, "{\"method\":\"%s\",\"params\":", method);
    if (prefix == 0 || n < (long)prefix) {
        buf_add_span(&f->params, params);
    } else {
        buf_add(&f->params, params.p, (size_t)(name.p - params.p));
        buf_add_json(&f->params, (struct span){text + prefix, (size_t)n - prefix});
        buf_add(&f->params, name.p + name.n, (size_t)(params.p + params.n - (name.p + name.n)));
    }
    buf_addc(&f->params, '}');
}

static enum forward_way to_server(struct req *q, struct forward *f, const char *method,
                                  struct span name)
{
    if (f->to == NULL || !call_read_meta(q, &f->call))
        return FORWARD_FAILED;
    f->call.idem[0] = '\0'; /* it is safe to ask again */
    f->call.idem_args[0] = '\0';
    f->job = (struct tool){.name = f->to->job,
                           .support = SUPPORT_FORBIDDEN,
                           .priority = TASK_NORMAL,
                           .attempts = f->to->attempts};
    write_params(f, method, q->rpc.params, name);
    f->call.params = buf_span(&f->params);
    return FORWARD_JOB;
}

static enum forward_way read_resource(struct req *q, struct forward *f, const char *method)
{
    struct span raw = json_get(q->rpc.params, "uri");
    char uri[FORWARD_URI_MAX + 1];

    if (!forward_uri(q, uri))
        return FORWARD_FAILED;
    f->to = offers_route(catalog_offers(q->b->catalog), span_of(uri));
    if (f->to == NULL) {
        forward_no_resource(q);
        return FORWARD_FAILED;
    }
    if (to_server(q, f, method, (struct span){NULL, 0}) == FORWARD_FAILED)
        return FORWARD_FAILED;
    q->about = mem_dup(raw.p, raw.n);
    return FORWARD_JOB;
}

static enum forward_way complete(struct req *q, struct forward *f, const char *method)
{
    struct span ref = json_get(q->rpc.params, "ref");
    struct span type = json_get(ref, "type");
    struct span name = {NULL, 0};

    if (json_is(type, "ref/prompt")) {
        name = json_get(ref, "name");
        f->to = prompts_server(q, name);
    } else if (json_is(type, "ref/resource")) {
        f->to = template_server(q, json_get(ref, "uri"));
    } else {
        req_fail_why(q, ERR_INVALID_PARAMS,
                     "params.ref must be an object whose type is ref/prompt or ref/resource");
    }
    if (f->to != NULL && !f->to->completions)
        return FORWARD_NOTHING;
    return to_server(q, f, method, name);
}

enum forward_way forward_read(struct req *q, const char *method, struct forward *f)
{
    struct span name;

    *f = (struct forward){.to = NULL};
    buf_init(&f->params, 1);
    if (json_type(q->rpc.params) != JSON_OBJECT) {
        req_fail_why(q, ERR_INVALID_PARAMS, "params must be an object");
        return FORWARD_FAILED;
    }
    if (strcmp(method, "resources/read") == 0)
        return read_resource(q, f, method);
    if (strcmp(method, "completion/complete") == 0)
        return complete(q, f, method);
    name = json_get(q->rpc.params, "name");
    f->to = prompts_server(q, name);
    return to_server(q, f, method, name);
}

void forward_fini(struct forward *f)
{
    buf_fini(&f->params);
}
