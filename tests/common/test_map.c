#include "common/map.h"
#include "common/mem.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

struct item {
    int value;
    char key[24];
    struct map_node node;
};

static struct item *item_of(struct map_node *node)
{
    return MAP_OF(node, struct item, node);
}

static void add(struct map *m, struct item *it, const char *key)
{
    (void)snprintf(it->key, sizeof(it->key), "%s", key);
    map_add(m, &it->node, span_of(it->key));
}

TEST(an_empty_map_has_nothing_and_takes_every_question)
{
    struct item it = {0};
    struct map m;

    map_init(&m);
    CHECK(map_find(&m, SPAN("a")) == NULL);
    map_del(&m, &it.node);
    map_each(&m, NULL, NULL);
    CHECK(m.n == 0);
    map_fini(&m);
    map_fini(&m);
}

TEST(what_was_added_is_found_by_its_bytes)
{
    struct item a = {.value = 1};
    struct item b = {.value = 2};
    struct map m;

    map_init(&m);
    add(&m, &a, "a");
    map_add(&m, &b.node, SPAN("a\0b"));
    CHECK(map_find(&m, SPAN("a")) == &a.node);
    CHECK(map_find(&m, SPAN("a\0b")) == &b.node);
    CHECK(map_find(&m, SPAN("a\0")) == NULL);
    CHECK(map_find(&m, SPAN("")) == NULL);
    CHECK(m.n == 2);
    map_fini(&m);
}

TEST(an_empty_key_is_a_key)
{
    struct item a = {.value = 1};
    struct map m;

    map_init(&m);
    add(&m, &a, "");
    CHECK(map_find(&m, SPAN("")) == &a.node);
    CHECK(map_find(&m, SPAN("\0")) == NULL);
    map_fini(&m);
}

/* 5000 keys in a table that doubles: many slots are shared, and all keys stay found. */
TEST(thousands_of_keys_stay_found_while_the_table_grows_and_empties)
{
    enum { COUNT = 5000 };
    struct item *items = mem_zalloc(COUNT * sizeof(*items));
    size_t lost = 0;
    struct map m;

    map_init(&m);
    for (int i = 0; i < COUNT; i++) {
        char key[24];

        items[i].value = i;
        (void)snprintf(key, sizeof(key), "key-%d", i);
        add(&m, &items[i], key);
    }
    CHECK(m.n == COUNT);
    for (int i = 0; i < COUNT; i++)
        lost += map_find(&m, span_of(items[i].key)) != &items[i].node;
    for (int i = 0; i < COUNT; i += 2)
        map_del(&m, &items[i].node);
    CHECK(m.n == COUNT / 2);
    for (int i = 0; i < COUNT; i++)
        lost += map_find(&m, span_of(items[i].key)) != (i % 2 == 0 ? NULL : &items[i].node);
    CHECK(lost == 0);
    map_fini(&m);
    free(items);
}

static size_t count_key(struct map *m, const char *key, int *sum)
{
    size_t n = 0;

    *sum = 0;
    for (struct map_node *it = map_find(m, span_of(key)); it != NULL; it = map_find_next(it)) {
        *sum += item_of(it)->value;
        n++;
    }
    return n;
}

TEST(several_nodes_of_one_key_are_all_met_and_no_others)
{
    enum { COUNT = 300 };
    struct item *items = mem_zalloc(COUNT * sizeof(*items));
    struct map m;
    int sum;

    map_init(&m);
    for (int i = 0; i < COUNT; i++) {
        items[i].value = 1 << (i % 3);
        add(&m, &items[i], i % 3 == 0 ? "x" : i % 3 == 1 ? "y" : "z");
    }
    CHECK(count_key(&m, "x", &sum) == 100 && sum == 100);
    CHECK(count_key(&m, "y", &sum) == 100 && sum == 200);
    CHECK(count_key(&m, "z", &sum) == 100 && sum == 400);
    map_del(&m, &items[0].node);
    map_del(&m, &items[150].node);
    CHECK(count_key(&m, "x", &sum) == 98);
    CHECK(count_key(&m, "y", &sum) == 100);
    map_fini(&m);
    free(items);
}

TEST(deleting_what_is_not_there_does_no_harm)
{
    struct item a = {.value = 1};
    struct item b = {.value = 2};
    struct map m;

    map_init(&m);
    add(&m, &a, "a");
    map_del(&m, &b.node);
    CHECK(m.n == 1);
    map_del(&m, &a.node);
    map_del(&m, &a.node);
    CHECK(m.n == 0);
    CHECK(map_find(&m, SPAN("a")) == NULL);
    add(&m, &a, "again");
    CHECK(map_find(&m, SPAN("again")) == &a.node);
    map_fini(&m);
}

struct walk {
    struct map *m;
    int met;
    int sum;
};

static void on_node(void *arg, struct map_node *node)
{
    struct walk *w = arg;
    struct item *it = item_of(node);

    w->met++;
    w->sum += it->value;
    if (w->m != NULL) {
        map_del(w->m, node);
        free(it);
    }
}

TEST(a_walk_meets_every_node_once_and_may_free_each_as_it_goes)
{
    enum { COUNT = 1000 };
    struct map m;
    struct walk look = {0};
    struct walk clear = {.m = &m};

    map_init(&m);
    for (int i = 0; i < COUNT; i++) {
        struct item *it = mem_zalloc(sizeof(*it));
        char key[24];

        it->value = i;
        (void)snprintf(key, sizeof(key), "%d", i % 100);
        add(&m, it, key);
    }
    map_each(&m, on_node, &look);
    CHECK(look.met == COUNT && look.sum == COUNT * (COUNT - 1) / 2);
    CHECK(m.n == COUNT);
    map_each(&m, on_node, &clear);
    CHECK(clear.met == COUNT && clear.sum == look.sum);
    CHECK(m.n == 0);
    CHECK(map_find(&m, SPAN("5")) == NULL);
    map_fini(&m);
}
