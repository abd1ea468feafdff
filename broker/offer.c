#include "broker/offer.h"

#include "broker/template.h"
#include "common/json.h"
#include "common/mem.h"

#include <stdlib.h>
#include <string.h>

enum { SERVERS_MAX = 256, DEFINITION_MAX = 8 << 20, KEY_MAX = 4096 };

struct offers {
    struct offer *servers[SERVERS_MAX];
    size_t n;
    struct {
        struct offer_item *v;
        size_t n;
        size_t room;
    } list[OFFER_KINDS];
};

static const struct {
    const char *list;
    const char *key;
} kinds[] = {
    [OFFER_RESOURCE] = {"resources", "uri"},
    [OFFER_TEMPLATE] = {"resourceTemplates", "uriTemplate"},
    [OFFER_PROMPT] = {"prompts", "name"},
};

struct offers *offers_new(void)
{
    return mem_zalloc(sizeof(struct offers));
}

static void offer_free(struct offer *of)
{
    free(of->server);
    free(of->job);
    free(of->prefix);
    free(of->definition);
    free(of);
}

void offers_free(struct offers *o)
{
    if (o == NULL)
        return;
    for (size_t k = 0; k < OFFER_KINDS; k++) {
        for (size_t i = 0; i < o->list[k].n; i++)
            free(o->list[k].v[i].key);
        free(o->list[k].v);
    }
    for (size_t i = 0; i < o->n; i++)
        offer_free(o->servers[i]);
    free(o);
}

/* --- reading --- */

static void add_item(struct offers *o, enum offer_kind kind, const struct offer *of,
                     struct span raw)
{
    char key[KEY_MAX + 1];
    long n = json_string(json_get(raw, kinds[kind].key), key, sizeof(key));

    if (n <= 0)
        return;
    if (o->list[kind].n == o->list[kind].room) {
        o->list[kind].room = o->list[kind].room * 2 + 16;
        o->list[kind].v =
            mem_grow(o->list[kind].v, o->list[kind].room * sizeof(o->list[kind].v[0]));
    }
    o->list[kind].v[o->list[kind].n++] =
        (struct offer_item){.key = mem_dup(key, (size_t)n), .raw = raw, .of = of};
}

static void add_items(struct offers *o, enum offer_kind kind, const struct offer *of)
{
    struct span list = json_get(span_of(of->definition), kinds[kind].list);
    struct span name;
    struct span value;
    size_t cursor = 0;

    if (json_type(list) != JSON_ARRAY)
        return;
    while (json_next(list, &cursor, &name, &value))
        if (json_type(value) == JSON_OBJECT)
            add_item(o, kind, of, value);
}

static char *text_of(struct span value)
{
    char text[256];
    long n = json_string(value, text, sizeof(text));

    return mem_dup(text, n > 0 ? (size_t)n : 0);
}

static struct offer *read_offer(const struct registry_tool *r)
{
    struct span caps = json_get(r->policy, "capabilities");
    struct span resources = json_get(caps, "resources");
    struct offer *of = mem_zalloc(sizeof(*of));
    int64_t attempts;

    of->job = mem_dup(r->name.p, r->name.n);
    of->server = mem_dup(r->name.p + 1, r->name.n - 1);
    of->prefix = text_of(json_get(r->policy, "prefix"));
    of->definition = mem_dup(r->definition.p, r->definition.n);
    of->attempts = 3;
    if (json_int(json_get(r->policy, "attempts"), &attempts) && attempts > 0)
        of->attempts = (uint64_t)attempts;
    of->resources = json_type(resources) == JSON_OBJECT;
    (void)json_bool(json_get(resources, "subscribe"), &of->subscribe);
    of->prompts = json_type(json_get(caps, "prompts")) == JSON_OBJECT;
    of->completions = json_type(json_get(caps, "completions")) == JSON_OBJECT;
    of->conflict = r->conflict;
    return of;
}

void offers_add(struct offers *o, const struct registry_tool *r)
{
    struct offer *of;

    if (o->n == SERVERS_MAX || r->name.n < 2 || r->definition.n > DEFINITION_MAX ||
        json_check_limits(r->definition, 0, 0, NULL, NULL) != ERR_OK ||
        json_check(r->policy, NULL, NULL) != ERR_OK || json_type(r->definition) != JSON_OBJECT ||
        json_type(r->policy) != JSON_OBJECT)
        return;
    of = read_offer(r);
    o->servers[o->n++] = of;
    if (of->resources) {
        add_items(o, OFFER_RESOURCE, of);
        add_items(o, OFFER_TEMPLATE, of);
    }
    if (of->prompts)
        add_items(o, OFFER_PROMPT, of);
}

static int by_server(const void *a, const void *b)
{
    const struct offer *const *x = a;
    const struct offer *const *y = b;

    return strcmp((*x)->server, (*y)->server);
}

static int by_key(const void *a, const void *b)
{
    const struct offer_item *x = a;
    const struct offer_item *y = b;
    int order = strcmp(x->key, y->key);

    if (order == 0)
        order = strcmp(x->of->server, y->of->server);
    return order != 0 ? order : (x->raw.p > y->raw.p) - (x->raw.p < y->raw.p);
}

void offers_sort(struct offers *o)
{
    if (o->n > 1)
        qsort(o->servers, o->n, sizeof(o->servers[0]), by_server);
    for (size_t k = 0; k < OFFER_KINDS; k++) {
        struct offer_item *v = o->list[k].v;
        size_t kept = 0;

        if (o->list[k].n == 0)
            continue;
        qsort(v, o->list[k].n, sizeof(v[0]), by_key);
        for (size_t i = 0; i < o->list[k].n; i++) {
            if (kept != 0 && strcmp(v[kept - 1].key, v[i].key) == 0)
                free(v[i].key);
            else
                v[kept++] = v[i];
        }
        o->list[k].n = kept;
    }
}

/* --- asking --- */

size_t offers_servers(const struct offers *o)
{
    return o->n;
}

const struct offer *offers_server(const struct offers *o, size_t i)
{
    return o->servers[i];
}

size_t offers_count(const struct offers *o, enum offer_kind kind)
{
    return o->list[kind].n;
}

const struct offer_item *offers_at(const struct offers *o, enum offer_kind kind, size_t i)
{
    return &o->list[kind].v[i];
}

static int order_of(struct span a, const char *b)
{
    size_t n = strlen(b);
    size_t common = a.n < n ? a.n : n;
    int d = common != 0 ? memcmp(a.p, b, common) : 0;

    return d != 0 ? d : (a.n > n) - (a.n < n);
}

size_t offers_after(const struct offers *o, enum offer_kind kind, struct span key)
{
    size_t lo = 0;
    size_t hi = o->list[kind].n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (order_of(key, o->list[kind].v[mid].key) < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

const struct offer_item *offers_find(const struct offers *o, enum offer_kind kind, struct span key)
{
    size_t after = offers_after(o, kind, key);

    if (after == 0 || order_of(key, o->list[kind].v[after - 1].key) != 0)
        return NULL;
    return &o->list[kind].v[after - 1];
}

static const struct offer *first(const struct offer *a, const struct offer *b)
{
    return a == NULL || strcmp(b->server, a->server) < 0 ? b : a;
}

static bool same_scheme(const char *key, struct span scheme)
{
    return strncmp(key, scheme.p, scheme.n) == 0;
}

static const struct offer *by_template(const struct offers *o, struct span uri)
{
    const struct offer *found = NULL;

    for (size_t i = 0; i < o->list[OFFER_TEMPLATE].n; i++) {
        const struct offer_item *t = &o->list[OFFER_TEMPLATE].v[i];

        if (template_fits(span_of(t->key), uri))
            found = first(found, t->of);
    }
    return found;
}

static const struct offer *by_scheme(const struct offers *o, struct span uri)
{
    const char *colon = memchr(uri.p, ':', uri.n);
    const struct offer *found = NULL;

    if (colon == NULL)
        return NULL;
    for (size_t k = OFFER_RESOURCE; k <= OFFER_TEMPLATE; k++)
        for (size_t i = 0; i < o->list[k].n; i++)
            if (same_scheme(o->list[k].v[i].key, (struct span){uri.p, (size_t)(colon - uri.p) + 1}))
                found = first(found, o->list[k].v[i].of);
    return found;
}

const struct offer *offers_route(const struct offers *o, struct span uri)
{
    const struct offer_item *listed = offers_find(o, OFFER_RESOURCE, uri);
    const struct offer *found;

    if (listed != NULL)
        return listed->of;
    found = by_template(o, uri);
    return found != NULL ? found : by_scheme(o, uri);
}

bool offers_same(const struct offers *a, const struct offers *b, enum offer_kind kind)
{
    if (a->list[kind].n != b->list[kind].n)
        return false;
    for (size_t i = 0; i < a->list[kind].n; i++)
        if (!span_equal(a->list[kind].v[i].raw, b->list[kind].v[i].raw))
            return false;
    return true;
}
