#include "common/list.h"
#include "tests/lib/test.h"

struct item {
    int value;
    struct list node;
};

static struct item *item_of(struct list *l)
{
    return LIST_OF(l, struct item, node);
}

static void fill(struct list *head, struct item *items, int n)
{
    list_init(head);
    for (int i = 0; i < n; i++) {
        items[i].value = i;
        list_add_tail(head, &items[i].node);
    }
}

/* The list holds these values in this order, forwards and backwards. */
static bool holds(struct list *head, const int *values, int n)
{
    struct list *back = head->prev;
    int at = 0;

    LIST_EACH(head, it)
    {
        if (at == n || item_of(it)->value != values[at])
            return false;
        at++;
    }
    for (int i = n - 1; i >= 0; i--, back = back->prev)
        if (back == head || item_of(back)->value != values[i])
            return false;
    return at == n && back == head;
}

TEST(a_new_list_is_empty)
{
    struct list head;

    list_init(&head);
    CHECK(list_empty(&head));
    CHECK(holds(&head, NULL, 0));
}

TEST(what_is_added_stays_in_order)
{
    struct item items[3];
    struct list head;

    fill(&head, items, 3);
    CHECK(!list_empty(&head));
    CHECK(holds(&head, (const int[]){0, 1, 2}, 3));
}

TEST(a_node_leaves_from_any_place_and_twice_does_no_harm)
{
    struct item items[4];
    struct list head;

    fill(&head, items, 4);
    list_del(&items[1].node);
    CHECK(holds(&head, (const int[]){0, 2, 3}, 3));
    list_del(&items[1].node);
    CHECK(holds(&head, (const int[]){0, 2, 3}, 3));
    list_del(&items[0].node);
    list_del(&items[3].node);
    CHECK(holds(&head, (const int[]){2}, 1));
    list_del(&items[2].node);
    CHECK(list_empty(&head));
    list_add_tail(&head, &items[1].node);
    CHECK(holds(&head, (const int[]){1}, 1));
}

TEST(the_body_of_a_walk_may_delete_the_node_it_is_at)
{
    struct item items[5];
    struct list head;

    fill(&head, items, 5);
    LIST_EACH(&head, it)
    {
        if (item_of(it)->value % 2 == 0) {
            list_del(it);
            item_of(it)->node.next = NULL; /* as good as freed */
        }
    }
    CHECK(holds(&head, (const int[]){1, 3}, 2));
}

TEST(a_splice_moves_all_nodes_to_the_end)
{
    struct item a[2];
    struct item b[2];
    struct list to;
    struct list from;

    fill(&to, a, 2);
    fill(&from, b, 2);
    b[0].value = 2;
    b[1].value = 3;
    list_splice(&to, &from);
    CHECK(holds(&to, (const int[]){0, 1, 2, 3}, 4));
    CHECK(list_empty(&from));
}

TEST(a_splice_of_nothing_or_onto_nothing_is_right_too)
{
    struct item a[2];
    struct list to;
    struct list from;

    fill(&to, a, 2);
    list_init(&from);
    list_splice(&to, &from);
    CHECK(holds(&to, (const int[]){0, 1}, 2));
    list_splice(&from, &to);
    CHECK(holds(&from, (const int[]){0, 1}, 2));
    CHECK(list_empty(&to));
}
