#include "common/store_task.h"

#include "common/mem.h"
#include "common/store_job.h"
#include "tests/lib/test.h"
#include "tests/lib/two.h"

#include <stdlib.h>
#include <string.h>

static void on_claim(void *arg, enum err e, const struct store_job *jobs, size_t count)
{
    struct two_got *g = arg;

    g->a.calls++;
    g->a.e = e;
    g->jobs = (unsigned)count;
    if (count > 0) {
        kit_copy(g->id, jobs[0].id);
        g->fence = jobs[0].fence;
    }
}

static void on_finish(void *arg, enum err e, const enum store_verdict *v, size_t count,
                      const struct store_job *jobs, size_t job_count)
{
    struct two_got *g = arg;

    (void)v;
    (void)jobs;
    (void)job_count;
    g->a.calls++;
    g->a.e = e;
    g->count = (unsigned)count;
}

static const struct span TOOLS[] = {{"tool", 4}};
static const struct store_worker WORKER = {.wid = {"worker01", 8},
                                           .pool = {"pool", 4},
                                           .tools = TOOLS,
                                           .tool_count = 1,
                                           .lease_ms = 10000};

static bool claim(struct span owner, struct two_got *g)
{
    unsigned calls = g->a.calls;

    store_claim(two.a.s, store_partition_of_owner(two.a.s, owner), &WORKER, 1, on_claim, g);
    return kit_wait(&two.kit, &g->a, calls + 1) && g->jobs == 1;
}

static bool finish(struct span owner, struct two_got *g, struct span outcome)
{
    struct store_outcome o = {.id = span_of(g->id),
                              .fence = g->fence,
                              .state = TASK_RESULT,
                              .message = SPAN("all done"),
                              .outcome = outcome};
    unsigned calls = g->a.calls;

    store_finish(two.a.s, store_partition_of_owner(two.a.s, owner), &WORKER, &o, 1, 0, on_finish,
                 g);
    return kit_wait(&two.kit, &g->a, calls + 1) && g->a.e == ERR_OK;
}

TEST(a_full_redis_refuses_new_tasks_and_ends_old_ones)
{
    struct two_got g = {.id = ""};
    struct store_create c;

    REQUIRE(two_start(1));
    c = two_plan(TWO_OWNER);
    REQUIRE(two_create(&two.a, &c, &g) && g.a.e == ERR_OK);
    free(kit_redis(&two.kit, "CONFIG SET maxmemory 1"));
    c.id = two_id(TWO_OWNER);
    REQUIRE(two_create(&two.a, &c, &g));
    CHECK(g.a.e == ERR_OUT_OF_SPACE);
    REQUIRE(claim(TWO_OWNER, &g));
    CHECK(finish(TWO_OWNER, &g, SPAN("{}")));
    two_stop();
}

TEST(a_result_comes_to_the_broker_that_waits)
{
    struct two_got g = {.id = ""};
    const struct kit_event *e;
    struct store_create c;

    REQUIRE(two_start(1));
    c = two_plan(TWO_OWNER);
    c.wait = true;
    REQUIRE(two_create(&two.a, &c, &g));
    REQUIRE(two_get(&two.b, (struct store_get){.id = c.id, .owner = TWO_OWNER, .wait = true}, &g));
    REQUIRE(claim(TWO_OWNER, &g));
    REQUIRE(finish(TWO_OWNER, &g, SPAN("{\"content\":[]}")));
    REQUIRE((e = kit_event(&two.a, STORE_EV_TASK, c.id.p)) != NULL);
    CHECK(e->state == TASK_RESULT && strcmp(e->outcome, "{\"content\":[]}") == 0);
    CHECK(strcmp(e->message, "all done") == 0 && strcmp(e->tool, "tool") == 0);
    CHECK(kit_event(&two.b, STORE_EV_TASK, c.id.p) != NULL);
    REQUIRE(
        two_get(&two.b, (struct store_get){.id = c.id, .owner = TWO_OWNER, .outcome = true}, &g));
    CHECK(g.a.e == ERR_OK && g.task.state == TASK_RESULT);
    CHECK(strcmp(g.outcome, "{\"content\":[]}") == 0);
    REQUIRE(two_get(&two.b, (struct store_get){.id = c.id, .owner = TWO_OWNER}, &g));
    CHECK(!g.has_outcome);
    CHECK(store_dropped(two.a.s) == 0 && store_dropped(two.b.s) == 0);
    two_stop();
}

TEST(nobody_who_does_not_wait_is_told)
{
    struct two_got g = {.id = ""};
    struct store_create c;

    REQUIRE(two_start(1));
    c = two_plan(TWO_OWNER);
    c.wait = true;
    REQUIRE(two_create(&two.a, &c, &g));
    REQUIRE(claim(TWO_OWNER, &g));
    REQUIRE(finish(TWO_OWNER, &g, SPAN("{}")));
    REQUIRE(kit_event(&two.a, STORE_EV_TASK, c.id.p) != NULL);
    store_tell_all(two.a.s, "L", (struct span){NULL, 0}, (struct span){NULL, 0});
    REQUIRE(kit_event(&two.b, STORE_EV_TOOLS, NULL) != NULL);
    CHECK(kit_count(&two.b, STORE_EV_TASK, NULL) == 0);
    two_stop();
}

TEST(a_result_of_17_KiB_is_left_out_and_read)
{
    enum { SIZE = 17 * 1024 };
    char *text = mem_alloc(SIZE);
    struct two_got g = {.id = ""};
    const struct kit_event *e;
    struct store_create c;

    memset(text, 'x', SIZE);
    text[0] = '"';
    text[SIZE - 1] = '"';
    REQUIRE(two_start(1));
    c = two_plan(TWO_OWNER);
    c.wait = true;
    REQUIRE(two_create(&two.a, &c, &g));
    REQUIRE(claim(TWO_OWNER, &g));
    REQUIRE(finish(TWO_OWNER, &g, (struct span){text, SIZE}));
    REQUIRE((e = kit_event(&two.a, STORE_EV_TASK, c.id.p)) != NULL);
    CHECK(e->state == TASK_RESULT && e->omitted && !e->has_outcome);
    REQUIRE(
        two_get(&two.a, (struct store_get){.id = c.id, .owner = TWO_OWNER, .outcome = true}, &g));
    CHECK(g.outcome_n == SIZE);
    two_stop();
    free(text);
}

TEST(four_partitions_are_found_from_the_owner)
{
    struct two_got g = {.id = ""};
    char owner[17] = "ownerownerowner0";
    unsigned seen[4] = {0};

    REQUIRE(two_start(4));
    for (char c = '0'; c <= '9'; c++) {
        struct store_create p;
        unsigned partition;

        owner[15] = c;
        p = two_plan(span_of(owner));
        partition = store_partition_of_owner(two.a.s, p.owner);
        REQUIRE(partition < 4);
        seen[partition]++;
        REQUIRE(two_create(&two.a, &p, &g) && g.a.e == ERR_OK);
        REQUIRE(two_get(&two.b, (struct store_get){.id = p.id, .owner = p.owner}, &g));
        CHECK(g.a.e == ERR_OK);
        REQUIRE(claim(p.owner, &g));
        CHECK(span_is(p.id, g.id));
    }
    CHECK(seen[0] < 10 && seen[1] < 10 && seen[2] < 10 && seen[3] < 10);
    two_stop();
}
