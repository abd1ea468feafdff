#include "broker/scrape.h"

#include "broker/wait.h"
#include "common/clock.h"
#include "common/list.h"
#include "common/mem.h"
#include "common/metric.h"
#include "common/registry.h"
#include "common/store_admin.h"
#include "common/store_running.h"

#include <stdlib.h>

enum { METRICS_MAX = 4 << 20, FRESH_MS = 1000 };

struct sums {
    struct store_totals totals;
    uint64_t ready[TASK_PRIORITY_COUNT];
    size_t workers;
    bool may_evict;
};

struct scrape {
    struct broker *b;
    struct list asking; /* who waits for what is being read */
    unsigned outstanding; /* calls of this reading */
    bool failed; /* one of them */
    uint64_t tried_ms;
    uint64_t read_ms; /* 0: never */
    struct sums sums; /* so far */
};

struct asking {
    struct list node;
    struct http_req *http;
};

static void set_own(const struct scrape *s)
{
    const struct broker *b = s->b;
    struct http_stats stats;

    http_stats(b->http, &stats);
    metric_set(METRIC_CONNECTIONS, NULL, (int64_t)stats.connections);
    metric_set(METRIC_STREAMS, NULL, (int64_t)stats.streams);
    metric_set(METRIC_WAITERS, NULL, (int64_t)waits_count(b->waits));
    metric_add(METRIC_HTTP_REFUSED, NULL,
               stats.refused - (uint64_t)metric_value(METRIC_HTTP_REFUSED, NULL));
    metric_set(METRIC_REDIS_UP, "commands", store_is_ready(b->store));
    metric_set(METRIC_REDIS_UP, "messages", store_is_listening(b->store));
    metric_set(METRIC_REDIS_PENDING, NULL, (int64_t)store_in_flight(b->store));
    if (s->read_ms != 0)
        metric_set(METRIC_QUEUE_READ, NULL, (int64_t)(clock_mono_ms() - s->read_ms) / 1000);
}

static void answer(const struct scrape *s, struct http_req *r)
{
    struct buf out;

    set_own(s);
    buf_init(&out, METRICS_MAX);
    metric_text(&out);
    http_reply(r, 200, "text/plain; version=0.0.4", buf_span(&out));
    buf_fini(&out);
}

/* --- what Redis says --- */

static void set_read(struct scrape *s)
{
    const struct store_totals *t = &s->sums.totals;

    for (unsigned c = 0; c < TASK_PRIORITY_COUNT; c++) {
        const char *name = task_priority_name((enum task_priority)c);

        metric_set(METRIC_QUEUE_READY, name, (int64_t)s->sums.ready[c]);
        metric_set(METRIC_QUEUE_OLDEST, name, (int64_t)(t->oldest_ms[c] / 1000));
    }
    metric_set(METRIC_TASKS_RUNNING, NULL, (int64_t)t->running);
    metric_set(METRIC_TASKS_DELAYED, NULL, (int64_t)t->delayed);
    metric_set(METRIC_TASKS_PARKED, NULL, (int64_t)t->parked);
    metric_set(METRIC_TASKS_UNFINISHED, NULL, (int64_t)t->active);
    metric_set(METRIC_TASKS_KEPT, NULL, (int64_t)t->tasks);
    metric_set(METRIC_DEAD_LETTERS, NULL, (int64_t)t->dead);
    metric_set(METRIC_WORKERS, NULL, (int64_t)s->sums.workers);
    metric_set(METRIC_TASKS_ENDED, "result", (int64_t)t->ended[TASK_RESULT]);
    metric_set(METRIC_TASKS_ENDED, "error", (int64_t)t->ended[TASK_ERROR]);
    metric_set(METRIC_TASKS_ENDED, "cancelled", (int64_t)t->ended[TASK_CANCELLED]);
    metric_set(METRIC_TASKS_ENDED, "dead", (int64_t)t->dead_ever);
    metric_set(METRIC_LEASES_LAPSED, NULL, (int64_t)t->lapsed_ever);
    metric_set(METRIC_REDIS_MAY_EVICT, NULL, s->sums.may_evict);
    s->read_ms = clock_mono_ms();
}

static void answer_all(struct scrape *s)
{
    LIST_EACH(&s->asking, it)
    {
        struct asking *a = LIST_OF(it, struct asking, node);

        list_del(&a->node);
        answer(s, a->http);
        free(a);
    }
}

static void one_back(struct scrape *s, enum err e)
{
    s->failed = s->failed || e != ERR_OK;
    if (--s->outstanding > 0)
        return;
    if (!s->failed)
        set_read(s);
    answer_all(s);
}

static void on_queue(void *arg, enum err e, const struct store_totals *t,
                     const struct store_queue *queues, size_t count)
{
    struct scrape *s = arg;

    store_totals_add(&s->sums.totals, t);
    for (size_t c = 0; c < TASK_PRIORITY_COUNT; c++)
        for (size_t i = 0; i < count; i++)
            s->sums.ready[c] += queues[i].ready[c];
    one_back(s, e);
}

static void on_workers(void *arg, enum err e, const struct registry_worker *w, size_t count)
{
    struct scrape *s = arg;

    (void)w;
    s->sums.workers = count;
    one_back(s, e);
}

static void on_may_evict(void *arg, enum err e, bool may_evict)
{
    struct scrape *s = arg;

    s->sums.may_evict = may_evict;
    one_back(s, e);
}

static void read_all(struct scrape *s)
{
    struct store *store = s->b->store;

    s->tried_ms = clock_mono_ms();
    s->failed = false;
    s->sums = (struct sums){.workers = 0};
    s->outstanding = store_partitions(store) + 2;
    for (unsigned p = 0; p < store_partitions(store); p++)
        store_queue(store, p, on_queue, s);
    registry_workers(store, on_workers, s);
    store_may_evict(store, on_may_evict, s);
}

/* --- who asks --- */

static void on_gone(void *arg)
{
    struct asking *a = arg;

    list_del(&a->node);
    free(a);
}

void scrape_serve(struct broker *b, struct http_req *r)
{
    struct scrape *s = b->scrape;
    bool is_fresh = s->tried_ms != 0 && clock_mono_ms() - s->tried_ms < FRESH_MS;
    struct asking *a;

    if (s->outstanding == 0 && (is_fresh || !store_is_ready(b->store))) {
        answer(s, r);
        return;
    }
    a = mem_zalloc(sizeof(*a));
    a->http = r;
    list_add_tail(&s->asking, &a->node);
    http_hold(r, on_gone, a);
    if (s->outstanding == 0)
        read_all(s);
}

struct scrape *scrape_new(struct broker *b)
{
    struct scrape *s = mem_zalloc(sizeof(*s));

    s->b = b;
    list_init(&s->asking);
    return s;
}

void scrape_free(struct scrape *s)
{
    free(s);
}
