/* resources/subscribe, resources/unsubscribe: what a session watches is kept with it in Redis; the
 * changes come by its GET stream, at whichever broker that is.
 *
 *     subscribe -> kept with the session -> wanted of the server's worker -> {}
 *     unsubscribe -> {}          (its worker stops a while later, when nobody asks any more) */
#include "broker/l/session.h"
#include "broker/method.h"
#include "broker/method/forward.h"
#include "common/mem.h"
#include "common/registry.h"

#include <stdlib.h>

struct watch {
    struct req *q;
    char *server;
    char *uri;
};

static void watch_free(struct watch *w)
{
    free(w->server);
    free(w->uri);
    free(w);
}

static bool is_done(struct req *q, enum err e)
{
    if (e == ERR_LIMIT)
        req_fail_why(q, e, "too many resources are watched already");
    else if (e == ERR_NOT_FOUND)
        req_fail_why(q, ERR_INVALID_REQUEST, "Session not found: initialize again");
    else if (e != ERR_OK)
        req_fail(q, e);
    return e == ERR_OK;
}

static void on_undone(void *arg, enum err e)
{
    (void)arg;
    (void)e; /* else it goes with the session */
}

/* What is refused is not kept. */
static void on_wanted(void *arg, enum err e)
{
    struct watch *w = arg;
    struct req *q = w->q;

    if (e == ERR_LIMIT)
        session_unwatch(q->b->store, span_of(q->session), span_of(w->uri), on_undone, NULL);
    if (req_back(q) && is_done(q, e))
        req_result(q, SPAN("{}"));
    watch_free(w);
}

static void on_watched(void *arg, enum err e)
{
    struct watch *w = arg;
    struct req *q = w->q;
    struct span uri = span_of(w->uri);

    if (!req_back(q) || !is_done(q, e)) {
        watch_free(w);
        return;
    }
    req_step(q);
    registry_want(q->b->store, span_of(q->who.owner), span_of(w->server), &uri, 1, on_wanted, w);
}

void method_subscribe(struct req *q)
{
    const struct offer *of;
    struct watch *w;
    char uri[FORWARD_URI_MAX + 1];

    if (!forward_uri(q, uri))
        return;
    of = offers_route(catalog_offers(q->b->catalog), span_of(uri));
    if (of == NULL) {
        forward_no_resource(q);
        return;
    }
    if (!of->subscribe || strlen(uri) > REGISTRY_URI_MAX) {
        req_fail_why(q, ERR_INVALID_PARAMS,
                     of->subscribe ? "params.uri is longer than the 2048 bytes that can be watched"
                                   : "the server of this resource takes no subscriptions");
        return;
    }
    w = mem_zalloc(sizeof(*w));
    *w = (struct watch){.q = q, .server = mem_strdup(of->server), .uri = mem_strdup(uri)};
    req_step(q);
    session_watch(q->b->store, span_of(q->session), span_of(q->who.owner), span_of(w->server),
                  span_of(w->uri), SESSION_TTL_MS, on_watched, w);
}

static void on_dropped(void *arg, enum err e)
{
    struct req *q = arg;

    /* What was not watched is not watched now either. */
    if (req_back(q) && is_done(q, e == ERR_NOT_FOUND ? ERR_OK : e))
        req_result(q, SPAN("{}"));
}

void method_unsubscribe(struct req *q)
{
    char uri[FORWARD_URI_MAX + 1];

    if (!forward_uri(q, uri))
        return;
    req_step(q);
    session_unwatch(q->b->store, span_of(q->session), span_of(uri), on_dropped, q);
}
