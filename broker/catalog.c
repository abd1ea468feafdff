#include "broker/catalog.h"

#include "common/clock.h"
#include "common/event.h"
#include "common/json.h"
#include "common/mem.h"
#include "common/metric.h"
#include "common/registry.h"
#include "common/schema.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

enum { REFRESH_MS = 1000, TOOL_MAX = 1 << 20 };

static const char *const supports[] = {"forbidden", "optional", "required"};

struct catalog {
    struct store *store;
    struct event *timer;
    uint64_t grace_ms;
    catalog_fn *on_change;
    void *arg;
    struct tool *tools;
    size_t n;
    struct offers *offers;
    char mark[REGISTRY_MARK_LEN + 1]; /* of what was last read; "": nothing yet */
    bool loaded;
    bool reading;
    bool again; /* asked to refresh while reading */
};

static void tool_fini(struct tool *t)
{
    free(t->name);
    free(t->listed);
    free(t->plain);
    free(t->immediate);
    free(t->needs);
    free(t->input_why);
    schema_free(t->input);
}

static void tools_free(struct tool *tools, size_t n)
{
    for (size_t i = 0; i < n; i++)
        tool_fini(&tools[i]);
    free(tools);
}

static uint64_t whole(struct span policy, const char *name, uint64_t otherwise)
{
    int64_t v;

    return json_int(json_get(policy, name), &v) && v >= 0 ? (uint64_t)v : otherwise;
}

static enum task_support support_of(struct span policy)
{
    struct span value = json_get(policy, "taskSupport");

    for (size_t i = 0; i < sizeof(supports) / sizeof(supports[0]); i++)
        if (json_is(value, supports[i]))
            return (enum task_support)i;
    return SUPPORT_OPTIONAL;
}

static enum task_priority priority_of(struct span policy)
{
    char name[16];
    enum task_priority p = TASK_NORMAL;

    if (json_string(json_get(policy, "priority"), name, sizeof(name)) > 0)
        (void)task_priority_of(name, &p);
    return p;
}

/* definition without its closing brace, then "execution". */
static char *with_execution(struct span definition, enum task_support support)
{
    struct buf b;

    buf_init(&b, TOOL_MAX);
    buf_add(&b, definition.p, definition.n - 1);
    buf_addf(&b, ",\"execution\":{\"taskSupport\":\"%s\"}}", supports[support]);
    return buf_take(&b);
}

/* From the definition; or from what was made of the same one before. */
static void take_schema(struct tool *t, struct tool *before)
{
    struct buf why;

    if (before != NULL && strcmp(before->plain, t->plain) == 0) {
        t->input = before->input;
        t->input_why = before->input_why;
        before->input = NULL;
        before->input_why = NULL;
        return;
    }
    buf_init(&why, 4096);
    t->input = schema_new(json_get(span_of(t->plain), "inputSchema"), &why);
    if (t->input == NULL) {
        t->input_why = buf_take(&why);
        LOG(TOOL_SCHEMA, S("tool", t->name), S("why", t->input_why));
    }
    buf_fini(&why);
}

static bool tool_init(struct tool *t, const struct registry_tool *r)
{
    struct span immediate;
    struct span needs;

    /* What other processes wrote is checked like anything from outside. */
    if (json_check(r->definition, NULL, NULL) != ERR_OK ||
        json_check(r->policy, NULL, NULL) != ERR_OK || json_type(r->definition) != JSON_OBJECT ||
        json_type(r->policy) != JSON_OBJECT ||
        json_type(json_get(r->definition, "inputSchema")) != JSON_OBJECT ||
        r->definition.n > TOOL_MAX / 2 || r->definition.p[r->definition.n - 1] != '}')
        return false;
    *t = (struct tool){
        .name = mem_dup(r->name.p, r->name.n),
        .plain = mem_dup(r->definition.p, r->definition.n),
        .support = support_of(r->policy),
        .priority = priority_of(r->policy),
        .ttl_ms = whole(r->policy, "ttl", 0),
        .poll_ms = whole(r->policy, "pollInterval", 0),
        .promote_ms = whole(r->policy, "promoteAfter", 0),
        .attempts = whole(r->policy, "attempts", 3),
        .conflict = r->conflict,
    };
    needs = json_get(r->policy, "requires");
    if (json_type(needs) == JSON_OBJECT)
        t->needs = mem_dup(needs.p, needs.n);
    immediate = json_get(r->policy, "immediateResponse");
    if (json_type(immediate) == JSON_STRING)
        t->immediate = mem_dup(immediate.p, immediate.n);
    t->listed = with_execution(r->definition, t->support);
    return true;
}

static bool same(const struct catalog *c, const struct tool *tools, size_t n)
{
    if (n != c->n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (strcmp(c->tools[i].listed, tools[i].listed) != 0)
            return false;
    return true;
}

static struct tool *find(const struct catalog *c, struct span name);

static void log_conflicts(const struct catalog *c, const struct tool *tools, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct tool *old = catalog_find(c, span_of(tools[i].name));

        if (tools[i].conflict && (old == NULL || !old->conflict))
            LOG(TOOL_CONFLICT, S("tool", tools[i].name));
    }
}

static void log_offer_conflicts(const struct offers *old, const struct offers *now)
{
    for (size_t i = 0; i < offers_servers(now); i++) {
        const struct offer *of = offers_server(now, i);
        bool known = false;

        for (size_t j = 0; j < offers_servers(old); j++)
            known = known || (offers_server(old, j)->conflict &&
                              strcmp(offers_server(old, j)->server, of->server) == 0);
        if (of->conflict && !known)
            LOG(TOOL_CONFLICT, S("tool", of->job));
    }
}

/* Takes over what wrapped servers offer; what has changed by it. */
static unsigned take_offers(struct catalog *c, const struct registry_tool *found, size_t count)
{
    struct offers *now = offers_new();
    unsigned changed = 0;

    for (size_t i = 0; i < count; i++)
        if (found[i].name.n != 0 && found[i].name.p[0] == '@')
            offers_add(now, &found[i]);
    offers_sort(now);
    log_offer_conflicts(c->offers, now);
    if (!offers_same(c->offers, now, OFFER_PROMPT))
        changed |= CATALOG_PROMPTS;
    if (!offers_same(c->offers, now, OFFER_RESOURCE) ||
        !offers_same(c->offers, now, OFFER_TEMPLATE))
        changed |= CATALOG_RESOURCES;
    offers_free(c->offers);
    c->offers = now;
    return changed;
}

static unsigned take_tools(struct catalog *c, const struct registry_tool *found, size_t count)
{
    struct tool *tools = mem_zalloc((count + 1) * sizeof(tools[0]));
    size_t n = 0;
    bool changed;

    for (size_t i = 0; i < count; i++)
        if (found[i].name.n != 0 && found[i].name.p[0] != '@' && tool_init(&tools[n], &found[i]))
            n++;
    for (size_t i = 0; i < n; i++)
        take_schema(&tools[i], find(c, span_of(tools[i].name)));
    log_conflicts(c, tools, n);
    changed = !same(c, tools, n);
    tools_free(c->tools, c->n);
    c->tools = tools;
    c->n = n;
    metric_set(METRIC_TOOLS, NULL, (int64_t)n);
    return changed ? CATALOG_TOOLS : 0;
}

static void count_conflicts(const struct catalog *c)
{
    int64_t n = 0;

    for (size_t i = 0; i < c->n; i++)
        n += c->tools[i].conflict;
    for (size_t i = 0; i < offers_servers(c->offers); i++)
        n += offers_server(c->offers, i)->conflict;
    metric_set(METRIC_TOOLS_IN_CONFLICT, NULL, n);
}

static void on_read(void *arg, enum err e, const struct registry_tool *found, size_t count,
                    struct span mark)
{
    struct catalog *c = arg;
    unsigned changed;

    c->reading = false;
    if (c->again) {
        c->again = false;
        catalog_refresh(c);
    }
    if (e != ERR_OK)
        return; /* ERR_EXISTS: it is as it was */
    changed = take_tools(c, found, count);
    changed |= take_offers(c, found, count);
    count_conflicts(c);
    memcpy(c->mark, mark.p, mark.n < REGISTRY_MARK_LEN ? mark.n : REGISTRY_MARK_LEN);
    c->loaded = true;
    if (changed != 0)
        c->on_change(c->arg, changed);
}

void catalog_refresh(struct catalog *c)
{
    if (!store_is_ready(c->store))
        return;
    if (c->reading) {
        c->again = true;
        return;
    }
    c->reading = true;
    registry_read(c->store, c->grace_ms, span_of(c->mark), on_read, c);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct catalog *c = arg;
    struct timeval t = clock_timeval(clock_jitter(REFRESH_MS, 20));

    (void)fd;
    (void)what;
    catalog_refresh(c);
    (void)evtimer_add(c->timer, &t);
}

struct catalog *catalog_new(struct event_base *base, struct store *store, uint64_t grace_ms,
                            catalog_fn *on_change, void *arg)
{
    struct catalog *c = mem_zalloc(sizeof(*c));

    c->store = store;
    c->grace_ms = grace_ms;
    c->on_change = on_change;
    c->arg = arg;
    c->offers = offers_new();
    c->timer = evtimer_new(base, on_timer, c);
    on_timer(-1, 0, c);
    return c;
}

void catalog_free(struct catalog *c)
{
    event_free(c->timer);
    tools_free(c->tools, c->n);
    offers_free(c->offers);
    free(c);
}

bool catalog_is_loaded(const struct catalog *c)
{
    return c->loaded;
}

size_t catalog_count(const struct catalog *c)
{
    return c->n;
}

const struct tool *catalog_at(const struct catalog *c, size_t i)
{
    return &c->tools[i];
}

static int order(struct span a, const char *b)
{
    size_t n = strlen(b);
    size_t common = a.n < n ? a.n : n;
    int d = a.p != NULL && common != 0 ? memcmp(a.p, b, common) : 0;

    if (d != 0)
        return d;
    return a.n < n ? -1 : a.n > n;
}

size_t catalog_after(const struct catalog *c, struct span name)
{
    size_t lo = 0;
    size_t hi = c->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (order(name, c->tools[mid].name) < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

static struct tool *find(const struct catalog *c, struct span name)
{
    size_t after = catalog_after(c, name);

    if (after == 0 || order(name, c->tools[after - 1].name) != 0)
        return NULL;
    return &c->tools[after - 1];
}

const struct tool *catalog_find(const struct catalog *c, struct span name)
{
    return find(c, name);
}

const struct offers *catalog_offers(const struct catalog *c)
{
    return c->offers;
}
