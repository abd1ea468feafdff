#include "broker/stream_inside.h"

#include "common/mem.h"

#include <stdio.h>
#include <stdlib.h>

struct stream_expected {
    struct map_node node;
    struct streams *all;
    struct list held;
    bool tasks;
    char id[ID_SHORT_LEN + 1];
};

struct stream_expected *stream_expect(struct streams *s, struct span id, bool tasks)
{
    struct stream_expected *x = mem_zalloc(sizeof(*x));

    x->all = s;
    x->tasks = tasks;
    list_init(&x->held);
    (void)snprintf(x->id, sizeof(x->id), "%.*s", (int)id.n, id.p);
    map_add(&s->expected, &x->node, span_of(x->id));
    return x;
}

void stream_expected_take(const struct streams *s, struct span id,
                          const struct store_stream_event *e)
{
    struct map_node *node = map_find(&s->expected, id);

    for (; node != NULL; node = map_find_next(node)) {
        struct stream_expected *x = MAP_OF(node, struct stream_expected, node);

        stream_hold(s, &x->held, x->tasks, e);
    }
}

void stream_unexpect(struct stream_expected *x)
{
    map_del(&x->all->expected, &x->node);
    LIST_EACH(&x->held, it)
    {
        free(LIST_OF(it, struct held, node));
    }
    free(x);
}

void stream_replay(struct stream *st, struct stream_expected *x,
                   const struct store_stream_event *events, size_t count)
{
    list_splice(&st->held, &x->held);
    stream_unexpect(x);
    stream_become_open(st, events, count);
}
