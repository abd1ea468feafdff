#include "worker/lease.h"

#include "common/clock.h"
#include "tests/lib/hand.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

static struct bench b;
static struct hand h;
static struct lease *lease;
static struct span tool_name = {"run", 3};
static struct store_worker self;

enum { LEASE_MS = 2000 };

static void on_claimed(void *arg, enum err e, const struct store_job *jobs, size_t count)
{
    (void)arg;
    CHECK(e == ERR_OK);
    for (size_t i = 0; i < count; i++)
        slots_take(h.slots, &jobs[i], store_partition_of_owner(b.store, SPAN("AAAAAAAAAAAAAAAA")),
                   clock_mono_ms());
}

static bool has_started(void *arg)
{
    return h.started >= *(const unsigned *)arg;
}

static void begin(unsigned n, unsigned partitions)
{
    bench_start(&b, partitions);
    self = (struct store_worker){.wid = SPAN("bench000"),
                                 .pool = SPAN("pool"),
                                 .tools = &tool_name,
                                 .tool_count = 1,
                                 .lease_ms = LEASE_MS};
    hand_open(&h, 100, "");
    lease = lease_new(b.base, b.store, h.slots, &self);
    for (unsigned i = 0; i < n; i++)
        (void)bench_call(&b, "run", "{}");
    store_claim(b.store, store_partition_of_owner(b.store, SPAN("AAAAAAAAAAAAAAAA")), &self, 64,
                on_claimed, NULL);
    CHECK(turn_until(b.base, 10000, has_started, &n));
}

static void finish(void)
{
    store_free(b.store);
    b.store = NULL;
    lease_free(lease);
    hand_close(&h);
    bench_stop(&b);
}

/* What the others in the installation do all the time. */
static void on_ticked(void *arg, enum err e, uint64_t next_ms, unsigned done)
{
    (void)arg;
    (void)e;
    (void)next_ms;
    (void)done;
}

static void tick_for(unsigned ms)
{
    uint64_t end = clock_mono_ms() + ms;

    while (clock_mono_ms() < end) {
        for (unsigned p = 0; p < store_partitions(b.store); p++)
            store_tick(b.store, p, on_ticked, NULL);
        turn_for(b.base, 20);
    }
}

TEST(B6_what_is_in_hand_is_renewed)
{
    begin(50, 3);
    tick_for(3 * LEASE_MS / 2);
    LIST_EACH(slots_list(h.slots), it)
    {
        const struct slot *s = LIST_OF(it, struct slot, node);

        CHECK(slot_is_ours(s) && clock_mono_ms() - s->leased_ms < LEASE_MS);
    }
    CHECK(h.stops == 0 && slots_count(h.slots) == 50);
    finish();
}

static bool is_stopped(void *arg)
{
    (void)arg;
    return h.stops > 0;
}

TEST(what_was_cancelled_is_dropped_by_the_next_beat)
{
    begin(2, 0);
    CHECK(bench_cancel(&b, h.jobs[1]->id));
    CHECK(turn_until(b.base, 10000, is_stopped, NULL));
    CHECK(h.stops == 1 && !slot_is_ours(slots_find_id(h.slots, span_of(h.jobs[1]->id))));
    CHECK(slot_is_ours(slots_find_id(h.slots, span_of(h.jobs[0]->id))));
    finish();
}

TEST(an_outcome_on_its_way_is_renewed_too)
{
    begin(1, 0);
    hand_end(&h, 0, "{}", false);
    tick_for(3 * LEASE_MS / 2);
    CHECK(h.settling->hold.state == SLOT_SETTLING);
    CHECK(clock_mono_ms() - h.settling->leased_ms < LEASE_MS);
    finish();
}

TEST(without_redis_nothing_is_renewed_and_nothing_breaks)
{
    uint64_t last;

    begin(1, 0);
    bench_redis_goes(&b);
    last = slots_find_id(h.slots, span_of(h.jobs[0]->id))->leased_ms;
    turn_for(b.base, LEASE_MS);
    CHECK(slots_find_id(h.slots, span_of(h.jobs[0]->id))->leased_ms == last);
    bench_redis_comes(&b);
    lease_ready(lease);
    finish();
}
