#include "common/defer.h"

#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <event2/event.h>
#include <stdbool.h>
#include <string.h>

static struct defer *later;
static char order[16];
static unsigned again;

static void note(void *arg)
{
    (void)strncat(order, arg, sizeof(order) - strlen(order) - 1);
}

static void note_and_ask_again(void *arg)
{
    again++;
    if (again < 1000)
        defer_call(later, note_and_ask_again, arg);
}

static void free_it(void *arg)
{
    (void)arg;
    defer_free(later);
}

static bool is_done(void *arg)
{
    return strlen(order) >= *(const size_t *)arg;
}

static struct event_base *set_up(void)
{
    struct event_base *base = event_base_new();

    later = defer_new(base);
    order[0] = '\0';
    again = 0;
    return base;
}

TEST(calls_are_made_on_the_next_turn_in_order_and_never_inside)
{
    struct event_base *base = set_up();
    char a[] = "a";
    char b[] = "b";
    size_t want = 2;

    defer_call(later, note, a);
    defer_call(later, note, b);
    CHECK(order[0] == '\0');
    CHECK(turn_until(base, 10000, is_done, &want));
    CHECK(strcmp(order, "ab") == 0);
    turn_for(base, 20);
    CHECK(strcmp(order, "ab") == 0);
    defer_free(later);
    event_base_free(base);
}

TEST(what_asks_again_waits_a_turn_so_it_cannot_starve_the_loop)
{
    struct event_base *base = set_up();

    defer_call(later, note_and_ask_again, NULL);
    (void)event_base_loop(base, EVLOOP_ONCE);
    CHECK(again == 1);
    (void)event_base_loop(base, EVLOOP_ONCE);
    CHECK(again == 2);
    defer_free(later);
    event_base_free(base);
}

TEST(freed_from_inside_a_call_it_forgets_the_rest)
{
    struct event_base *base = set_up();
    char a[] = "a";

    defer_call(later, note, a);
    defer_call(later, free_it, NULL);
    defer_call(later, note, a);
    turn_for(base, 20);
    CHECK(strcmp(order, "a") == 0);
    event_base_free(base);
}

TEST(many_calls_are_all_made)
{
    struct event_base *base = set_up();

    again = 2000; /* so that none asks again */
    for (int i = 0; i < 500; i++)
        defer_call(later, note_and_ask_again, NULL);
    turn_for(base, 20);
    CHECK(again == 2500);
    defer_free(later);
    event_base_free(base);
}
