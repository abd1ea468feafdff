#include "common/map.h"

#include "common/mem.h"

#include <event2/util.h>
#include <stdlib.h>

enum { FIRST_SLOTS = 16 };

/* FNV-1a from a random start, so that a client cannot choose colliding keys ahead of time. */
static uint64_t hash_of(struct span key)
{
    static uint64_t seed;
    uint64_t h;

    while (seed == 0)
        evutil_secure_rng_get_bytes(&seed, sizeof(seed));
    h = seed;
    for (size_t i = 0; i < key.n; i++)
        h = (h ^ (unsigned char)key.p[i]) * 1099511628211ULL;
    return h ^ (h >> 29);
}

void map_init(struct map *m)
{
    *m = (struct map){0};
}

void map_fini(struct map *m)
{
    free(m->slots);
    map_init(m);
}

static struct map_node **slot_of(const struct map *m, uint64_t hash)
{
    return &m->slots[hash & (m->slot_count - 1)];
}

static void link_node(struct map *m, struct map_node *node)
{
    struct map_node **slot = slot_of(m, node->hash);

    node->next = *slot;
    *slot = node;
}

static void grow(struct map *m)
{
    struct map old = *m;

    m->slot_count = old.slot_count != 0 ? old.slot_count * 2 : FIRST_SLOTS;
    m->slots = mem_zalloc(m->slot_count * sizeof(m->slots[0]));
    for (size_t i = 0; i < old.slot_count; i++) {
        struct map_node *node = old.slots[i];

        while (node != NULL) {
            struct map_node *next = node->next;

            link_node(m, node);
            node = next;
        }
    }
    free(old.slots);
}

void map_add(struct map *m, struct map_node *node, struct span key)
{
    if (m->n >= m->slot_count)
        grow(m);
    node->key = key;
    node->hash = hash_of(key);
    link_node(m, node);
    m->n++;
}

void map_del(struct map *m, struct map_node *node)
{
    if (m->slot_count == 0)
        return;
    for (struct map_node **at = slot_of(m, node->hash); *at != NULL; at = &(*at)->next) {
        if (*at == node) {
            *at = node->next;
            node->next = NULL;
            m->n--;
            return;
        }
    }
}

static struct map_node *first_match(struct map_node *node, uint64_t hash, struct span key)
{
    while (node != NULL && !(node->hash == hash && span_equal(node->key, key)))
        node = node->next;
    return node;
}

struct map_node *map_find(const struct map *m, struct span key)
{
    uint64_t hash = hash_of(key);

    return m->slot_count != 0 ? first_match(*slot_of(m, hash), hash, key) : NULL;
}

struct map_node *map_find_next(const struct map_node *node)
{
    return first_match(node->next, node->hash, node->key);
}

void map_each(struct map *m, void (*fn)(void *arg, struct map_node *node), void *arg)
{
    for (size_t i = 0; i < m->slot_count; i++) {
        struct map_node *node = m->slots[i];

        while (node != NULL) {
            struct map_node *next = node->next;

            fn(arg, node);
            node = next;
        }
    }
}
