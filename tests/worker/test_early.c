#include "worker/early.h"

#include "tests/lib/hand.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <event2/event.h>
#include <stdio.h>

#define ID "00abcdefghijklmnopqrstuv"

static struct hand h;
static struct early *e;
static struct event_base *base;

static bool on_early(void *arg, struct span task)
{
    struct slot *s = slots_find_id(h.slots, task);

    (void)arg;
    if (s == NULL || s->hold.state != SLOT_HELD)
        return false;
    slot_drop(s, RUN_UNWANTED);
    return true;
}

static void on_taken(void *arg)
{
    early_taken(arg);
}

static void begin(void)
{
    base = event_base_new();
    hand_open(&h, 4, "");
    e = early_new(base, on_early, NULL);
    h.on_taken = on_taken;
    h.arg = e;
}

static void finish(void)
{
    hand_close(&h);
    early_free(e);
    event_base_free(base);
}

TEST(B5_a_job_that_comes_after_its_cancellation_is_stopped_at_once)
{
    begin();
    early_cancelled(e, SPAN(ID));
    (void)hand_take(&h, ID, 7, 60000);
    (void)hand_take(&h, "00abcdefghijklmnopqrstuw", 7, 60000);
    CHECK(h.started == 2 && h.stops == 0);
    (void)event_base_loop(base, EVLOOP_NONBLOCK);
    CHECK(h.stops == 1 && h.jobs[0]->stop == RUN_UNWANTED);
    hand_end(&h, 0, "{}", false);
    CHECK(slots_count(h.slots) == 1 && h.settled == 0);
    (void)hand_take(&h, "00abcdefghijklmnopqrstux", 7, 60000);
    (void)event_base_loop(base, EVLOOP_NONBLOCK);
    CHECK(h.stops == 1);
    finish();
}

TEST(B5_an_attempt_that_is_over_does_not_hide_the_cancellation_of_the_next)
{
    begin();
    slot_drop(hand_take(&h, ID, 7, 60000), RUN_PASSED_ON); /* its runner is not still yet */
    CHECK(h.stops == 1);
    early_cancelled(e, SPAN(ID));
    (void)hand_take(&h, ID, 9, 60000);
    (void)event_base_loop(base, EVLOOP_NONBLOCK);
    CHECK(h.stops == 2 && h.jobs[1]->stop == RUN_UNWANTED && h.jobs[0]->stop == RUN_PASSED_ON);
    finish();
}

TEST(B5_a_job_in_hand_is_stopped_at_once)
{
    begin();
    (void)hand_take(&h, ID, 7, 60000);
    early_cancelled(e, SPAN(ID));
    CHECK(h.stops == 1 && h.jobs[0]->stop == RUN_UNWANTED);
    finish();
}

TEST(of_many_that_came_early_the_newest_are_remembered)
{
    char id[32];

    begin();
    for (int i = 0; i < 100; i++) {
        (void)snprintf(id, sizeof(id), "00abcdefghijklmnopqrst%02d", i);
        early_cancelled(e, span_of(id));
    }
    (void)hand_take(&h, "00abcdefghijklmnopqrst01", 7, 60000);
    (void)hand_take(&h, "00abcdefghijklmnopqrst99", 7, 60000);
    (void)event_base_loop(base, EVLOOP_NONBLOCK);
    CHECK(h.stops == 1 && h.jobs[1]->stop == RUN_UNWANTED);
    finish();
}
