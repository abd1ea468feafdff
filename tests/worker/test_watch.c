#include "worker/watch.h"

#include "common/clock.h"
#include "tests/lib/hand.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <event2/event.h>

#define ID "00abcdefghijklmnopqrstuv"

enum { LEASE_MS = 2000 };

static struct hand h;
static struct event_base *base;
static struct watch *w;

static void on_taken(void *arg)
{
    watch_begin(arg);
}

static void begin(const char *more)
{
    hand_open(&h, 2, more);
    base = event_base_new();
    w = watch_new(base, h.slots, LEASE_MS);
    h.on_taken = on_taken;
    h.arg = w;
}

static void finish(void)
{
    for (unsigned i = 0; i < h.started; i++)
        if (h.jobs[i] != NULL)
            hand_end(&h, i, "{}", false);
    watch_free(w);
    hand_close(&h);
    event_base_free(base);
}

static bool is_stopped(void *arg)
{
    (void)arg;
    return h.stops > 0;
}

static bool is_settled(void *arg)
{
    (void)arg;
    return h.settled > 0;
}

static struct slot *take(uint64_t ttl_ms)
{
    return hand_take(&h, ID, 1, ttl_ms);
}

TEST(B4_a_passed_ttl_stops_the_job_and_forgets_the_task)
{
    struct slot *s;

    begin("");
    s = take(200);
    CHECK(turn_until(base, 10000, is_stopped, NULL));
    CHECK(!slot_is_ours(s) && h.stop_grace_ms == 5000);
    finish();
}

TEST(a_passed_timeout_stops_the_job_with_its_grace)
{
    struct slot *s;

    begin(",\"timeout\":\"200ms\",\"grace\":\"3s\"");
    s = take(60000);
    CHECK(turn_until(base, 10000, is_stopped, NULL));
    CHECK(slot_is_ours(s) && s->fate == SLOT_TIMED_OUT && h.stop_grace_ms == 3000);
    finish();
}

static bool is_stopped_before_its_lease_ends(void)
{
    uint64_t began = clock_mono_ms();
    uint64_t took;
    struct slot *s;

    begin("");
    s = take(60000);
    CHECK(turn_until(base, 10000, is_stopped, NULL));
    took = clock_mono_ms() - began;
    CHECK(took >= LEASE_MS * 8 / 10);
    CHECK(s->fate == SLOT_HANDED_BACK && h.stop_grace_ms == LEASE_MS / 10);
    finish();
    return took < LEASE_MS;
}

TEST(B6_a_lease_that_is_not_renewed_stops_the_job_before_it_ends)
{
    CHECK(in_time(is_stopped_before_its_lease_ends));
}

TEST(a_renewed_lease_keeps_the_job)
{
    struct slot *s;

    begin("");
    s = take(60000);
    for (int i = 0; i < 22; i++) {
        turn_for(base, 100);
        slot_renewed(s, clock_mono_ms());
        slot_renewed(s, 1); /* an older one changes nothing */
    }
    CHECK(h.stops == 0);
    finish();
}

static bool deaf_is_left_in_time(void)
{
    uint64_t began = clock_mono_ms();
    uint64_t took;
    struct slot *s;

    begin(",\"timeout\":\"100ms\",\"grace\":\"100ms\"");
    s = take(60000);
    CHECK(turn_until(base, 10000, is_settled, NULL));
    took = clock_mono_ms() - began;
    CHECK(s->is_deaf && s->verb == SLOT_FINISH);
    slot_settled(s);
    finish();
    return took >= 1200;
}

TEST(a_handler_that_is_deaf_to_its_timeout_does_not_hold_up_the_result)
{
    CHECK(in_time(deaf_is_left_in_time));
}

TEST(nothing_in_hand_is_no_work)
{
    begin("");
    CHECK(event_base_loop(base, EVLOOP_NONBLOCK) == 1); /* no event is left */
    finish();
}

TEST(a_call_that_may_not_be_made_twice_is_told_once_that_its_lease_is_lost)
{
    begin(",\"attempts\":1");
    slots_runner(h.slots, TOOL_MCP, &h.runner);
    h.tools.v[0]->run = TOOL_MCP; /* of a wrapped server: it counts whatever becomes of it */
    (void)take(60000);
    CHECK(turn_until(base, 10000, is_stopped, NULL));
    turn_for(base, 300);
    CHECK(h.stops == 1);
    finish();
}
