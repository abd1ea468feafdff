#include "deploy/cli/top.h"

#include "common/mem.h"
#include "common/registry.h"
#include "common/store_running.h"

#include <stdlib.h>
#include <string.h>

struct reading {
    struct top *t;
    struct ops *o;
};

static char *copy(struct span s)
{
    return mem_dup(s.n > 0 ? s.p : "", s.n);
}

static struct top_queue *queue_of(struct top *t, struct span tool)
{
    for (size_t i = 0; i < t->queue_count; i++)
        if (span_is(tool, t->queues[i].tool))
            return &t->queues[i];
    t->queues = mem_grow(t->queues, (t->queue_count + 1) * sizeof(*t->queues));
    t->queues[t->queue_count] = (struct top_queue){.tool = copy(tool)};
    return &t->queues[t->queue_count++];
}

static void on_queue(void *arg, enum err e, const struct store_totals *totals,
                     const struct store_queue *queues, size_t count)
{
    struct reading *r = arg;

    if (e == ERR_OK)
        store_totals_add(&r->t->totals, totals);
    for (size_t i = 0; i < count; i++) {
        struct top_queue *q = queue_of(r->t, queues[i].tool);

        for (size_t c = 0; c < TASK_PRIORITY_COUNT; c++)
            q->ready[c] += queues[i].ready[c];
    }
    ops_answer(r->o, e);
}

static void on_workers(void *arg, enum err e, const struct registry_worker *w, size_t count)
{
    struct reading *r = arg;
    struct top *t = r->t;

    t->workers = mem_zalloc((count + 1) * sizeof(*t->workers));
    for (; t->worker_count < count; t->worker_count++) {
        const struct registry_worker *from = &w[t->worker_count];

        t->workers[t->worker_count] = (struct top_worker){.id = copy(from->wid),
                                                          .info = copy(from->info),
                                                          .started_ms = from->started_ms,
                                                          .seen_ms_ago = from->seen_ms_ago};
    }
    ops_answer(r->o, e);
}

static void on_brokers(void *arg, enum err e, const struct store_broker *b, size_t count)
{
    struct reading *r = arg;
    struct top *t = r->t;

    t->brokers_unknown = e == ERR_FORBIDDEN;
    t->brokers = mem_zalloc((count + 1) * sizeof(*t->brokers));
    for (; t->broker_count < count; t->broker_count++) {
        const struct store_broker *from = &b[t->broker_count];

        t->brokers[t->broker_count] = (struct top_broker){
            .id = copy(from->id), .address = copy(from->address), .age_s = from->age_s};
    }
    ops_answer(r->o, e == ERR_FORBIDDEN ? ERR_OK : e);
}

static void on_running(void *arg, enum err e, const struct store_running *tasks, size_t count)
{
    struct reading *r = arg;
    struct top *t = r->t;

    t->slow = mem_grow(t->slow, (t->slow_count + count + 1) * sizeof(*t->slow));
    for (size_t i = 0; i < count; i++)
        t->slow[t->slow_count++] = (struct top_task){.id = copy(tasks[i].id),
                                                     .tool = copy(tasks[i].tool),
                                                     .worker = copy(tasks[i].worker),
                                                     .message = copy(tasks[i].message),
                                                     .age_ms = tasks[i].age_ms,
                                                     .attempt = tasks[i].attempt,
                                                     .asks = tasks[i].asks};
    ops_answer(r->o, e);
}

static int by_age(const void *a, const void *b)
{
    const struct top_task *x = a;
    const struct top_task *y = b;

    return (x->age_ms < y->age_ms) - (x->age_ms > y->age_ms);
}

int top_read(struct top *t, struct ops *o)
{
    struct reading r = {t, o};
    int status;

    *t = (struct top){.queue_count = 0};
    for (unsigned p = 0; p < store_partitions(o->store); p++) {
        ops_expect(o);
        store_queue(o->store, p, on_queue, &r);
        ops_expect(o);
        store_running(o->store, p, TOP_SLOW_MAX, on_running, &r);
    }
    ops_expect(o);
    registry_workers(o->store, on_workers, &r);
    ops_expect(o);
    store_brokers(o->store, on_brokers, &r);
    status = ops_wait(o);
    if (t->slow_count > 1)
        qsort(t->slow, t->slow_count, sizeof(*t->slow), by_age);
    return status;
}

void top_fini(struct top *t)
{
    for (size_t i = 0; i < t->queue_count; i++)
        free(t->queues[i].tool);
    for (size_t i = 0; i < t->worker_count; i++) {
        free(t->workers[i].id);
        free(t->workers[i].info);
    }
    for (size_t i = 0; i < t->broker_count; i++) {
        free(t->brokers[i].id);
        free(t->brokers[i].address);
    }
    for (size_t i = 0; i < t->slow_count; i++) {
        free(t->slow[i].id);
        free(t->slow[i].tool);
        free(t->slow[i].worker);
        free(t->slow[i].message);
    }
    free(t->queues);
    free(t->workers);
    free(t->brokers);
    free(t->slow);
    *t = (struct top){.queue_count = 0};
}
