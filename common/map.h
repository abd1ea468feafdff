/* map.h - an intrusive hash table keyed by bytes; several nodes may share one key.
 *
 * The key's bytes stay the node owner's and must outlive the node's place in the map.
 */
#pragma once

#include "common/span.h"

#include <stdint.h>

struct map_node {
    struct map_node *next;
    struct span key;
    uint64_t hash;
};

struct map {
    struct map_node **slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t n;
};

#define MAP_OF(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

void map_init(struct map *m);
void map_fini(struct map *m); /* frees the table, not the nodes */
void map_add(struct map *m, struct map_node *node, struct span key);
void map_del(struct map *m, struct map_node *node); /* harmless when it is not in */
struct map_node *map_find(const struct map *m, struct span key); /* any of that key */
struct map_node *map_find_next(const struct map_node *node); /* the next of the same key */
/* Calls fn for every node; fn may delete that node and no other. */
void map_each(struct map *m, void (*fn)(void *arg, struct map_node *node), void *arg);
