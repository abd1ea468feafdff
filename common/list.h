/* list.h - an intrusive doubly linked list with a sentinel head.
 *
 * A node that is on no list points at itself, so list_del() may be called twice.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *prev;
    struct list *next;
};

#define LIST_OF(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))
/* The body may delete `it`. */
#define LIST_EACH(head, it) \
    for (struct list *it = (head)->next, *it##_next = it->next; it != (head); \
         it = it##_next, it##_next = it->next)

static inline void list_init(struct list *l)
{
    l->prev = l;
    l->next = l;
}

static inline bool list_empty(const struct list *l)
{
    return l->next == l;
}

static inline void list_add_tail(struct list *head, struct list *node)
{
    node->prev = head->prev;
    node->next = head;
    head->prev->next = node;
    head->prev = node;
}

static inline void list_del(struct list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

/* Moves every node of `from` to the end of `to`. */
static inline void list_splice(struct list *to, struct list *from)
{
    if (list_empty(from))
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    list_init(from);
}
