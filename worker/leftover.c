#include "worker/leftover.h"

#include "common/clock.h"
#include "common/id.h"
#include "common/list.h"
#include "common/mem.h"
#include "common/store_hook.h"

#include <event2/event.h>
#include <stdlib.h>

enum { LOOK_MS = 3000, GRACE_MS = 10000, DONE_MAX = 64 };

/* One job elsewhere, being stopped. */
struct leftover {
    struct run_job job; /* first: the runner knows it by that */
    struct list node;
    struct leftovers *all;
    struct tool *tool; /* held */
    unsigned partition;
    char *line; /* as Redis has it */
    char id[ID_LEN + 1];
    bool is_over;
    bool is_told; /* that it is to be forgotten */
};

struct leftovers {
    struct event_base *base;
    struct store *store;
    const struct roster *roster;
    struct event *timer;
    struct runner *runner; /* NULL: nothing was ever left */
    struct list asked;
    struct list done; /* not yet forgotten by Redis */
};

/* A look under way. */
struct look {
    struct leftovers *l;
    unsigned partition;
};

static void leftover_free(struct leftover *o)
{
    list_del(&o->node);
    tool_let_go(o->tool);
    free(o->line);
    free(o);
}

/* --- the runner's --- */

static void on_ended(struct run_job *job, const struct run_end *end)
{
    struct leftover *o = (struct leftover *)(void *)job;

    free(end->result);
    o->is_over = true;
    list_del(&o->node);
    list_add_tail(&o->all->done, &o->node);
}

static void on_said(struct run_job *job, struct span message, struct span progress)
{
    (void)job;
    (void)message;
    (void)progress;
}

static void on_keep(struct run_job *job, struct span handle)
{
    (void)job;
    (void)handle;
}

static void on_listen(struct run_job *job)
{
    (void)job;
}

static const struct run_sink sink = {
    .ended = on_ended, .said = on_said, .keep = on_keep, .listen = on_listen};

/* --- looking --- */

static bool is_known(struct list *among, unsigned partition, struct span line)
{
    LIST_EACH(among, it)
    {
        const struct leftover *o = LIST_OF(it, struct leftover, node);

        if (o->partition == partition && span_is(line, o->line))
            return true;
    }
    return false;
}

/* Begins where another attempt would, and is stopped at once. */
static void stop(struct leftovers *l, unsigned partition, const struct store_left *left)
{
    struct tool *tool = tools_find(&l->roster->tools, left->tool);
    struct leftover *o;

    if (tool == NULL || tool->http == NULL || left->line.n <= ID_LEN + 1 ||
        is_known(&l->asked, partition, left->line) || is_known(&l->done, partition, left->line))
        return;
    o = mem_zalloc(sizeof(*o));
    o->all = l;
    o->tool = tool_hold(tool);
    o->partition = partition;
    o->line = mem_dup(left->line.p, left->line.n);
    memcpy(o->id, o->line, ID_LEN);
    o->job = (struct run_job){.tool = tool,
                              .id = o->id,
                              .arguments = SPAN("{}"),
                              .principal = "",
                              .trace = "",
                              .handle = span_of(o->line + ID_LEN + 1),
                              .stop = RUN_UNWANTED};
    list_add_tail(&l->asked, &o->node);
    if (l->runner == NULL)
        l->runner = http_runner_new(l->base, &sink, &(struct http_conf){0});
    l->runner->start(l->runner, &o->job);
    if (!o->is_over)
        l->runner->stop(l->runner, &o->job, GRACE_MS);
}

static void forget(struct leftovers *l, unsigned partition)
{
    LIST_EACH(&l->done, it)
    {
        struct leftover *o = LIST_OF(it, struct leftover, node);

        if (o->is_told && o->partition == partition)
            leftover_free(o);
    }
}

static void on_left(void *arg, enum err e, const struct store_left *left, size_t count)
{
    struct look *look = arg;

    for (size_t i = 0; i < count; i++)
        stop(look->l, look->partition, &left[i]);
    if (e == ERR_OK)
        forget(look->l, look->partition);
    free(look);
}

static size_t tools_of(const struct leftovers *l, struct span *out)
{
    const struct tools *tools = &l->roster->tools;
    size_t n = 0;

    for (size_t i = 0; i < tools->n && n < TOOLS_MAX; i++)
        if (tools->v[i]->http != NULL)
            out[n++] = span_of(tools->v[i]->name);
    return n;
}

static size_t done_of(struct leftovers *l, unsigned partition, struct store_left *out)
{
    size_t n = 0;

    LIST_EACH(&l->done, it)
    {
        struct leftover *o = LIST_OF(it, struct leftover, node);

        if (o->partition != partition || n == DONE_MAX)
            continue;
        o->is_told = true;
        out[n++] = (struct store_left){span_of(o->tool->name), span_of(o->line)};
    }
    return n;
}

static void look_at(struct leftovers *l, unsigned partition, const struct span *tools, size_t n)
{
    struct store_left done[DONE_MAX];
    size_t count = done_of(l, partition, done);
    struct look *look = mem_zalloc(sizeof(*look));

    look->l = l;
    look->partition = partition;
    store_abandoned(l->store, partition, tools, n, done, count, on_left, look);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct leftovers *l = arg;
    struct span tools[TOOLS_MAX];
    size_t n = tools_of(l, tools);

    (void)fd;
    (void)what;
    if (n == 0 || !store_is_ready(l->store))
        return;
    for (unsigned p = 0; p < store_partitions(l->store); p++)
        look_at(l, p, tools, n);
}

/* --- life --- */

struct leftovers *leftovers_new(struct event_base *base, struct store *store,
                                const struct roster *roster)
{
    struct leftovers *l = mem_zalloc(sizeof(*l));
    struct timeval every = clock_timeval(LOOK_MS);

    l->base = base;
    l->store = store;
    l->roster = roster;
    list_init(&l->asked);
    list_init(&l->done);
    l->timer = event_new(base, -1, EV_PERSIST, on_timer, l);
    if (l->timer == NULL || event_add(l->timer, &every) != 0)
        abort();
    return l;
}

void leftovers_free(struct leftovers *l)
{
    if (l->runner != NULL)
        l->runner->free(l->runner);
    list_splice(&l->done, &l->asked);
    LIST_EACH(&l->done, it)
    leftover_free(LIST_OF(it, struct leftover, node));
    event_free(l->timer);
    free(l);
}
