#include "tests/lib/two.h"

struct two two;

static void keep(struct two_got *g, const struct task *t)
{
    g->task = *t;
    kit_copy(g->id, t->id);
    kit_copy(g->message, t->message);
    kit_copy(g->tool, t->tool);
    kit_copy(g->outcome, t->outcome);
    g->outcome_n = t->outcome.n;
    g->has_outcome = t->outcome.p != NULL;
}

void two_on_task(void *arg, enum err e, const struct store_result *r)
{
    struct two_got *g = arg;

    g->a.calls++;
    g->a.e = e;
    g->repeated = r->repeated;
    g->retry_ms = r->retry_ms;
    keep(g, &r->task);
}

bool two_start(unsigned partitions)
{
    kit_start(&two.kit, NULL);
    return kit_store_open(&two.a, &two.kit, (struct store_conf){.partitions = partitions}) &&
           kit_store_open(&two.b, &two.kit, (struct store_conf){.partitions = 0});
}

void two_stop(void)
{
    kit_store_free(&two.a);
    kit_store_free(&two.b);
    kit_stop(&two.kit);
}

static char ids[8][ID_LEN + 1];
static unsigned id_count;

struct span two_id(struct span owner)
{
    char *id = ids[id_count++ % 8];

    id_new(id, store_partition_of_owner(two.a.s, owner));
    return span_of(id);
}

struct store_create two_plan(struct span owner)
{
    return (struct store_create){.id = two_id(owner),
                                 .owner = owner,
                                 .tool = SPAN("tool"),
                                 .priority = TASK_NORMAL,
                                 .ttl_ms = 60000,
                                 .poll_ms = 500,
                                 .attempts = 3,
                                 .dialect = 'L',
                                 .params = SPAN("{\"n\":9007199254740993}"),
                                 .caller = SPAN("{\"name\":\"x\"}")};
}

bool two_create(struct kit_store *p, const struct store_create *c, struct two_got *g)
{
    unsigned calls = g->a.calls;

    store_create(p->s, c, two_on_task, g);
    return kit_wait(&two.kit, &g->a, calls + 1);
}

bool two_get(struct kit_store *p, struct store_get q, struct two_got *g)
{
    unsigned calls = g->a.calls;

    store_get(p->s, &q, two_on_task, g);
    return kit_wait(&two.kit, &g->a, calls + 1);
}
