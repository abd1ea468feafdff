#include "broker/l/session.h"

#include "common/clock.h"
#include "common/mem.h"

#include <stdlib.h>

enum { FRESH_MS = 5000, KEPT_MAX = 20000 };

struct sessions {
    struct store *store;
    struct map by_id;
};

struct sessions *sessions_new(struct store *store)
{
    struct sessions *s = mem_zalloc(sizeof(*s));

    s->store = store;
    map_init(&s->by_id);
    return s;
}

static void drop(void *arg, struct map_node *node)
{
    struct sessions *s = arg;
    struct session_copy *c = MAP_OF(node, struct session_copy, node);

    map_del(&s->by_id, node);
    free(c->capabilities);
    free(c);
}

void sessions_forget(struct sessions *s)
{
    map_each(&s->by_id, drop, s);
}

void sessions_free(struct sessions *s)
{
    sessions_forget(s);
    map_fini(&s->by_id);
    free(s);
}

void sessions_drop(struct sessions *s, struct span id)
{
    struct map_node *node = map_find(&s->by_id, id);

    if (node != NULL)
        drop(s, node);
}

const struct session_copy *sessions_find(struct sessions *s, struct span id, struct span owner)
{
    struct map_node *node = map_find(&s->by_id, id);
    const struct session_copy *c;

    if (node == NULL)
        return NULL;
    c = MAP_OF(node, struct session_copy, node);
    if (!store_is_listening(s->store) || clock_mono_ms() - c->at_ms > FRESH_MS) {
        drop(s, node);
        return NULL;
    }
    return span_equal(span_of(c->owner), owner) ? c : NULL;
}

const struct session_copy *sessions_admitted(const struct sessions *s, struct span id,
                                             struct span owner)
{
    struct map_node *node = map_find(&s->by_id, id);
    const struct session_copy *c = node != NULL ? MAP_OF(node, struct session_copy, node) : NULL;

    return c != NULL && span_equal(span_of(c->owner), owner) ? c : NULL;
}

const struct session_copy *sessions_keep(struct sessions *s, const struct session *read)
{
    struct session_copy *c = mem_zalloc(sizeof(*c));

    sessions_drop(s, read->id);
    if (s->by_id.n >= KEPT_MAX)
        sessions_forget(s);
    memcpy(c->id, read->id.p, read->id.n < ID_LEN ? read->id.n : ID_LEN);
    memcpy(c->owner, read->owner.p, read->owner.n < ID_OWNER_LEN ? read->owner.n : ID_OWNER_LEN);
    c->version = l_version_of(read->version);
    c->capabilities = mem_dup(read->capabilities.p, read->capabilities.n);
    c->at_ms = clock_mono_ms();
    map_add(&s->by_id, &c->node, span_of(c->id));
    return c;
}
