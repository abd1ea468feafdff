#include "deploy/cli/top.h"

#include "common/clock.h"
#include "common/json.h"
#include "deploy/cli/say.h"

#include <inttypes.h>
#include <stdio.h>

enum { CELL_MAX = 512 };

static void add_age(struct table *t, uint64_t ms)
{
    struct buf text;

    buf_init(&text, CELL_MAX);
    say_age(&text, ms);
    table_add(t, buf_span(&text));
    buf_fini(&text);
}

static uint64_t ready_of(const struct top_queue *q)
{
    uint64_t n = 0;

    for (size_t c = 0; c < TASK_PRIORITY_COUNT; c++)
        n += q->ready[c];
    return n;
}

static uint64_t ready_in_all(const struct top *t)
{
    uint64_t n = 0;

    for (size_t i = 0; i < t->queue_count; i++)
        n += ready_of(&t->queues[i]);
    return n;
}

static int64_t number_in(const char *info, const char *name)
{
    int64_t v = 0;

    (void)json_int(json_get(span_of(info), name), &v);
    return v;
}

static void show_totals(struct buf *out, const struct top *t)
{
    const struct store_totals *s = &t->totals;
    int64_t slots = 0;

    for (size_t i = 0; i < t->worker_count; i++)
        slots += number_in(t->workers[i].info, "slots");
    buf_addf(out, "%" PRIu64 " ready (the oldest for ", ready_in_all(t));
    say_age(out, s->oldest_ready_ms);
    buf_addf(out,
             "), %" PRIu64 " running in %" PRId64 " slots, %" PRIu64 " delayed, %" PRIu64
             " parked; %" PRIu64 " dead letters, %" PRIu64 " leases lapsed\n",
             s->running, slots, s->delayed, s->parked, s->dead, s->lapsed_ever);
    buf_addf(out,
             "%" PRIu64 " tasks kept; ended so far: %" PRIu64 " with a result, %" PRIu64
             " with an error, %" PRIu64 " cancelled\n",
             s->tasks, s->ended[TASK_RESULT], s->ended[TASK_ERROR], s->ended[TASK_CANCELLED]);
}

static void show_slow(struct buf *out, const struct top *t)
{
    struct table table;

    buf_addf(out, "\nRUNNING, the oldest first%s\n", t->slow_count == 0 ? ": none" : "");
    if (t->slow_count == 0)
        return;
    table_init(&table, 6);
    for (size_t i = 0; i < t->slow_count && i < TOP_SLOW_MAX; i++) {
        const struct top_task *task = &t->slow[i];

        table_adds(&table, task->id);
        table_adds(&table, task->tool);
        add_age(&table, task->age_ms);
        table_adds(&table, task->worker);
        table_addf(&table, "attempt %" PRIu64 "%s", task->attempt, task->asks ? ", asks" : "");
        table_adds(&table, task->message);
    }
    table_text(&table, out);
}

static void show_queues(struct buf *out, const struct top *t)
{
    struct table table;

    buf_adds(out, "\nREADY\n");
    table_init(&table, 1 + TASK_PRIORITY_COUNT);
    table_adds(&table, "tool");
    for (unsigned c = 0; c < TASK_PRIORITY_COUNT; c++)
        table_adds(&table, task_priority_name((enum task_priority)c));
    for (size_t i = 0; i < t->queue_count; i++) {
        table_adds(&table, t->queues[i].tool);
        for (size_t c = 0; c < TASK_PRIORITY_COUNT; c++)
            table_addf(&table, "%" PRIu64, t->queues[i].ready[c]);
    }
    table_text(&table, out);
}

static void show_workers(struct buf *out, const struct top *t)
{
    uint64_t now = clock_wall_ms();
    struct table table;

    buf_addf(out, "\nWORKERS%s\n", t->worker_count == 0 ? ": none" : "");
    if (t->worker_count == 0)
        return;
    table_init(&table, 5);
    for (size_t i = 0; i < t->worker_count; i++) {
        const struct top_worker *w = &t->workers[i];
        struct buf host;

        buf_init(&host, CELL_MAX);
        say_string(&host, json_get(span_of(w->info), "host"), false);
        table_adds(&table, w->id);
        table_addf(&table, "%s/%" PRId64, host.n > 0 ? host.p : "?", number_in(w->info, "pid"));
        table_addf(&table, "%" PRId64 " of %" PRId64 " busy", number_in(w->info, "busy"),
                   number_in(w->info, "slots"));
        table_adds(&table, "up");
        add_age(&table, now > w->started_ms ? now - w->started_ms : 0);
        buf_fini(&host);
    }
    table_text(&table, out);
}

static void show_brokers(struct buf *out, const struct top *t)
{
    struct table table;

    buf_addf(out, "\nBROKERS%s\n",
             t->brokers_unknown     ? ": this user may not list connections (+client|list)"
             : t->broker_count == 0 ? ": none"
                                    : "");
    if (t->broker_count == 0)
        return;
    table_init(&table, 4);
    for (size_t i = 0; i < t->broker_count; i++) {
        table_adds(&table, t->brokers[i].id);
        table_adds(&table, t->brokers[i].address);
        table_adds(&table, "up");
        add_age(&table, t->brokers[i].age_s * 1000);
    }
    table_text(&table, out);
}

void top_show(struct buf *out, const struct top *t)
{
    show_totals(out, t);
    show_slow(out, t);
    show_queues(out, t);
    show_workers(out, t);
    show_brokers(out, t);
}

/* --- for programs --- */

static void add_text(struct buf *out, const char *name, const char *value)
{
    buf_addf(out, "\"%s\":", name);
    buf_add_json(out, span_of(value));
}

static void json_running(struct buf *out, const struct top *t)
{
    buf_adds(out, ",\"running\":[");
    for (size_t i = 0; i < t->slow_count; i++) {
        const struct top_task *task = &t->slow[i];

        buf_adds(out, i > 0 ? ",{" : "{");
        add_text(out, "taskId", task->id);
        buf_addc(out, ',');
        add_text(out, "tool", task->tool);
        buf_addc(out, ',');
        add_text(out, "worker", task->worker);
        buf_addf(out, ",\"ageMs\":%" PRIu64 ",\"attempt\":%" PRIu64 ",\"asks\":%s,", task->age_ms,
                 task->attempt, task->asks ? "true" : "false");
        add_text(out, "message", task->message);
        buf_addc(out, '}');
    }
    buf_addc(out, ']');
}

static void json_queues(struct buf *out, const struct top *t)
{
    buf_adds(out, ",\"tools\":{");
    for (size_t i = 0; i < t->queue_count; i++) {
        buf_adds(out, i > 0 ? "," : "");
        buf_add_json(out, span_of(t->queues[i].tool));
        for (unsigned c = 0; c < TASK_PRIORITY_COUNT; c++)
            buf_addf(out, "%s\"%s\":%" PRIu64, c == 0 ? ":{" : ",",
                     task_priority_name((enum task_priority)c), t->queues[i].ready[c]);
        buf_addc(out, '}');
    }
    buf_addc(out, '}');
}

static void json_processes(struct buf *out, const struct top *t)
{
    buf_adds(out, ",\"workers\":[");
    for (size_t i = 0; i < t->worker_count; i++) {
        const struct top_worker *w = &t->workers[i];

        buf_adds(out, i > 0 ? ",{" : "{");
        add_text(out, "id", w->id);
        buf_addf(out, ",\"startedMs\":%" PRIu64 ",\"seenMsAgo\":%" PRIu64 ",\"info\":%s}",
                 w->started_ms, w->seen_ms_ago, w->info[0] == '{' ? w->info : "{}");
    }
    buf_addf(out, "],\"brokers\":%s", t->brokers_unknown ? "null" : "[");
    for (size_t i = 0; i < t->broker_count; i++) {
        buf_adds(out, i > 0 ? ",{" : "{");
        add_text(out, "id", t->brokers[i].id);
        buf_addc(out, ',');
        add_text(out, "address", t->brokers[i].address);
        buf_addf(out, ",\"upS\":%" PRIu64 "}", t->brokers[i].age_s);
    }
    buf_adds(out, t->brokers_unknown ? "" : "]");
}

void top_json(struct buf *out, const struct top *t)
{
    const struct store_totals *s = &t->totals;

    buf_addf(out,
             "{\"ready\":%" PRIu64 ",\"oldestReadyMs\":%" PRIu64 ",\"held\":%" PRIu64
             ",\"delayed\":%" PRIu64 ",\"parked\":%" PRIu64 ",\"dead\":%" PRIu64
             ",\"leasesLapsed\":%" PRIu64,
             ready_in_all(t), s->oldest_ready_ms, s->running, s->delayed, s->parked, s->dead,
             s->lapsed_ever);
    json_running(out, t);
    json_queues(out, t);
    json_processes(out, t);
    buf_addc(out, '}');
}
