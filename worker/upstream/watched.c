#include "worker/upstream/watched.h"

#include "common/json.h"
#include "common/mem.h"
#include "common/registry.h"

#include <stdlib.h>

enum { WATCHED_MAX = 10000, PARAMS_MAX = 1 << 20 };

struct watched {
    struct peer *peer; /* NULL: there is no connection, or the server has no subscriptions */
    char **uris;
    size_t n;
};

static void heard_nothing(void *arg, const struct peer_reply *r)
{
    (void)arg;
    (void)r;
}

static void tell(const struct watched *w, const char *method, struct span uri)
{
    struct buf params;

    if (w->peer == NULL)
        return;
    buf_init(&params, PARAMS_MAX);
    buf_adds(&params, "{\"uri\":");
    buf_add_json(&params, uri);
    buf_addc(&params, '}');
    if (buf_ok(&params))
        peer_request(w->peer, method, buf_span(&params), heard_nothing, NULL);
    buf_fini(&params);
}

static bool is_wanted(const char *uri, const struct span *uris, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (span_is(uris[i], uri))
            return true;
    return false;
}

static bool is_watched(const struct watched *w, struct span uri)
{
    for (size_t i = 0; i < w->n; i++)
        if (span_is(uri, w->uris[i]))
            return true;
    return false;
}

void watched_set(struct watched *w, const struct span *uris, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < w->n; i++) {
        if (is_wanted(w->uris[i], uris, count)) {
            w->uris[kept++] = w->uris[i];
            continue;
        }
        tell(w, "resources/unsubscribe", span_of(w->uris[i]));
        free(w->uris[i]);
    }
    w->n = kept;
    for (size_t i = 0; i < count && w->n < WATCHED_MAX; i++) {
        if (is_watched(w, uris[i]))
            continue;
        w->uris = mem_grow(w->uris, (w->n + 1) * sizeof(*w->uris));
        w->uris[w->n++] = mem_dup(uris[i].p, uris[i].n);
        tell(w, "resources/subscribe", uris[i]);
    }
}

bool watched_has(const struct watched *w, struct span uri)
{
    for (size_t i = 0; i < w->n; i++)
        if (registry_is_part(uri, span_of(w->uris[i])))
            return true;
    return false;
}

void watched_up(struct watched *w, struct peer *p)
{
    struct span can = json_get(peer_capabilities(p), "resources");
    bool subscribes = false;

    if (json_type(can) != JSON_OBJECT || !json_bool(json_get(can, "subscribe"), &subscribes) ||
        !subscribes)
        return;
    w->peer = p;
    for (size_t i = 0; i < w->n; i++)
        tell(w, "resources/subscribe", span_of(w->uris[i]));
}

void watched_down(struct watched *w)
{
    w->peer = NULL;
}

struct watched *watched_new(void)
{
    return mem_zalloc(sizeof(struct watched));
}

void watched_free(struct watched *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->uris[i]);
    free(w->uris);
    free(w);
}
