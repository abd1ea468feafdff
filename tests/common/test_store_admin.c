#include "common/store_admin.h"

#include "common/id.h"
#include "common/registry.h"
#include "common/store_job.h"
#include "common/store_task.h"
#include "tests/lib/kit.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

static struct kit kit;
static struct kit_store a;

static const struct span OWNER = {"ownerownerowner1", 16};
static const struct span TOOLS[] = {{"tool", 4}};
static const struct store_worker WORKER = {.wid = {"worker01", 8},
                                           .pool = {"pool", 4},
                                           .tools = TOOLS,
                                           .tool_count = 1,
                                           .lease_ms = 10000};

static struct {
    struct kit_answer a;
    struct store_totals totals;
    unsigned queues;
    struct store_queue queue;
    char tool[KIT_TEXT];
    unsigned dead;
    char entry[KIT_TEXT];
    char why[KIT_TEXT];
    char dead_tool[KIT_TEXT];
    char dead_id[KIT_TEXT];
    uint64_t attempts;
    bool expired;
    char id[KIT_TEXT];
    uint64_t fence;
    char params[KIT_TEXT];
    unsigned jobs;
} g;

static void on_queue(void *arg, enum err e, const struct store_totals *totals,
                     const struct store_queue *queues, size_t count)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.totals = *totals;
    g.queues = (unsigned)count;
    if (count > 0) {
        g.queue = queues[0];
        kit_copy(g.tool, queues[0].tool);
    }
}

static void on_dead(void *arg, enum err e, const struct store_dead *dead, size_t count)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.dead = (unsigned)count;
    if (count == 0)
        return;
    kit_copy(g.entry, dead[0].entry);
    kit_copy(g.why, dead[0].why);
    kit_copy(g.dead_tool, dead[0].tool);
    kit_copy(g.dead_id, dead[0].id);
    g.attempts = dead[0].attempts;
    g.expired = dead[0].expired;
}

static void on_requeued(void *arg, enum err e, struct span id)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    kit_copy(g.id, id);
}

static void on_task(void *arg, enum err e, const struct store_result *r)
{
    (void)arg;
    (void)r;
    g.a.calls++;
    g.a.e = e;
}

static void on_claim(void *arg, enum err e, const struct store_job *jobs, size_t count)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.jobs = (unsigned)count;
    if (count > 0) {
        kit_copy(g.id, jobs[0].id);
        kit_copy(g.params, jobs[0].params);
        g.fence = jobs[0].fence;
    }
}

static void on_verdict(void *arg, enum err e, enum store_verdict v)
{
    (void)arg;
    (void)v;
    g.a.calls++;
    g.a.e = e;
}

static void on_announced(void *arg, enum err e, const struct registry_announced *r)
{
    (void)arg;
    (void)r;
    g.a.calls++;
    g.a.e = e;
}

static bool answered(enum err e)
{
    unsigned calls = g.a.calls;

    return kit_wait(&kit, &g.a, calls + 1) && g.a.e == e;
}

static unsigned partition(void)
{
    return store_partition_of_owner(a.s, OWNER);
}

static bool start(void)
{
    struct registry_worker me = {
        .wid = WORKER.wid, .pool = WORKER.pool, .info = SPAN("{}"), .started_ms = 1};
    struct registry_tool tool = {
        .name = SPAN("tool"), .definition = SPAN("{}"), .policy = SPAN("{}")};

    memset(&g, 0, sizeof(g));
    kit_start(&kit, NULL);
    if (!kit_store_open(&a, &kit, (struct store_conf){.partitions = 4}))
        return false;
    registry_announce(a.s, &me, &tool, 1, on_announced, NULL);
    return answered(ERR_OK);
}

static void stop(void)
{
    kit_store_free(&a);
    kit_stop(&kit);
}

static bool create(uint64_t ttl_ms)
{
    char id[ID_LEN + 1];
    struct store_create c = {.owner = OWNER,
                             .tool = SPAN("tool"),
                             .priority = TASK_NORMAL,
                             .ttl_ms = ttl_ms,
                             .attempts = 1,
                             .dialect = 'L',
                             .params = SPAN("{\"k\":1}")};

    id_new(id, partition());
    c.id = span_of(id);
    store_create(a.s, &c, on_task, NULL);
    return answered(ERR_OK);
}

static bool claim(void)
{
    store_claim(a.s, partition(), &WORKER, 1, on_claim, NULL);
    return answered(ERR_OK) && g.jobs == 1;
}

/* Makes one dead letter. */
static bool die(uint64_t ttl_ms)
{
    struct store_held h;
    char id[KIT_TEXT];

    if (!create(ttl_ms) || !claim())
        return false;
    memcpy(id, g.id, sizeof(id));
    h = (struct store_held){span_of(id), g.fence};
    store_retry(a.s, &h, 1, SPAN("upstream said no"), SPAN("{\"code\":-1,\"message\":\"no\"}"),
                on_verdict, NULL);
    return answered(ERR_OK);
}

static bool list(void)
{
    store_dead_list(a.s, partition(), 10, on_dead, NULL);
    return answered(ERR_OK);
}

TEST(a_queue_is_counted)
{
    REQUIRE(start());
    REQUIRE(create(60000) && create(60000) && create(60000) && claim());
    store_queue(a.s, partition(), on_queue, NULL);
    REQUIRE(answered(ERR_OK));
    CHECK(g.totals.running == 1 && g.totals.tasks == 3 && g.totals.active == 3);
    CHECK(g.totals.delayed == 0 && g.totals.parked == 0 && g.totals.dead == 0);
    CHECK(g.queues == 1 && strcmp(g.tool, "tool") == 0);
    CHECK(g.queue.ready[TASK_NORMAL] == 2 && g.queue.ready[TASK_HIGH] == 0);
    stop();
}

TEST(an_empty_installation_has_an_empty_queue)
{
    memset(&g, 0, sizeof(g));
    kit_start(&kit, NULL);
    REQUIRE(kit_store_open(&a, &kit, (struct store_conf){.observe = true}));
    store_queue(a.s, 0, on_queue, NULL);
    REQUIRE(answered(ERR_OK));
    CHECK(g.queues == 0 && g.totals.tasks == 0);
    stop();
}

TEST(a_dead_letter_says_what_died_and_why)
{
    REQUIRE(start());
    REQUIRE(die(60000) && list());
    CHECK(g.dead == 1 && strcmp(g.dead_tool, "tool") == 0 && g.attempts == 1 && !g.expired);
    CHECK(strlen(g.dead_id) == ID_LEN && g.why[0] != '\0');
    CHECK(g.entry[0] == (char)('0' + partition()) && g.entry[1] == '-');
    store_queue(a.s, partition(), on_queue, NULL);
    REQUIRE(answered(ERR_OK));
    CHECK(g.totals.dead == 1 && g.totals.ended[TASK_ERROR] == 1);
    stop();
}

TEST(a_dead_letter_is_requeued_as_a_new_task_once)
{
    char entry[KIT_TEXT];
    char id[KIT_TEXT];

    REQUIRE(start());
    REQUIRE(die(60000) && list() && g.dead == 1);
    memcpy(entry, g.entry, sizeof(entry));
    store_dead_requeue(a.s, span_of(entry), on_requeued, NULL);
    REQUIRE(answered(ERR_OK));
    CHECK(strlen(g.id) == ID_LEN && strcmp(g.id, g.dead_id) != 0);
    memcpy(id, g.id, sizeof(id));
    REQUIRE(claim());
    CHECK(strcmp(g.id, id) == 0 && strcmp(g.params, "{\"k\":1}") == 0);
    REQUIRE(list() && g.dead == 0);
    store_dead_requeue(a.s, span_of(entry), on_requeued, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    stop();
}

static bool is_expired(void *arg)
{
    (void)arg;
    return list() && g.dead == 1 && g.expired;
}

TEST(an_expired_letter_cannot_be_requeued_but_dropped)
{
    char entry[KIT_TEXT];

    REQUIRE(start());
    REQUIRE(die(300) && list() && g.dead == 1);
    memcpy(entry, g.entry, sizeof(entry));
    REQUIRE(wait_for(10000, is_expired, NULL));
    store_dead_requeue(a.s, span_of(entry), on_requeued, NULL);
    REQUIRE(answered(ERR_TERMINAL));
    store_dead_drop(a.s, span_of(entry), on_requeued, NULL);
    REQUIRE(answered(ERR_OK));
    store_dead_drop(a.s, span_of(entry), on_requeued, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    stop();
}

TEST(a_name_that_is_no_letter_is_not_found)
{
    static const char *const names[] = {"",      "x",   "1",    "1-",           "-1",
                                        "9-1-1", "1-x", "1-1 ", "99999999-1-1", "1-1-1-1-"};

    REQUIRE(start());
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        store_dead_requeue(a.s, span_of(names[i]), on_requeued, NULL);
        CHECK(answered(ERR_NOT_FOUND));
        store_dead_drop(a.s, span_of(names[i]), on_requeued, NULL);
        CHECK(answered(ERR_NOT_FOUND));
    }
    stop();
}

TEST(every_admin_call_ends_once_when_redis_dies)
{
    REQUIRE(start());
    g.a.calls = 0;
    test_redis_kill(&kit.redis);
    store_queue(a.s, 0, on_queue, NULL);
    store_dead_list(a.s, 0, 10, on_dead, NULL);
    store_dead_requeue(a.s, SPAN("0-1-1"), on_requeued, NULL);
    store_dead_drop(a.s, SPAN("0-1-1"), on_requeued, NULL);
    REQUIRE(kit_wait(&kit, &g.a, 4));
    CHECK(g.a.e == ERR_UNAVAILABLE);
    turn_for(kit.base, 50);
    CHECK(g.a.calls == 4);
    stop();
}

TEST(totals_of_partitions_add_up_and_the_oldest_is_the_oldest_of_all)
{
    struct store_totals sum = {
        .running = 1, .dead = 2, .oldest_ready_ms = 50, .oldest_ms = {50, 7}};
    struct store_totals part = {
        .running = 3, .tasks = 4, .oldest_ready_ms = 20, .oldest_ms = {20, 9}};

    part.ended[TASK_RESULT] = 5;
    store_totals_add(&sum, &part);
    store_totals_add(&sum, &part);
    CHECK(sum.running == 7);
    CHECK(sum.tasks == 8);
    CHECK(sum.dead == 2);
    CHECK(sum.ended[TASK_RESULT] == 10);
    CHECK(sum.oldest_ready_ms == 50);
    CHECK(sum.oldest_ms[0] == 50);
    CHECK(sum.oldest_ms[1] == 9);
}
