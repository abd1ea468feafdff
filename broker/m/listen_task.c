/* The tasks that somebody listens to: each change of one is told with all that tasks/get would say.
 */
#include "broker/m/listen_inside.h"
#include "broker/m/render.h"
#include "common/clock.h"
#include "common/mem.h"

#include <event2/event.h>
#include <stdlib.h>

enum { TEXT_MAX = 256 << 10, CROWDED_MS = 2000 };

static void tell_task(struct listener *one, const struct task *t,
                      const struct store_question *questions, size_t count)
{
    struct buf members;

    buf_init(&members, t->outcome.n + m_questions_size(questions, count) + TEXT_MAX);
    m_detailed(&members, t, questions, count);
    buf_addc(&members, ',');
    listener_notify(one, "notifications/tasks", buf_span(&members));
    buf_fini(&members);
}

static void look_again(struct listeners *l, const char *id, const char *owner);

/* A read of one task for whoever listens to it. */
struct look {
    struct listeners *all;
    char id[ID_LEN + 1];
    char owner[ID_OWNER_LEN + 1];
    struct task task;
    char *message;
};

static void tell_all(struct listeners *l, const char *id, const struct task *t,
                     const struct store_question *questions, size_t count)
{
    for (struct map_node *node = map_find(&l->by_task, span_of(id)); node != NULL;
         node = map_find_next(node)) {
        struct watch *w = MAP_OF(node, struct watch, node);

        if (w->of->sse == NULL)
            w->missed = true;
        if (!w->good || w->of->sse == NULL || t->version <= w->version)
            continue;
        w->version = t->version;
        tell_task(w->of, t, questions, count);
    }
}

static void look_free(struct look *k)
{
    free(k->message);
    free(k);
}

static void on_questions(void *arg, enum err e, const struct store_question *questions,
                         size_t count)
{
    struct look *k = arg;

    if (e == ERR_OK && count != 0)
        tell_all(k->all, k->id, &k->task, questions, count);
    look_free(k);
}

static void on_read(void *arg, enum err e, const struct store_result *r)
{
    struct look *k = arg;

    if (e == ERR_OK && r->task.state == TASK_INPUT) {
        k->task = r->task;
        k->message = mem_dup(r->task.message.p, r->task.message.n);
        k->task.id = span_of(k->id);
        k->task.message = span_of(k->message);
        store_questions(k->all->b->store, k->task.id, span_of(k->owner), on_questions, k);
        return;
    }
    if (e == ERR_OK)
        tell_all(k->all, k->id, &r->task, NULL, 0);
    look_free(k);
}

static void look_again(struct listeners *l, const char *id, const char *owner)
{
    struct look *k = mem_zalloc(sizeof(*k));
    struct store_get get = {.wait = true, .outcome = true};

    k->all = l;
    memcpy(k->id, id, sizeof(k->id));
    memcpy(k->owner, owner, sizeof(k->owner));
    get.id = span_of(k->id);
    get.owner = span_of(k->owner);
    store_get(l->b->store, &get, on_read, k);
}

/* Whose task it is, of those who ask for it; NULL while that is not known of any. */
static const char *owner_of(struct map_node *node)
{
    for (; node != NULL; node = map_find_next(node))
        if (MAP_OF(node, struct watch, node)->good)
            return MAP_OF(node, struct watch, node)->of->owner;
    return NULL;
}

void listeners_event(struct listeners *l, const struct store_event *ev)
{
    struct map_node *node = map_find(&l->by_task, ev->task.id);
    const char *owner = owner_of(node);
    char id[ID_LEN + 1];

    if (node == NULL || ev->task.hidden)
        return;
    memcpy(id, MAP_OF(node, struct watch, node)->id, sizeof(id));
    /* What the message does not hold is read: questions, and a large outcome. */
    if (owner != NULL && (ev->task.state == TASK_INPUT || ev->outcome_omitted))
        look_again(l, id, owner);
    else
        tell_all(l, id, &ev->task, NULL, 0);
}

void listener_catch_up(struct listener *one)
{
    for (size_t i = 0; i < one->count; i++)
        if (one->watches[i].good && one->watches[i].missed)
            look_again(one->all, one->watches[i].id, one->owner);
}

static void look_at(void *arg, struct map_node *node)
{
    struct watch *w = MAP_OF(node, struct watch, node);

    if (w->of->sse == NULL)
        w->missed = true;
    else if (w->good)
        look_again(arg, w->id, w->of->owner);
}

void listeners_gap(struct listeners *l)
{
    map_each(&l->by_task, look_at, l);
}

void listeners_crowded(struct listeners *l, struct span id)
{
    struct timeval t = clock_timeval(clock_jitter(CROWDED_MS, 20));

    for (struct map_node *node = map_find(&l->by_task, id); node != NULL;
         node = map_find_next(node)) {
        struct watch *w = MAP_OF(node, struct watch, node);

        if (w->of->sse == NULL)
            w->missed = true;
        else
            w->crowded = w->good;
        if (w->crowded && !evtimer_pending(l->crowded, NULL))
            (void)evtimer_add(l->crowded, &t);
    }
}

static void look_once(void *arg, struct map_node *node)
{
    struct watch *w = MAP_OF(node, struct watch, node);

    if (!w->crowded)
        return;
    look_again(arg, w->id, w->of->owner); /* for all that ask for it */
    for (node = map_find(&w->of->all->by_task, span_of(w->id)); node != NULL;
         node = map_find_next(node))
        MAP_OF(node, struct watch, node)->crowded = false;
}

void listeners_on_crowded(evutil_socket_t fd, short what, void *arg)
{
    struct listeners *l = arg;

    (void)fd;
    (void)what;
    map_each(&l->by_task, look_once, l);
}
