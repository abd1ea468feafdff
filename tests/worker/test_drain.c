#include "worker/drain.h"

#include "common/clock.h"
#include "tests/lib/hand.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"
#include "worker/report.h"

#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>

static struct bench b;
static struct hand h;
static struct lanes *lanes;
static struct report *report;
static struct announce *announce;
static struct drain *drain;
static struct span tool_name = {"run", 3};
static struct store_worker self;
static unsigned done;

static void on_settling(void *arg, struct slot *s)
{
    (void)arg;
    if (s->verb == SLOT_FINISH)
        lanes_finish(lanes, s);
    else
        report_settle(report, s);
}

static void on_done(void *arg)
{
    (void)arg;
    done++;
}

static bool is_done(void *arg)
{
    (void)arg;
    return done > 0;
}

static bool has_started(void *arg)
{
    return h.started >= *(const unsigned *)arg;
}

static bool is_stopped(void *arg)
{
    (void)arg;
    return h.stops > 0;
}

static void begin(unsigned jobs)
{
    bench_start(&b, 0);
    self = (struct store_worker){.wid = SPAN("bench000"),
                                 .pool = SPAN("pool"),
                                 .tools = &tool_name,
                                 .tool_count = 1,
                                 .lease_ms = 10000};
    hand_open(&h, 4, "");
    lanes = lanes_new(b.base, b.store, h.slots, &self);
    report = report_new(b.base, b.store, h.slots);
    announce = announce_new(b.base, b.store, h.slots, &self, &h.tools);
    h.on_settling = on_settling;
    for (unsigned i = 0; i < jobs; i++)
        (void)bench_call(&b, "run", "{}");
    lanes_ready(lanes);
    CHECK(turn_until(b.base, 10000, has_started, &jobs));
    done = 0;
}

static void begin_drain(uint64_t grace_ms)
{
    const struct drain_conf conf = {.store = b.store,
                                    .slots = h.slots,
                                    .lanes = lanes,
                                    .announce = announce,
                                    .self = &self,
                                    .grace_ms = grace_ms,
                                    .on_done = on_done};

    drain = drain_begin(b.base, &conf);
}

/* Is the task ready again, and its attempt not charged? */
static bool is_handed_back(const char *id)
{
    redisReply *r = redisCommand(b.redis.c, "LRANGE errand:{0}:rq:run:1 0 -1");
    bool ready = r->elements == 1 && strcmp(r->element[0]->str, id) == 0;

    freeReplyObject(r);
    return ready && strtol(bench_field(&b, id, "tr"), NULL, 10) == 0;
}

static void finish(void)
{
    store_free(b.store);
    b.store = NULL;
    hand_close(&h);
    drain_free(drain);
    announce_free(announce);
    report_free(report);
    lanes_free(lanes);
    bench_stop(&b);
}

TEST(B22_an_idle_worker_is_done_at_once)
{
    begin(0);
    begin_drain(20000);
    CHECK(turn_until(b.base, 10000, is_done, NULL));
    CHECK(done == 1);
    finish();
}

static bool is_calm(void *arg)
{
    (void)arg;
    return !lanes_are_claiming(lanes);
}

TEST(B22_a_job_that_was_on_its_way_is_not_left_to_its_lease)
{
    struct bench_task t;
    char id[32];

    begin(0);
    (void)snprintf(id, sizeof(id), "%s", bench_call(&b, "run", "{}"));
    CHECK(turn_until(b.base, 10000, is_calm, NULL));
    lanes_wake(lanes, 0); /* unless it has been seen already */
    while (h.started == 0 && !lanes_are_claiming(lanes))
        (void)event_base_loop(b.base, EVLOOP_NONBLOCK);
    begin_drain(20000);
    CHECK(turn_until(b.base, 10000, has_started, &(unsigned){1}));
    turn_for(b.base, 100);
    CHECK(done == 0);
    hand_end(&h, 0, "{\"content\":[]}", false);
    CHECK(turn_until(b.base, 10000, is_done, NULL));
    CHECK(bench_read(&b, id, &t) && t.state == TASK_RESULT);
    finish();
}

TEST(B22_a_job_that_ends_in_time_is_told_before_the_end)
{
    struct bench_task t;
    char id[32];

    begin(1);
    memcpy(id, h.jobs[0]->id, 25);
    begin_drain(20000);
    turn_for(b.base, 100);
    CHECK(done == 0 && h.stops == 0);
    hand_end(&h, 0, "{\"content\":[]}", false);
    CHECK(turn_until(b.base, 10000, is_done, NULL));
    CHECK(bench_read(&b, id, &t) && t.state == TASK_RESULT);
    finish();
}

static bool is_over_within_1600_ms(void)
{
    struct bench_task t;
    uint64_t began;
    uint64_t took;
    char id[32];

    begin(1);
    memcpy(id, h.jobs[0]->id, 25);
    began = clock_mono_ms();
    begin_drain(1600);
    CHECK(turn_until(b.base, 10000, is_stopped, NULL));
    CHECK(h.stop_grace_ms > 0);
    took = clock_mono_ms() - began + h.stop_grace_ms;
    hand_end(&h, 0, "{}", false);
    CHECK(turn_until(b.base, 10000, is_done, NULL));
    took = clock_mono_ms() - began > took ? clock_mono_ms() - began : took;
    CHECK(bench_read(&b, id, &t) && t.state == TASK_WORKING);
    CHECK(is_handed_back(id));
    finish();
    return took <= 1600;
}

TEST(B22_what_still_runs_is_stopped_and_handed_back_within_the_grace)
{
    CHECK(in_time(is_over_within_1600_ms));
}

static bool is_handed_back_in_time(void)
{
    uint64_t began;
    uint64_t took;
    char id[32];

    begin(1);
    memcpy(id, h.jobs[0]->id, 25);
    began = clock_mono_ms();
    begin_drain(1200);
    CHECK(turn_until(b.base, 10000, is_done, NULL));
    took = clock_mono_ms() - began;
    CHECK(h.stops == 1);
    CHECK(is_handed_back(id));
    hand_end(&h, 0, "{}", false);
    finish();
    return took <= 1250;
}

TEST(B22_a_handler_that_does_not_stop_is_handed_back_at_the_end)
{
    CHECK(in_time(is_handed_back_in_time));
}

TEST(B22_a_call_that_may_not_be_made_twice_is_not_handed_back_once_begun)
{
    char id[32];

    begin(1);
    memcpy(id, h.jobs[0]->id, 25);
    slots_runner(h.slots, TOOL_MCP, &h.runner);
    h.tools.v[0]->run = TOOL_MCP; /* of a wrapped server, and not idempotent */
    h.tools.v[0]->attempts = 1;
    begin_drain(1200);
    CHECK(turn_until(b.base, 10000, is_done, NULL));
    CHECK(h.stops == 1 && !is_handed_back(id));
    hand_end(&h, 0, "{}", false);
    finish();
}

static bool ends_in_time_without_redis(void)
{
    uint64_t began;
    uint64_t took;

    begin(1);
    bench_redis_goes(&b);
    began = clock_mono_ms();
    begin_drain(800);
    CHECK(turn_until(b.base, 10000, is_done, NULL));
    took = clock_mono_ms() - began;
    hand_end(&h, 0, "{}", false);
    finish();
    return took <= 850;
}

TEST(without_redis_it_ends_within_the_grace_too)
{
    CHECK(in_time(ends_in_time_without_redis));
}

static bool ends_at_once(void)
{
    bool ok;

    begin(1);
    begin_drain(0);
    ok = turn_until(b.base, 400, is_done, NULL);
    CHECK(turn_until(b.base, 10000, is_done, NULL));
    hand_end(&h, 0, "{}", false);
    finish();
    return ok;
}

TEST(a_grace_of_nothing_ends_at_once)
{
    CHECK(in_time(ends_at_once));
}
