#include "common/clock.h"
#include "common/event.h"
#include "common/json.h"
#include "common/mem.h"
#include "worker/upstream/offer.h"
#include "worker/upstream/server_inside.h"

#include <event2/event.h>
#include <stdlib.h>

enum { LIST_EVERY_MS = 1000 };

static void offer(struct server *s)
{
    struct offer_from from = {.server = s->conf, .capabilities = peer_capabilities(s->main->peer)};
    struct tools old = s->offers;

    for (int k = 0; k < PAGES_KIND_COUNT; k++)
        from.items[k] = span_of(s->items[k]);
    s->offers = (struct tools){0};
    offer_make(&s->offers, &from);
    s->sink->changed(s->arg, s);
    tools_fini(&old);
}

/* --- reading them --- */

/* What changes all the time is not read all the time. */
static void look_again(struct server *s)
{
    uint64_t now = clock_mono_ms();
    uint64_t due = s->listed_ms + LIST_EVERY_MS;
    struct timeval in = clock_timeval(due > now ? due - now : 0);

    if (s->again != 0 && s->fetching == 0 && !event_pending(s->relist, EV_TIMEOUT, NULL))
        (void)event_add(s->relist, &in);
}

static void arrived(struct server *s)
{
    if (s->sm.state == LISTING) {
        sm_move(&s->sm, UP);
        s->up_ms = clock_mono_ms();
        (void)event_del(s->patience);
        LOG(SERVER_UP, S("server", s->conf->name), S("version", peer_version(s->main->peer)));
        watched_up(s->watched, s->main->peer);
    }
    offer(s);
    look_again(s);
}

static void on_pages(void *arg, const struct peer *p, enum pages_kind kind, struct span items,
                     const char *why)
{
    struct server *s = arg;

    if (s->main == NULL || s->main->peer != p)
        return; /* of a connection that has been replaced */
    s->fetching &= ~(1U << kind);
    if (items.p == NULL && why == NULL) {
        if (s->sm.state == LISTING)
            peer_close(s->main->peer, 0); /* to try all that again, later */
        if (s->sm.state == LISTING || !peer_is_up(p))
            return;
        s->again |= 1U << kind;
    } else {
        free(s->items[kind]);
        s->items[kind] = items.p != NULL ? mem_dup(items.p, items.n) : NULL;
    }
    if (why != NULL && kind != PAGES_TEMPLATES)
        LOG(SERVER_ODD, S("server", s->conf->name), S("why", why));
    if (s->fetching == 0)
        arrived(s);
}

static void fetch(struct server *s, enum pages_kind kind)
{
    s->again &= ~(1U << kind);
    s->fetching |= 1U << kind;
    s->listed_ms = clock_mono_ms();
    pages_fetch(s->main->peer, kind, on_pages, s);
}

void server_list_again(struct server *s, unsigned kinds)
{
    s->again |= kinds;
    look_again(s);
}

void server_on_relist(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;

    (void)fd;
    (void)what;
    if (s->sm.state != UP || s->fetching != 0)
        return; /* all are read, then; or those first that are on their way */
    for (int k = 0; k < PAGES_KIND_COUNT; k++)
        if ((s->again & (1U << k)) != 0)
            fetch(s, (enum pages_kind)k);
}

void server_fetch_all(struct server *s)
{
    static const char *const needs[] = {[PAGES_TOOLS] = "tools",
                                        [PAGES_RESOURCES] = "resources",
                                        [PAGES_TEMPLATES] = "resources",
                                        [PAGES_PROMPTS] = "prompts"};
    struct span can = peer_capabilities(s->main->peer);

    s->fetching = s->again = 0;
    for (int k = 0; k < PAGES_KIND_COUNT; k++) {
        free(s->items[k]);
        s->items[k] = NULL;
        if (json_type(json_get(can, needs[k])) == JSON_OBJECT)
            fetch(s, (enum pages_kind)k);
    }
    if (s->fetching == 0)
        arrived(s);
}
