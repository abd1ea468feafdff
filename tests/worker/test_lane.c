#include "worker/lane.h"

#include "tests/lib/hand.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>

static struct bench b;
static struct hand h;
static struct lanes *lanes;
static struct span tool_name = {"run", 3};
static struct store_worker self;
static const char *const result = "{\"content\":[]}";

static void on_settling(void *arg, struct slot *s)
{
    lanes_finish(arg, s);
}

static void on_free(void *arg)
{
    lanes_kick(arg);
}

static void on_event(void *arg, const struct store_event *ev)
{
    if (ev->kind == STORE_EV_WAKE)
        lanes_wake(arg, ev->partition);
}

static void begin(unsigned slots, unsigned partitions)
{
    bench_start(&b, partitions);
    self = (struct store_worker){.wid = SPAN("bench000"),
                                 .pool = SPAN("pool"),
                                 .tools = &tool_name,
                                 .tool_count = 1,
                                 .lease_ms = 10000};
    hand_open(&h, slots, "");
    lanes = lanes_new(b.base, b.store, h.slots, &self);
    h.on_settling = on_settling;
    h.on_free = on_free;
    h.arg = lanes;
    b.on_event = on_event;
    b.arg = lanes;
}

static void finish(void)
{
    store_free(b.store);
    b.store = NULL;
    hand_close(&h);
    lanes_free(lanes);
    bench_stop(&b);
}

static void make(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        (void)bench_call(&b, "run", "{}");
}

static bool has_started(void *arg)
{
    return h.started >= *(const unsigned *)arg;
}

static bool wait_started(unsigned n)
{
    return turn_until(b.base, 10000, has_started, &n);
}

static bool is_empty(void *arg)
{
    (void)arg;
    return slots_count(h.slots) == 0;
}

static long calls_of(const char *function)
{
    redisReply *r = redisCommand(b.redis.c, "INFO commandstats");
    const char *at = strstr(r->str, function);
    long n = at != NULL ? strtol(at + strlen(function), NULL, 10) : 0;

    freeReplyObject(r);
    return n;
}

TEST(no_more_is_claimed_than_there_are_places)
{
    begin(3, 0);
    make(10);
    lanes_ready(lanes);
    CHECK(wait_started(3));
    turn_for(b.base, 600); /* polls come and go */
    CHECK(h.started == 3 && slots_room(h.slots) == 0);
    hand_end(&h, 1, result, false);
    CHECK(wait_started(4));
    turn_for(b.base, 100);
    CHECK(h.started == 4);
    finish();
}

/* More polls than one come between only while the machine is busy. */
static bool is_one_exchange(void)
{
    long before;
    unsigned finished;

    begin(10, 0);
    make(30);
    lanes_ready(lanes);
    CHECK(wait_started(10));
    before = calls_of("cmdstat_fcall:calls=");
    for (unsigned i = 0; i < 10; i++)
        hand_end(&h, i, result, false);
    CHECK(wait_started(20));
    finished = (unsigned)(calls_of("cmdstat_fcall:calls=") - before);
    CHECK(slots_count(h.slots) == 10);
    finish();
    return finished <= 3; /* one finish, and perhaps a poll */
}

TEST(what_ends_in_one_turn_goes_in_one_exchange_with_the_next_claim)
{
    CHECK(in_time(is_one_exchange));
}

TEST(a_result_and_its_error_are_stored)
{
    struct bench_task t;
    const char *one;
    const char *two;

    begin(2, 0);
    one = bench_call(&b, "run", "{}");
    two = bench_call(&b, "run", "{}");
    lanes_ready(lanes);
    CHECK(wait_started(2));
    hand_end(&h, 0, "{\"content\":[{\"type\":\"text\",\"text\":\"bad luck\"}],\"isError\":true}",
             true);
    hand_end(&h, 1, result, false);
    CHECK(turn_until(b.base, 10000, is_empty, NULL));
    CHECK(bench_read(&b, one, &t) && t.state == TASK_RESULT && t.is_error);
    CHECK(strcmp(t.message, "bad luck") == 0);
    CHECK(bench_read(&b, two, &t) && t.state == TASK_RESULT && !t.is_error);
    CHECK(strcmp(t.outcome, result) == 0);
    finish();
}

TEST(T_52_an_error_from_elsewhere_is_the_outcome_as_it_came)
{
    static const char error[] = "{\"code\": -32002,\"message\":\"no such thing\",\"data\":1e400}";
    struct bench_task t;
    const char *id;

    begin(1, 0);
    id = bench_call(&b, "run", "{}");
    lanes_ready(lanes);
    CHECK(wait_started(1));
    hand_end_error(&h, 0, error);
    CHECK(turn_until(b.base, 10000, is_empty, NULL));
    CHECK(bench_read(&b, id, &t) && t.state == TASK_ERROR);
    CHECK(strcmp(t.outcome, error) == 0 && strcmp(t.message, "no such thing") == 0);
    finish();
}

TEST(a_late_outcome_is_dropped)
{
    struct bench_task t;
    const char *id;

    begin(1, 0);
    id = bench_call(&b, "run", "{}");
    lanes_ready(lanes);
    CHECK(wait_started(1));
    CHECK(bench_cancel(&b, id));
    hand_end(&h, 0, result, false);
    CHECK(turn_until(b.base, 10000, is_empty, NULL));
    CHECK(bench_read(&b, id, &t) && t.state == TASK_CANCELLED);
    finish();
}

TEST(B7_outcomes_wait_for_redis_in_their_order)
{
    struct bench_task t;
    const char *ids[3];

    begin(3, 0);
    for (int i = 0; i < 3; i++)
        ids[i] = bench_call(&b, "run", "{}");
    lanes_ready(lanes);
    CHECK(wait_started(3));
    bench_redis_goes(&b);
    for (unsigned i = 0; i < 3; i++)
        hand_end(&h, i, result, false);
    turn_for(b.base, 300);
    CHECK(slots_count(h.slots) == 3);
    bench_redis_comes(&b);
    lanes_ready(lanes);
    CHECK(turn_until(b.base, 10000, is_empty, NULL));
    for (int i = 0; i < 3; i++)
        CHECK(bench_read(&b, ids[i], &t) && t.state == TASK_RESULT);
    finish();
}

TEST(an_idle_lane_is_woken)
{
    begin(1, 7);
    lanes_ready(lanes);
    turn_for(b.base, 100);
    make(1);
    CHECK(wait_started(1));
    finish();
}

TEST(a_draining_worker_claims_nothing_and_passes_wakes_on)
{
    begin(2, 0);
    lanes_ready(lanes);
    turn_for(b.base, 100);
    lanes_drain(lanes);
    make(1);
    turn_for(b.base, 600);
    CHECK(h.started == 0);
    finish();
}

TEST(a_large_result_is_stored)
{
    struct bench_task t;
    size_t n = 12 << 20;
    char *big = malloc(n + 1);
    const char *id;

    memset(big, 'x', n);
    memcpy(big, "{\"content\":[],\"x\":\"", 19);
    memcpy(big + n - 2, "\"}", 3);
    begin(2, 0);
    id = bench_call(&b, "run", "{}");
    make(1);
    lanes_ready(lanes);
    CHECK(wait_started(2));
    hand_end(&h, 0, big, false);
    hand_end(&h, 1, big, false);
    CHECK(turn_until(b.base, 10000, is_empty, NULL));
    CHECK(bench_read(&b, id, &t) && t.state == TASK_RESULT && t.outcome_n == n);
    free(big);
    finish();
}
