#include "broker/wait.h"

#include "common/clock.h"
#include "common/mem.h"
#include "common/metric.h"

#include <event2/event.h>
#include <stdlib.h>

/* A wheel of short lists keeps thousands of waiters without a timer each. */
enum {
    SLOT_MS = 250,
    SLOTS = 512,
    LOOK_AGAIN_MS = 60000, /* the backstop; well inside the wheel's 128 s */
    RETRY_MS = 2000, /* Redis is away */
    CROWDED_MS = 2000, /* more wait for one task than are told */
    READS_MAX = 256, /* in flight */
};

struct waits {
    struct store *store;
    struct event *timer;
    struct map by_id;
    struct list slots[SLOTS];
    struct list reread; /* waiters to be read again, oldest first */
    uint64_t tick; /* slots passed since the clock began */
    unsigned reading;
};

/* One read under way; it names its task, not its waiters, who may leave meanwhile. */
struct reading {
    struct waits *w;
    char id[ID_LEN + 1];
};

static void pump(struct waits *w);

static uint64_t slot_now(void)
{
    return clock_mono_ms() / SLOT_MS;
}

static void arm(struct waits *w)
{
    struct timeval t = clock_timeval(SLOT_MS);

    (void)evtimer_add(w->timer, &t);
}

/* The timer rests while nobody waits: only then does the wheel begin anew, at the moment that the
 * slot is counted from, so that none is passed over. */
static void schedule(struct waits *w, struct waiter *one, uint64_t ms)
{
    uint64_t now = slot_now();

    if (!evtimer_pending(w->timer, NULL)) {
        w->tick = now;
        arm(w);
    }
    list_del(&one->due);
    list_add_tail(&w->slots[(now + 1 + ms / SLOT_MS) % SLOTS], &one->due);
}

/* Until the task should have expired, or the backstop. */
static uint64_t patience(const struct waiter *one)
{
    uint64_t now = clock_wall_ms();
    uint64_t ms = clock_jitter(LOOK_AGAIN_MS, 20);

    if (one->expires_ms > now && one->expires_ms - now < ms)
        return one->expires_ms - now + 1;
    return one->expires_ms <= now ? 1000 : ms;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct waits *w = arg;
    uint64_t now = slot_now();

    (void)fd;
    (void)what;
    if (now - w->tick > SLOTS)
        w->tick = now - SLOTS;
    while (w->tick < now)
        list_splice(&w->reread, &w->slots[++w->tick % SLOTS]);
    if (w->by_id.n != 0)
        arm(w);
    pump(w);
}

struct waits *waits_new(struct event_base *base, struct store *store)
{
    struct waits *w = mem_zalloc(sizeof(*w));

    w->store = store;
    w->timer = evtimer_new(base, on_timer, w);
    map_init(&w->by_id);
    list_init(&w->reread);
    for (size_t i = 0; i < SLOTS; i++)
        list_init(&w->slots[i]);
    return w;
}

void waits_free(struct waits *w)
{
    event_free(w->timer);
    map_fini(&w->by_id);
    free(w);
}

size_t waits_count(const struct waits *w)
{
    return w->by_id.n;
}

static void put_id(char *out, struct span id, size_t max)
{
    size_t n = id.n < max ? id.n : max;

    memcpy(out, id.p, n);
    out[n] = '\0';
}

void wait_add(struct waits *w, struct waiter *one, struct span id, struct span owner)
{
    *one = (struct waiter){.in = true};
    put_id(one->id, id, ID_LEN);
    put_id(one->owner, owner, ID_OWNER_LEN);
    list_init(&one->due);
    map_add(&w->by_id, &one->node, span_of(one->id));
}

void wait_rekey(struct waits *w, struct waiter *one, struct span id)
{
    map_del(&w->by_id, &one->node);
    put_id(one->id, id, ID_LEN);
    one->early = true; /* its end may have been announced before we knew its name */
    map_add(&w->by_id, &one->node, span_of(one->id));
}

static void read_soon(struct waits *w, struct waiter *one)
{
    list_del(&one->due);
    list_add_tail(&w->reread, &one->due);
}

void wait_start(struct waits *w, struct waiter *one, uint64_t expires_ms, waiter_fn *fn, void *arg)
{
    one->fn = fn;
    one->arg = arg;
    one->expires_ms = expires_ms;
    one->started = true;
    if (!one->early) {
        schedule(w, one, patience(one));
        return;
    }
    read_soon(w, one);
    pump(w);
}

void wait_del(struct waits *w, struct waiter *one)
{
    if (!one->in)
        return;
    one->in = false;
    map_del(&w->by_id, &one->node);
    list_del(&one->due);
}

/* Tells every started waiter of a task. A callback may add or remove waiters, so the search
 * begins anew after each. */
static void tell(struct waits *w, const char *id, enum err e, const struct task *t)
{
    struct map_node *node = map_find(&w->by_id, span_of(id));

    while (node != NULL) {
        struct waiter *one = MAP_OF(node, struct waiter, node);

        if (!one->started) {
            one->early = true;
            node = map_find_next(node);
            continue;
        }
        wait_del(w, one);
        if (e == ERR_OK)
            metric_observe(METRIC_WAKEUP_SECONDS, NULL, store_since_us(w->store, t->updated_ms));
        one->fn(one->arg, e, t);
        node = map_find(&w->by_id, span_of(id));
        while (node != NULL && !MAP_OF(node, struct waiter, node)->started)
            node = map_find_next(node);
    }
}

static void reschedule(struct waits *w, const char *id, uint64_t expires_ms, uint64_t ms)
{
    for (struct map_node *node = map_find(&w->by_id, span_of(id)); node != NULL;
         node = map_find_next(node)) {
        struct waiter *one = MAP_OF(node, struct waiter, node);

        if (!one->started)
            continue;
        if (expires_ms != 0)
            one->expires_ms = expires_ms;
        schedule(w, one, ms != 0 ? ms : patience(one));
    }
}

/* on_input takes its waiter out, or leaves the table as it is. */
static void tell_input(struct waits *w, const char *id)
{
    struct map_node *node = map_find(&w->by_id, span_of(id));

    while (node != NULL) {
        struct waiter *one = MAP_OF(node, struct waiter, node);
        struct map_node *next = map_find_next(node);

        if (one->started && one->on_input != NULL)
            one->on_input(one->arg);
        else if (!one->started)
            one->early = true;
        node = next;
    }
}

static void on_read(void *arg, enum err e, const struct store_result *r)
{
    struct reading *reading = arg;
    struct waits *w = reading->w;

    w->reading--;
    if (e == ERR_NOT_FOUND || (e == ERR_OK && task_is_terminal(r->task.state)))
        tell(w, reading->id, e, &r->task);
    else if (e == ERR_OK) {
        reschedule(w, reading->id, r->task.expires_ms, 0);
        if (r->task.state == TASK_INPUT)
            tell_input(w, reading->id);
    } else
        reschedule(w, reading->id, 0, RETRY_MS);
    free(reading);
    pump(w);
}

static void read_one(struct waits *w, const struct waiter *one)
{
    struct reading *reading = mem_alloc(sizeof(*reading));
    struct store_get get = {.id = {reading->id, ID_LEN},
                            .owner = span_of(one->owner),
                            .wait = true,
                            .outcome = true,
                            .brief = true,
                            .hidden_too = true};

    reading->w = w;
    memcpy(reading->id, one->id, sizeof(reading->id));
    w->reading++;
    store_get(w->store, &get, on_read, reading);
}

static void pump(struct waits *w)
{
    while (w->reading < READS_MAX && !list_empty(&w->reread)) {
        struct waiter *one = LIST_OF(w->reread.next, struct waiter, due);

        list_del(&one->due);
        read_one(w, one);
    }
}

void waits_event(struct waits *w, const struct store_event *ev)
{
    char id[ID_LEN + 1];

    if (ev->task.id.n != ID_LEN)
        return;
    put_id(id, ev->task.id, ID_LEN);
    if (ev->task.state == TASK_INPUT)
        tell_input(w, id);
    if (!task_is_terminal(ev->task.state))
        return;
    if (!ev->outcome_omitted) {
        tell(w, id, ERR_OK, &ev->task);
        return;
    }
    for (struct map_node *node = map_find(&w->by_id, span_of(id)); node != NULL;
         node = map_find_next(node)) {
        struct waiter *one = MAP_OF(node, struct waiter, node);

        one->early = true;
        if (one->started)
            read_soon(w, one);
    }
    pump(w);
}

void waits_crowded(struct waits *w, struct span id)
{
    char text[ID_LEN + 1];

    put_id(text, id, ID_LEN);
    for (struct map_node *node = map_find(&w->by_id, id); node != NULL; node = map_find_next(node))
        MAP_OF(node, struct waiter, node)->early |= !MAP_OF(node, struct waiter, node)->started;
    reschedule(w, text, 0, clock_jitter(CROWDED_MS, 20));
}

static void mark(void *arg, struct map_node *node)
{
    struct waiter *one = MAP_OF(node, struct waiter, node);

    one->early = true;
    if (one->started)
        read_soon(arg, one);
}

void waits_gap(struct waits *w)
{
    map_each(&w->by_id, mark, w);
    pump(w);
}
