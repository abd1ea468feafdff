#include "worker/announce.h"

#include "common/clock.h"
#include "common/event.h"
#include "common/mem.h"
#include "common/registry.h"

#include <event2/event.h>
#include <stdlib.h>
#include <unistd.h>

enum { EVERY_MS = 3000, HOST_MAX = 256, INFO_MAX = 1024 };

struct announce {
    struct store *store;
    struct slots *slots;
    const struct store_worker *self;
    struct registry_tool *list; /* into the tools */
    size_t count;
    bool *is_in_conflict; /* one a tool: logged */
    uint64_t since_ms; /* when the tools were read: of two definitions the newer one counts */
    struct event *timer;
    announce_wanted_fn *on_wanted; /* or NULL */
    void *arg;
    bool is_leaving;
};

static bool is_among(struct span name, const struct span *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (span_equal(names[i], name))
            return true;
    return false;
}

static void on_announced(void *arg, enum err e, const struct registry_announced *r)
{
    struct announce *a = arg;

    for (size_t i = 0; e == ERR_OK && i < a->count; i++) {
        bool now = is_among(a->list[i].name, r->conflicts, r->conflict_count);

        if (now && !a->is_in_conflict[i])
            LOG(TOOL_CONFLICT, S("tool", a->list[i].name.p));
        a->is_in_conflict[i] = now;
    }
    if (e == ERR_OK && a->on_wanted != NULL)
        a->on_wanted(a->arg, r->wanted, r->wanted_count);
}

void announce_on_wanted(struct announce *a, announce_wanted_fn *fn, void *arg)
{
    a->on_wanted = fn;
    a->arg = arg;
}

static void describe(const struct announce *a, struct buf *info)
{
    char host[HOST_MAX] = "";

    (void)gethostname(host, sizeof(host) - 1);
    buf_adds(info, "{\"host\":");
    buf_add_json(info, span_of(host));
    buf_addf(info, ",\"pid\":%ld,\"slots\":%u,\"busy\":%u,\"version\":\"" ERRAND_VERSION "\"}",
             (long)getpid(), slots_busy(a->slots) + slots_room(a->slots), slots_busy(a->slots));
}

static void announce(struct announce *a)
{
    struct registry_worker w = {
        .wid = a->self->wid, .pool = a->self->pool, .started_ms = a->since_ms};
    struct buf info;

    if (a->is_leaving || !store_is_ready(a->store))
        return;
    buf_init(&info, INFO_MAX);
    describe(a, &info);
    w.info = buf_span(&info);
    registry_announce(a->store, &w, a->list, a->count, on_announced, a);
    buf_fini(&info);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    announce(arg);
}

void announce_ready(struct announce *a)
{
    announce(a);
}

void announce_tools(struct announce *a, const struct tools *tools)
{
    free(a->list);
    free(a->is_in_conflict);
    a->count = tools->n;
    a->list = mem_zalloc((tools->n + 1) * sizeof(*a->list));
    a->is_in_conflict = mem_zalloc((tools->n + 1) * sizeof(*a->is_in_conflict));
    for (size_t i = 0; i < tools->n; i++)
        a->list[i] = (struct registry_tool){.name = span_of(tools->v[i]->name),
                                            .definition = span_of(tools->v[i]->definition),
                                            .policy = span_of(tools->v[i]->policy)};
    a->since_ms = clock_wall_ms();
    announce(a);
}

void announce_leave(struct announce *a)
{
    a->is_leaving = true;
    if (store_is_ready(a->store))
        registry_leave(a->store, a->self->wid);
}

struct announce *announce_new(struct event_base *base, struct store *store, struct slots *slots,
                              const struct store_worker *self, const struct tools *tools)
{
    struct announce *a = mem_zalloc(sizeof(*a));
    struct timeval every = clock_timeval(EVERY_MS);

    a->store = store;
    a->slots = slots;
    a->self = self;
    announce_tools(a, tools);
    a->timer = event_new(base, -1, EV_PERSIST, on_timer, a);
    if (a->timer == NULL || event_add(a->timer, &every) != 0)
        abort();
    return a;
}

void announce_free(struct announce *a)
{
    event_free(a->timer);
    free(a->list);
    free(a->is_in_conflict);
    free(a);
}
