/*     begin -> counted -> ids looked up, one by one -> acknowledged -> changes ... -> result */
#include "broker/catalog.h"
#include "broker/m/arrive.h"
#include "broker/m/listen_inside.h"
#include "broker/m/method.h"
#include "broker/m/names.h"
#include "broker/method/task_read.h"
#include "broker/req.h"
#include "broker/sse.h"
#include "common/json.h"
#include "common/mem.h"
#include "common/registry.h"

#include <event2/event.h>
#include <stdlib.h>

enum { TASKS_MAX = 256, RESOURCES_MAX = 128, TEXT_MAX = 512 << 10 };

static const struct {
    unsigned what;
    const char *member; /* of the filter */
    const char *method;
} lists[] = {
    {CATALOG_TOOLS, "toolsListChanged", "notifications/tools/list_changed"},
    {CATALOG_PROMPTS, "promptsListChanged", "notifications/prompts/list_changed"},
    {CATALOG_RESOURCES, "resourcesListChanged", "notifications/resources/list_changed"},
};

enum { LISTS = sizeof(lists) / sizeof(lists[0]) };

struct listeners *listeners_new(struct broker *b)
{
    struct listeners *l = mem_zalloc(sizeof(*l));

    l->b = b;
    list_init(&l->all);
    map_init(&l->by_task);
    l->crowded = evtimer_new(b->base, listeners_on_crowded, l);
    return l;
}

static void listener_free(struct listener *one)
{
    for (size_t i = 0; i < one->count; i++)
        map_del(&one->all->by_task, &one->watches[i].node);
    for (size_t i = 0; i < one->resource_count; i++) {
        free(one->resources[i].server);
        free(one->resources[i].uri);
    }
    list_del(&one->node);
    free(one->resources);
    free(one->watches);
    free(one->id);
    free(one);
}

void listeners_free(struct listeners *l)
{
    LIST_EACH(&l->all, it)
    listener_free(LIST_OF(it, struct listener, node));
    map_fini(&l->by_task);
    event_free(l->crowded);
    free(l);
}

/* --- what is sent --- */

void listener_notify(struct listener *one, const char *method, struct span members)
{
    struct buf out;

    buf_init(&out, members.n + strlen(one->id) + 512);
    buf_addf(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{", method);
    buf_add_span(&out, members);
    buf_addf(&out, "\"_meta\":{\"" M_META_SUBSCRIPTION "\":%s}}}", one->id);
    sse_send(one->sse, NULL, buf_span(&out));
    buf_fini(&out);
}

static void add_ids(struct buf *out, const struct listener *one)
{
    bool any = false;

    for (size_t i = 0; i < one->count; i++) {
        if (!one->watches[i].good)
            continue;
        buf_addf(out, "%s\"%s\"", any ? "," : ",\"taskIds\":[", one->watches[i].id);
        any = true;
    }
    buf_adds(out, any ? "]" : "");
}

static void add_resources(struct buf *out, const struct listener *one)
{
    for (size_t i = 0; i < one->resource_count; i++) {
        buf_adds(out, i == 0 ? ",\"resourceSubscriptions\":[" : ",");
        buf_add_json(out, span_of(one->resources[i].uri));
    }
    buf_adds(out, one->resource_count != 0 ? "]" : "");
}

/* What of the filter is honoured. */
static void acknowledge(struct listener *one)
{
    struct buf members;
    struct buf all;

    buf_init(&members, TEXT_MAX);
    buf_init(&all, TEXT_MAX + 64);
    for (size_t i = 0; i < LISTS; i++)
        if ((one->lists & lists[i].what) != 0)
            buf_addf(&members, ",\"%s\":true", lists[i].member);
    add_resources(&members, one);
    add_ids(&members, one);
    buf_adds(&all, "\"notifications\":{");
    if (members.n != 0)
        buf_add(&all, members.p + 1, members.n - 1);
    buf_adds(&all, "},");
    listener_notify(one, "notifications/subscriptions/acknowledged", buf_span(&all));
    buf_fini(&all);
    buf_fini(&members);
}

void listeners_changed(struct listeners *l, unsigned what)
{
    LIST_EACH(&l->all, it)
    {
        struct listener *one = LIST_OF(it, struct listener, node);

        for (size_t i = 0; i < LISTS && one->sse != NULL; i++)
            if ((one->lists & what & lists[i].what) != 0)
                listener_notify(one, lists[i].method, SPAN(""));
    }
}

static bool listens_to(const struct listener *one, struct span server, struct span uri)
{
    for (size_t i = 0; i < one->resource_count; i++)
        if (span_is(server, one->resources[i].server) &&
            registry_is_part(uri, span_of(one->resources[i].uri)))
            return true;
    return false;
}

void listeners_updated(struct listeners *l, struct span server, struct span uri)
{
    struct buf members;

    buf_init(&members, TEXT_MAX);
    buf_adds(&members, "\"uri\":");
    buf_add_json(&members, uri);
    buf_addc(&members, ',');
    LIST_EACH(&l->all, it)
    {
        struct listener *one = LIST_OF(it, struct listener, node);

        if (one->sse != NULL && listens_to(one, server, uri))
            listener_notify(one, "notifications/resources/updated", buf_span(&members));
    }
    buf_fini(&members);
}

static void want_resources(const struct listener *one)
{
    struct span watches[3 * RESOURCES_MAX];

    for (size_t i = 0; i < one->resource_count; i++) {
        watches[3 * i] = span_of(one->owner);
        watches[3 * i + 1] = span_of(one->resources[i].server);
        watches[3 * i + 2] = span_of(one->resources[i].uri);
    }
    registry_want_all(one->all->b->store, watches, one->resource_count);
}

void listeners_want(struct listeners *l)
{
    LIST_EACH(&l->all, it)
    want_resources(LIST_OF(it, struct listener, node));
}

/* --- opening and closing --- */

static void on_gone(void *arg)
{
    listener_free(arg);
}

static void open_stream(struct listener *one)
{
    struct req *q = one->q;
    struct http_req *http = q->http;

    one->q = NULL;
    q->http = NULL;
    req_release(q);
    one->sse = sse_start(http, on_gone, one);
    acknowledge(one);
    listener_catch_up(one);
}

static void on_id(void *arg, enum err e, const struct store_result *r)
{
    struct watch *w = arg;
    struct listener *one = w->of;

    if (e == ERR_OK) {
        w->good = true;
        w->version = r->task.version;
    }
    if (--one->looking != 0)
        return;
    if (!req_back(one->q)) {
        listener_free(one);
        return;
    }
    open_stream(one);
}

static void look_up(struct listener *one)
{
    req_step(one->q);
    one->looking = 1;
    for (size_t i = 0; i < one->count; i++) {
        struct watch *w = &one->watches[i];
        struct store_get get = {.id = span_of(w->id), .owner = span_of(one->owner), .wait = true};

        map_add(&one->all->by_task, &w->node, get.id);
        one->looking++;
        store_get(one->all->b->store, &get, on_id, w);
    }
    if (--one->looking == 0 && req_back(one->q))
        open_stream(one);
}

static void on_counted(void *arg, enum err e, uint64_t retry_ms)
{
    struct listener *one = arg;
    const struct store_result r = {.retry_ms = retry_ms};

    if (req_back(one->q) && task_read_ok(one->q, e, &r))
        look_up(one);
    else
        listener_free(one);
}

/* Each look-up counts as the tasks/get that it is. */
static void count_look_ups(struct listener *one)
{
    struct broker *b = one->all->b;

    if (one->count == 0 || b->conf->rate == 0) {
        look_up(one);
        return;
    }
    req_step(one->q);
    store_throttle(b->store, span_of(one->owner), b->conf->rate, (unsigned)one->count, on_counted,
                   one);
}

/* A listener stays for long: what it does not need is given back. */
static void *fitted(void *p, size_t n)
{
    if (n != 0)
        return mem_grow(p, n);
    free(p);
    return NULL;
}

/* The ids asked for, as many as are served; what is no id is left out of the acknowledgement. */
static void read_ids(struct listener *one, struct span ids)
{
    struct span name;
    struct span value;
    size_t cursor = 0;

    if (ids.p == NULL)
        return;
    one->watches = mem_zalloc(TASKS_MAX * sizeof(one->watches[0]));
    while (one->count < TASKS_MAX && json_next(ids, &cursor, &name, &value)) {
        struct watch *w = &one->watches[one->count];
        unsigned partition;

        if (json_string(value, w->id, sizeof(w->id)) != ID_LEN ||
            !id_parse(span_of(w->id), store_partitions(one->all->b->store), &partition) ||
            partition != one->q->who.partition)
            continue;
        w->of = one;
        one->count++;
    }
    one->watches = fitted(one->watches, one->count * sizeof(one->watches[0]));
}

/* The resources asked for whose server takes subscriptions; what is nobody's, or may not be read,
 * is left out of the acknowledgement. */
static void read_resources(struct listener *one, struct span uris)
{
    const struct offers *offers = catalog_offers(one->all->b->catalog);
    struct span name;
    struct span value;
    size_t cursor = 0;

    if (uris.p == NULL || !principal_may(&one->q->who, SCOPE_TOOLS_CALL))
        return;
    one->resources = mem_zalloc(RESOURCES_MAX * sizeof(one->resources[0]));
    while (one->resource_count < RESOURCES_MAX && json_next(uris, &cursor, &name, &value)) {
        char uri[REGISTRY_URI_MAX + 1];
        long n = json_string(value, uri, sizeof(uri));
        const struct offer *of = n > 0 ? offers_route(offers, span_of(uri)) : NULL;

        if (of != NULL && of->subscribe)
            one->resources[one->resource_count++] =
                (struct listen_resource){.server = mem_strdup(of->server), .uri = mem_strdup(uri)};
    }
    one->resources = fitted(one->resources, one->resource_count * sizeof(one->resources[0]));
}

static bool is_array(struct span value)
{
    return value.p == NULL || json_type(value) == JSON_ARRAY;
}

static void begin(struct req *q, struct span filter)
{
    struct listener *one = mem_zalloc(sizeof(*one));

    one->all = q->b->listeners;
    one->q = q;
    one->id = mem_dup(q->rpc.id.p, q->rpc.id.n);
    memcpy(one->owner, q->who.owner, sizeof(one->owner));
    for (size_t i = 0; i < LISTS; i++) {
        bool wanted = false;

        if (json_bool(json_get(filter, lists[i].member), &wanted) && wanted)
            one->lists |= lists[i].what;
    }
    list_add_tail(&one->all->all, &one->node);
    read_resources(one, json_get(filter, "resourceSubscriptions"));
    want_resources(one);
    read_ids(one, json_get(filter, "taskIds"));
    count_look_ups(one);
}

void m_listen(struct req *q)
{
    struct span filter = json_get(q->rpc.params, "notifications");
    struct span ids = json_get(filter, "taskIds");

    if (json_type(filter) != JSON_OBJECT || !is_array(ids) ||
        !is_array(json_get(filter, "resourceSubscriptions"))) {
        req_fail_why(q, ERR_INVALID_PARAMS,
                     "params.notifications must be an object, and its taskIds and "
                     "resourceSubscriptions arrays");
        return;
    }
    if (ids.p != NULL && !q->m.tasks) {
        m_fail_extension(q);
        return;
    }
    if (!http_accepts(q->http, "text/event-stream") || !http_streams(q->http)) {
        req_fail_why(q, ERR_INVALID_REQUEST,
                     "a subscription needs HTTP/1.1 and an Accept that "
                     "lists text/event-stream");
        return;
    }
    begin(q, filter);
}

void listeners_drain(struct listeners *l)
{
    LIST_EACH(&l->all, it)
    {
        struct listener *one = LIST_OF(it, struct listener, node);
        struct buf out;

        if (one->sse == NULL)
            continue;
        buf_init(&out, strlen(one->id) * 2 + 512);
        buf_addf(&out,
                 "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"resultType\":\"complete\","
                 "\"_meta\":{\"" M_META_SUBSCRIPTION "\":%s}}}",
                 one->id, one->id);
        sse_send(one->sse, NULL, buf_span(&out));
        sse_end(one->sse);
        buf_fini(&out);
        listener_free(one);
    }
}
