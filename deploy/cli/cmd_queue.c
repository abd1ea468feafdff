/* errand queue: what waits and what runs, over all partitions. */
#include "common/mem.h"
#include "common/registry.h"
#include "common/store_admin.h"
#include "deploy/cli/command.h"
#include "deploy/cli/conf.h"
#include "deploy/cli/ops.h"
#include "deploy/cli/say.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 16 << 20 };

struct row {
    char *tool;
    uint64_t ready[TASK_PRIORITY_COUNT];
};

struct sum {
    struct ops *o;
    struct store_totals totals;
    struct row *rows;
    size_t count;
    size_t workers;
};

static struct row *row_of(struct sum *s, struct span tool)
{
    for (size_t i = 0; i < s->count; i++)
        if (span_is(tool, s->rows[i].tool))
            return &s->rows[i];
    s->rows = mem_grow(s->rows, (s->count + 1) * sizeof(*s->rows));
    s->rows[s->count] = (struct row){.tool = mem_dup(tool.p, tool.n)};
    return &s->rows[s->count++];
}

static void on_queue(void *arg, enum err e, const struct store_totals *totals,
                     const struct store_queue *queues, size_t count)
{
    struct sum *s = arg;

    if (e == ERR_OK)
        store_totals_add(&s->totals, totals);
    for (size_t i = 0; i < count; i++) {
        struct row *r = row_of(s, queues[i].tool);

        for (size_t c = 0; c < TASK_PRIORITY_COUNT; c++)
            r->ready[c] += queues[i].ready[c];
    }
    ops_answer(s->o, e);
}

static void on_workers(void *arg, enum err e, const struct registry_worker *w, size_t count)
{
    struct sum *s = arg;

    (void)w;
    s->workers = count;
    ops_answer(s->o, e);
}

static uint64_t ready_in_all(const struct sum *s)
{
    uint64_t n = 0;

    for (size_t i = 0; i < s->count; i++)
        for (size_t c = 0; c < TASK_PRIORITY_COUNT; c++)
            n += s->rows[i].ready[c];
    return n;
}

static void print_people(const struct sum *s)
{
    const struct store_totals *t = &s->totals;
    struct table table;
    struct buf age;

    buf_init(&age, 64);
    say_age(&age, t->oldest_ready_ms);
    (void)printf("%" PRIu64 " ready (the oldest for %s), %" PRIu64 " running, %" PRIu64
                 " delayed, %" PRIu64 " parked; %zu workers\n",
                 ready_in_all(s), age.p, t->running, t->delayed, t->parked, s->workers);
    (void)printf("%" PRIu64 " tasks kept, %" PRIu64 " of them unfinished; %" PRIu64
                 " dead letters\n",
                 t->tasks, t->active, t->dead);
    (void)printf("ended so far: %" PRIu64 " with a result, %" PRIu64 " with an error, %" PRIu64
                 " cancelled\n",
                 t->ended[TASK_RESULT], t->ended[TASK_ERROR], t->ended[TASK_CANCELLED]);
    buf_fini(&age);
    if (s->count == 0)
        return;
    (void)putchar('\n');
    table_init(&table, 1 + TASK_PRIORITY_COUNT);
    table_adds(&table, "TOOL");
    for (unsigned c = 0; c < TASK_PRIORITY_COUNT; c++)
        table_adds(&table, task_priority_name((enum task_priority)c));
    for (size_t i = 0; i < s->count; i++) {
        table_adds(&table, s->rows[i].tool);
        for (size_t c = 0; c < TASK_PRIORITY_COUNT; c++)
            table_addf(&table, "%" PRIu64, s->rows[i].ready[c]);
    }
    table_print(&table);
}

static void print_json(const struct sum *s)
{
    const struct store_totals *t = &s->totals;
    struct buf out;

    buf_init(&out, TEXT_MAX);
    buf_addf(&out,
             "{\"ready\":%" PRIu64 ",\"oldestReadyMs\":%" PRIu64 ",\"running\":%" PRIu64
             ",\"delayed\":%" PRIu64 ",\"parked\":%" PRIu64 ",\"workers\":%zu,\"tasks\":%" PRIu64
             ",\"unfinished\":%" PRIu64 ",\"dead\":%" PRIu64,
             ready_in_all(s), t->oldest_ready_ms, t->running, t->delayed, t->parked, s->workers,
             t->tasks, t->active, t->dead);
    buf_addf(&out,
             ",\"ended\":{\"result\":%" PRIu64 ",\"error\":%" PRIu64 ",\"cancelled\":%" PRIu64
             "},\"tools\":{",
             t->ended[TASK_RESULT], t->ended[TASK_ERROR], t->ended[TASK_CANCELLED]);
    for (size_t i = 0; i < s->count; i++) {
        buf_adds(&out, i > 0 ? "," : "");
        buf_add_json(&out, span_of(s->rows[i].tool));
        buf_addc(&out, ':');
        for (unsigned c = 0; c < TASK_PRIORITY_COUNT; c++)
            buf_addf(&out, "%s\"%s\":%" PRIu64, c == 0 ? "{" : ",",
                     task_priority_name((enum task_priority)c), s->rows[i].ready[c]);
        buf_addc(&out, '}');
    }
    buf_adds(&out, "}}");
    say_out(&out);
    buf_fini(&out);
}

int cmd_queue(const struct conf *c, char **args, size_t count)
{
    struct ops o;
    struct sum s = {.o = &o};
    int status;

    (void)args;
    (void)count;
    if (!ops_open(&o, c, false))
        return EXIT_FAILED;
    for (unsigned p = 0; p < store_partitions(o.store); p++) {
        ops_expect(&o);
        store_queue(o.store, p, on_queue, &s);
    }
    ops_expect(&o);
    registry_workers(o.store, on_workers, &s);
    status = ops_wait(&o);
    if (status == EXIT_OK)
        (c->json ? print_json : print_people)(&s);
    ops_close(&o);
    for (size_t i = 0; i < s.count; i++)
        free(s.rows[i].tool);
    free(s.rows);
    return status;
}
