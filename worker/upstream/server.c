#include "common/clock.h"
#include "common/event.h"
#include "common/json.h"
#include "common/mem.h"
#include "worker/upstream/server_inside.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

enum { REST_MS = 500, REST_MAX_MS = 60 * 1000, STEADY_MS = 60 * 1000, IDLE_MAX = 2 };

static const struct sm_row rows[] = {
    [STARTING] = {"starting", SM_TO(LISTING) | SM_TO(RESTING) | SM_TO(CLOSING)},
    [LISTING] = {"listing", SM_TO(UP) | SM_TO(RESTING) | SM_TO(STARTING) | SM_TO(CLOSING)},
    [UP] = {"up", SM_TO(RESTING) | SM_TO(STARTING) | SM_TO(CLOSING)},
    [RESTING] = {"resting", SM_TO(STARTING) | SM_TO(CLOSING)},
    [CLOSING] = {"closing", 0},
};

static const struct line_sink line_sink;

/* --- its calls --- */

static bool has_asked(const struct server *s, const char *tool)
{
    for (size_t i = 0; tool != NULL && i < s->asked.n; i++)
        if (strcmp(s->asked.items[i], tool) == 0)
            return true;
    return false;
}

static void pump(struct server *s)
{
    while (s->main != NULL && line_is_open(s->main) && !list_empty(&s->queue))
        line_send(s->main, LIST_OF(s->queue.next, struct call, node));
}

/* Not from inside what has taken them on. */
static void give_up(struct server *s, const char *why)
{
    while (!list_empty(&s->queue)) {
        struct call *c = LIST_OF(s->queue.next, struct call, node);

        list_del(&c->node);
        c->conf.sink->done(c->conf.arg, &(struct peer_reply){.outcome = PEER_UNSENT, .why = why});
    }
}

static bool is_idle(const struct line *l)
{
    return l->is_own && line_is_open(l) && l->calls_n == 0 && list_empty(&l->pending);
}

static void call_alone(struct server *s, struct call *c, bool isolate)
{
    struct line *l = NULL;

    LIST_EACH(&s->lines, it)
    {
        struct line *other = LIST_OF(it, struct line, node);

        if (!isolate && is_idle(other))
            l = other;
    }
    if (l != NULL) {
        line_send(l, c);
        return;
    }
    l = line_open(&s->world, s->conf, isolate ? c->conf.job : NULL, &line_sink, s);
    l->is_own = true;
    l->is_once = isolate;
    list_add_tail(&s->lines, &l->node);
    list_add_tail(&l->pending, &c->node);
}

void server_call(struct server *s, struct call *c, bool isolate, bool alone)
{
    bool asks = s->conf->url == NULL && (alone || has_asked(s, c->conf.tool));

    if (s->sm.state != CLOSING && (isolate || asks)) {
        call_alone(s, c, isolate);
        return;
    }
    list_add_tail(&s->queue, &c->node);
    pump(s);
}

/* --- lines --- */

static void start(struct server *s)
{
    sm_move(&s->sm, STARTING);
    s->main = line_open(&s->world, s->conf, NULL, &line_sink, s);
}

static void on_rest(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    start(arg);
}

static void on_patience(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;
    struct tools old = s->offers;

    (void)fd;
    (void)what;
    s->offers = (struct tools){0};
    if (old.n > 0)
        s->sink->changed(s->arg, s);
    tools_fini(&old);
    give_up(s, "the MCP server is away");
}

static void on_up(void *arg, struct line *l)
{
    struct server *s = arg;

    if (l == s->main) {
        sm_move(&s->sm, LISTING);
        server_fetch_all(s);
        pump(s);
        return;
    }
    if (list_empty(&l->pending))
        line_close(l);
    else
        line_send(l, LIST_OF(l->pending.next, struct call, node));
}

static void rest(struct server *s)
{
    struct timeval in;
    struct timeval patience = clock_timeval(s->conf->start_ms);

    if (s->up_ms != 0 && clock_mono_ms() - s->up_ms >= STEADY_MS)
        s->rest_ms = 0;
    s->rest_ms = s->rest_ms == 0 ? REST_MS : s->rest_ms * 2;
    s->rest_ms = s->rest_ms < REST_MAX_MS ? s->rest_ms : REST_MAX_MS;
    s->up_ms = 0;
    in = clock_timeval(clock_jitter(s->rest_ms, 20));
    sm_move(&s->sm, RESTING);
    (void)event_add(s->rest, &in);
    if (!event_pending(s->patience, EV_TIMEOUT, NULL))
        (void)event_add(s->patience, &patience);
}

static void close_soon(struct server *s)
{
    struct timeval now = {0};

    (void)event_add(s->closed, &now);
}

static void fail_pending(struct line *l, const char *why)
{
    while (!list_empty(&l->pending)) {
        struct call *c = LIST_OF(l->pending.next, struct call, node);

        list_del(&c->node);
        c->conf.sink->done(c->conf.arg, &(struct peer_reply){.outcome = PEER_UNSENT, .why = why});
    }
}

static void on_gone(void *arg, struct line *l, const char *why)
{
    struct server *s = arg;
    bool is_main = l == s->main;

    if (!l->is_closing)
        LOG(SERVER_GONE, S("server", s->conf->name), S("why", why));
    fail_pending(l, why);
    line_free(l);
    if (is_main) {
        s->main = NULL;
        watched_down(s->watched);
        if (s->sm.state != CLOSING)
            rest(s);
    }
    if (s->sm.state == CLOSING)
        close_soon(s);
}

static void on_freed(void *arg, struct line *l)
{
    struct server *s = arg;
    unsigned idle = 0;

    LIST_EACH(&s->lines, it)
    idle += is_idle(LIST_OF(it, struct line, node)) ? 1 : 0;
    if (l->is_own && l->calls_n == 0 && (l->is_once || idle > IDLE_MAX))
        line_close(l);
    pump(s);
}

static void on_learned(void *arg, struct line *l, const char *tool)
{
    struct server *s = arg;

    (void)l;
    if (has_asked(s, tool))
        return;
    s->asked.items = mem_grow(s->asked.items, (s->asked.n + 1) * sizeof(*s->asked.items));
    s->asked.items[s->asked.n++] = mem_strdup(tool);
}

/* It ends with its calls; the next ones have another. */
static void on_spoilt(void *arg, struct line *l)
{
    struct server *s = arg;

    if (l != s->main || s->sm.state == CLOSING)
        return;
    list_add_tail(&s->lines, &l->node);
    watched_down(s->watched);
    start(s);
}

static void on_noticed(void *arg, const struct line *l, const char *method, struct span params)
{
    struct server *s = arg;
    char *uri;

    if (l != s->main || s->sm.state == STARTING)
        return;
    if (strcmp(method, "notifications/tools/list_changed") == 0) {
        server_list_again(s, 1U << PAGES_TOOLS);
    } else if (strcmp(method, "notifications/prompts/list_changed") == 0) {
        server_list_again(s, 1U << PAGES_PROMPTS);
    } else if (strcmp(method, "notifications/resources/list_changed") == 0) {
        server_list_again(s, 1U << PAGES_RESOURCES | 1U << PAGES_TEMPLATES);
    } else if (strcmp(method, "notifications/resources/updated") == 0) {
        uri = tool_text(json_get(params, "uri"));
        if (uri != NULL && watched_has(s->watched, span_of(uri)))
            s->sink->updated(s->arg, s, span_of(uri));
        free(uri);
    }
}

static const struct line_sink line_sink = {.up = on_up,
                                           .freed = on_freed,
                                           .learned = on_learned,
                                           .spoilt = on_spoilt,
                                           .noticed = on_noticed,
                                           .gone = on_gone};

/* --- its life --- */

static void on_closed(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;

    (void)fd;
    (void)what;
    give_up(s, "the MCP server is not served any more");
    if (s->main == NULL && list_empty(&s->lines))
        s->sink->closed(s->arg, s);
}

void server_close(struct server *s)
{
    if (s->sm.state == CLOSING)
        return;
    sm_move(&s->sm, CLOSING);
    (void)event_del(s->rest);
    (void)event_del(s->patience);
    if (s->main != NULL)
        line_close(s->main);
    LIST_EACH(&s->lines, it)
    line_close(LIST_OF(it, struct line, node));
    close_soon(s);
}

const struct tool_server *server_conf(const struct server *s)
{
    return s->conf;
}

const struct tools *server_offers(const struct server *s)
{
    return &s->offers;
}

void server_watch(struct server *s, const struct span *uris, size_t count)
{
    watched_set(s->watched, uris, count);
}

static struct event *timer(const struct server *s, event_callback_fn fn, void *arg)
{
    struct event *ev = evtimer_new(s->world.base, fn, arg);

    if (ev == NULL)
        abort();
    return ev;
}

struct server *server_open(const struct peer_world *world, struct tool_server *conf,
                           const struct server_sink *sink, void *arg)
{
    struct server *s = mem_zalloc(sizeof(*s));

    s->world = *world;
    s->conf = tool_server_hold(conf);
    s->sink = sink;
    s->arg = arg;
    sm_init(&s->sm, "mcp server", rows, RESTING);
    list_init(&s->lines);
    list_init(&s->queue);
    s->rest = timer(s, on_rest, s);
    s->patience = timer(s, on_patience, s);
    s->closed = timer(s, on_closed, s);
    s->relist = timer(s, server_on_relist, s);
    s->watched = watched_new();
    start(s);
    return s;
}

void server_free(struct server *s)
{
    if (s->main != NULL)
        line_free(s->main);
    LIST_EACH(&s->lines, it)
    line_free(LIST_OF(it, struct line, node));
    LIST_EACH(&s->queue, it)
    list_del(it);
    event_free(s->rest);
    event_free(s->patience);
    event_free(s->closed);
    event_free(s->relist);
    watched_free(s->watched);
    for (int k = 0; k < PAGES_KIND_COUNT; k++)
        free(s->items[k]);
    for (size_t i = 0; i < s->asked.n; i++)
        free(s->asked.items[i]);
    free(s->asked.items);
    tools_fini(&s->offers);
    tool_server_let_go(s->conf);
    free(s);
}
