#include "worker/report.h"

#include "common/clock.h"
#include "tests/lib/hand.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <event2/event.h>
#include <stdlib.h>

static struct bench b;
static struct hand h;
static struct report *r;

TEST(the_backoff_doubles_up_to_an_hour_and_is_never_less_than_half)
{
    static const struct {
        uint64_t base;
        unsigned attempt;
        uint64_t most;
    } rows[] = {{5000, 1, 5000},      {5000, 2, 10000}, {5000, 4, 40000},
                {5000, 100, 3600000}, {0, 5, 0},        {1ULL << 60, 1, 3600000}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int n = 0; n < 200; n++) {
            uint64_t ms = report_backoff(rows[i].base, rows[i].attempt);

            CHECK(ms <= rows[i].most && ms * 100 >= rows[i].most * 50);
        }
}

static void on_said(void *arg, struct slot *s, struct span message, struct span progress)
{
    report_said(arg, s, message, progress);
}

static void on_settling(void *arg, struct slot *s)
{
    report_settle(arg, s);
}

static void on_ticked(void *arg, enum err e, uint64_t next_ms, unsigned done)
{
    (void)arg;
    (void)next_ms;
    (void)done;
    CHECK(e == ERR_OK);
}

/* A task in hand, claimed for real. */
static const char *take(uint64_t attempts)
{
    const char *id = bench_create(&b, &(struct bench_create){.tool = "run", .attempts = attempts});

    CHECK(hand_claim(&h, &b, 0, 1) == 1);
    return id;
}

static void begin(void)
{
    bench_start(&b, 0);
    hand_open(&h, 10, ",\"backoff\":\"50ms\"");
    r = report_new(b.base, b.store, h.slots);
    h.on_said = on_said;
    h.on_settling = on_settling;
    h.arg = r;
}

static void finish(void)
{
    store_free(b.store);
    hand_close(&h);
    report_free(r);
    b.store = NULL;
    bench_stop(&b);
}

static bool is_empty(void *arg)
{
    (void)arg;
    return slots_count(h.slots) == 0;
}

static void say(unsigned job, const char *message, const char *progress)
{
    slots_sink.said(h.jobs[job], span_of(message), span_of(progress));
}

static bool is_third(void *arg)
{
    struct bench_task t;

    return bench_read(&b, *(const char **)arg, &t) && strcmp(t.message, "third") == 0;
}

TEST(B10_the_newest_of_what_comes_too_fast_is_stored)
{
    struct bench_task t;
    struct slot *s;
    const char *id;

    begin();
    id = take(3);
    s = slots_find_id(h.slots, span_of(id));
    say(0, "first", "{\"progress\":1}");
    CHECK(bench_read(&b, id, &t));
    CHECK(strcmp(t.message, "first") == 0 && strcmp(t.progress, "{\"progress\":1}") == 0);
    s->told_ms = clock_mono_ms() + 60000; /* as if the machine were fast */
    say(0, "second", NULL);
    say(0, "third", "{\"progress\":2}");
    say(0, NULL, "{\"progress\":3}");
    CHECK(bench_read(&b, id, &t) && strcmp(t.message, "first") == 0);
    s->told_ms = 0;
    CHECK(turn_until(b.base, 10000, is_third, &id));
    CHECK(bench_read(&b, id, &t) && strcmp(t.progress, "{\"progress\":3}") == 0);
    say(0, "last", NULL);
    say(0, "very last", NULL);
    report_flush(r, s);
    CHECK(bench_read(&b, id, &t) && strcmp(t.message, "very last") == 0);
    finish();
}

static bool is_stopped(void *arg)
{
    (void)arg;
    return h.stops > 0;
}

TEST(a_report_on_a_task_that_is_not_ours_any_more_drops_the_job)
{
    const char *id;

    begin();
    id = take(3);
    CHECK(bench_cancel(&b, id));
    say(0, "hello", NULL);
    CHECK(turn_until(b.base, 10000, is_stopped, NULL));
    CHECK(h.stops == 1 && !slot_is_ours(slots_find_id(h.slots, span_of(id))));
    hand_end(&h, 0, "{}", false);
    finish();
}

/* Its backoff is over. */
static bool is_back(void *arg)
{
    (void)arg;
    store_tick(b.store, 0, on_ticked, NULL);
    return hand_claim(&h, &b, 0, 1) == 1;
}

TEST(a_retry_comes_back_and_the_last_one_is_a_dead_letter)
{
    struct bench_task t;
    const char *id;

    begin();
    id = take(2);
    hand_fail(&h, 0, "no \"upstream\"");
    CHECK(turn_until(b.base, 10000, is_empty, NULL));
    CHECK(bench_read(&b, id, &t) && t.state == TASK_WORKING);
    CHECK(strcmp(t.message, "no \"upstream\"") == 0);
    REQUIRE(wait_for(10000, is_back, NULL));
    REQUIRE(h.started == 2 && h.jobs[1]->attempt == 2);
    hand_fail(&h, 1, "again");
    CHECK(turn_until(b.base, 10000, is_empty, NULL));
    CHECK(bench_read(&b, id, &t) && t.state == TASK_ERROR);
    CHECK(strcmp(t.outcome, "{\"code\":-32603,\"message\":\"again\"}") == 0);
    finish();
}

TEST(a_release_puts_it_back_uncharged)
{
    const char *id;

    begin();
    id = take(3);
    slot_stop(slots_find_id(h.slots, span_of(id)), SLOT_HANDED_BACK, 10);
    hand_end(&h, 0, "{}", false);
    CHECK(turn_until(b.base, 10000, is_empty, NULL));
    REQUIRE(hand_claim(&h, &b, 0, 1) == 1);
    CHECK(strcmp(h.jobs[1]->id, id) == 0 && h.jobs[1]->attempt == 1);
    finish();
}

TEST(B7_what_redis_has_not_taken_is_sent_when_it_is_back)
{
    struct bench_task t;
    const char *id;

    begin();
    id = take(3);
    bench_redis_goes(&b);
    hand_fail(&h, 0, "while away");
    turn_for(b.base, 50);
    CHECK(slots_count(h.slots) == 1);
    bench_redis_comes(&b);
    report_ready(r);
    CHECK(turn_until(b.base, 10000, is_empty, NULL));
    CHECK(bench_read(&b, id, &t) && strcmp(t.message, "while away") == 0);
    finish();
}

static bool is_stored(void *arg)
{
    return strcmp(bench_field(&b, *(const char **)arg, "m"), "hello") == 0;
}

static bool is_answered(void *arg)
{
    const struct slot *s = slots_find_id(h.slots, span_of(*(const char **)arg));

    return s == NULL || !s->is_telling;
}

TEST(an_end_under_way_is_not_told_twice_when_a_report_before_it_is_answered)
{
    struct bench_task t;
    const char *id;

    begin();
    id = take(3);
    say(0, "hello", NULL);
    for (int i = 0; i < 3; i++) /* it leaves; the answer is not looked at yet */
        (void)event_base_loop(b.base, EVLOOP_NONBLOCK);
    CHECK(wait_for(10000, is_stored, &id));
    hand_fail(&h, 0, "no upstream");
    CHECK(turn_until(b.base, 10000, is_answered, &id));
    report_ready(r); /* as when Redis is back, or the time for other reports has come */
    CHECK(turn_until(b.base, 10000, is_empty, NULL));
    turn_for(b.base, 50);
    CHECK(bench_read(&b, id, &t) && strcmp(bench_field(&b, id, "tr"), "1") == 0);
    finish();
}
