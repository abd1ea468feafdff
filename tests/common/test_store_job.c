#include "common/store_job.h"

#include "common/id.h"
#include "common/mem.h"
#include "common/store_task.h"
#include "tests/lib/kit.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 400 };

static struct kit kit;
static struct kit_store broker;
static struct kit_store w; /* the worker */

static const struct span OWNER = {"ownerownerowner1", 16};
static const struct span TOOLS[] = {{"tool", 4}, {"other.tool", 10}};

struct got {
    struct kit_answer a;
    unsigned jobs;
    struct {
        char id[ID_LEN + 1];
        char params[KIT_TEXT];
        char caller[KIT_TEXT];
        char token[KIT_TEXT];
        char trace[KIT_TEXT];
        char handle[KIT_TEXT];
        char caps[KIT_TEXT];
        char tool[KIT_TEXT];
        uint64_t fence;
        unsigned attempt;
        unsigned attempts;
        uint64_t ttl_ms;
    } job[JOBS];
    unsigned verdicts;
    enum store_verdict v[STORE_BATCH_MAX];
    uint64_t returned;
    unsigned lost;
    char lost_ids[4][ID_LEN + 1];
    char answer[KIT_TEXT];
    enum task_state state;
    char handle[KIT_TEXT];
};

static struct got g;

static struct store_worker worker(void)
{
    return (struct store_worker){.wid = span_of(store_self(w.s)),
                                 .pool = SPAN("pool"),
                                 .tools = TOOLS,
                                 .tool_count = 2,
                                 .lease_ms = 10000};
}

static void keep_jobs(const struct store_job *jobs, size_t count)
{
    g.jobs = (unsigned)count;
    for (size_t i = 0; i < count && i < JOBS; i++) {
        memcpy(g.job[i].id, jobs[i].id.p, ID_LEN);
        kit_copy(g.job[i].params, jobs[i].params);
        kit_copy(g.job[i].caller, jobs[i].caller);
        kit_copy(g.job[i].token, jobs[i].token);
        kit_copy(g.job[i].trace, jobs[i].trace);
        kit_copy(g.job[i].handle, jobs[i].handle);
        kit_copy(g.job[i].caps, jobs[i].caps);
        kit_copy(g.job[i].tool, jobs[i].tool);
        g.job[i].fence = jobs[i].fence;
        g.job[i].attempt = jobs[i].attempt;
        g.job[i].attempts = jobs[i].attempts;
        g.job[i].ttl_ms = jobs[i].ttl_ms;
    }
}

static void on_claim(void *arg, enum err e, const struct store_job *jobs, size_t count)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    keep_jobs(jobs, count);
}

static void on_finish(void *arg, enum err e, const enum store_verdict *v, size_t count,
                      const struct store_job *jobs, size_t job_count)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.verdicts = (unsigned)count;
    if (count > 0)
        memcpy(g.v, v, count * sizeof(*v));
    keep_jobs(jobs, job_count);
}

static void on_beat(void *arg, enum err e, const struct span *lost, size_t count)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.lost = (unsigned)count;
    for (size_t i = 0; i < count && i < 4; i++)
        memcpy(g.lost_ids[i], lost[i].p, ID_LEN);
}

static void on_verdict(void *arg, enum err e, enum store_verdict v)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.v[0] = v;
}

static void on_asked(void *arg, enum err e, enum store_verdict v, struct span answer)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.v[0] = v;
    kit_copy(g.answer, answer);
}

static void on_task(void *arg, enum err e, const struct store_result *r)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.state = r->task.state;
}

static void on_unclaim(void *arg, enum err e, uint64_t count)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.returned = count;
}

static void on_ticked(void *arg, enum err e, uint64_t next_ms, unsigned done)
{
    (void)arg;
    (void)next_ms;
    (void)done;
    g.a.calls++;
    g.a.e = e;
}

static bool start(unsigned partitions)
{
    memset(&g, 0, sizeof(g));
    kit_start(&kit, NULL);
    return kit_store_open(&broker, &kit, (struct store_conf){.partitions = partitions}) &&
           kit_store_open(&w, &kit, (struct store_conf){.role = "worker"});
}

static void stop(void)
{
    kit_store_free(&broker);
    kit_store_free(&w);
    kit_stop(&kit);
}

/* Waits for the one call that was just made. */
static bool answered(void)
{
    unsigned calls = g.a.calls;

    return kit_wait(&kit, &g.a, calls + 1);
}

static unsigned partition(void)
{
    return store_partition_of_owner(w.s, OWNER);
}

static char made[ID_LEN + 1];

static bool create_with(struct store_create c)
{
    id_new(made, partition());
    c.id = span_of(made);
    c.owner = OWNER;
    c.ttl_ms = 60000;
    c.tool = c.tool.p != NULL ? c.tool : SPAN("tool");
    c.dialect = 'L';
    c.attempts = c.attempts != 0 ? c.attempts : 3;
    c.wait = true;
    store_create(broker.s, &c, on_task, NULL);
    return answered() && g.a.e == ERR_OK;
}

static bool create(void)
{
    return create_with((struct store_create){.params = SPAN("{}"), .priority = TASK_NORMAL});
}

static bool claim(unsigned n)
{
    struct store_worker me = worker();

    store_claim(w.s, partition(), &me, n, on_claim, NULL);
    return answered() && g.a.e == ERR_OK;
}

static struct store_held held(unsigned i)
{
    return (struct store_held){span_of(g.job[i].id), g.job[i].fence};
}

static bool finish(struct store_held h, unsigned n)
{
    struct store_worker me = worker();
    struct store_outcome o = {
        .id = h.id, .fence = h.fence, .state = TASK_RESULT, .outcome = SPAN("{}")};

    store_finish(w.s, partition(), &me, &o, 1, n, on_finish, NULL);
    return answered() && g.a.e == ERR_OK;
}

static bool read_state(struct span id)
{
    store_get(broker.s, &(struct store_get){.id = id, .owner = OWNER}, on_task, NULL);
    return answered() && g.a.e == ERR_OK;
}

TEST(a_job_is_all_that_was_said_when_it_was_created)
{
    REQUIRE(start(4));
    REQUIRE(create_with((struct store_create){.tool = SPAN("other.tool"),
                                              .params = SPAN("{\"a\":[1,2]}"),
                                              .caller = SPAN("{\"name\":\"n\"}"),
                                              .token = SPAN("\"t\""),
                                              .trace = SPAN("00-aa-bb-01"),
                                              .caps = SPAN("{\"roots\":{}}"),
                                              .attempts = 5}));
    REQUIRE(claim(1) && g.jobs == 1);
    CHECK(strcmp(g.job[0].id, made) == 0);
    CHECK(strcmp(g.job[0].tool, "other.tool") == 0);
    CHECK(strcmp(g.job[0].params, "{\"a\":[1,2]}") == 0);
    CHECK(strcmp(g.job[0].caller, "{\"name\":\"n\"}") == 0);
    CHECK(strcmp(g.job[0].token, "\"t\"") == 0);
    CHECK(strcmp(g.job[0].trace, "00-aa-bb-01") == 0);
    CHECK(strcmp(g.job[0].caps, "{\"roots\":{}}") == 0);
    CHECK(strcmp(g.job[0].handle, "") == 0);
    CHECK(g.job[0].attempt == 1 && g.job[0].attempts == 5);
    CHECK(g.job[0].ttl_ms > 50000 && g.job[0].ttl_ms <= 60000);
    CHECK(claim(1) && g.jobs == 0);
    stop();
}

TEST(an_idle_worker_is_woken)
{
    const struct kit_event *e;

    REQUIRE(start(4));
    /* The pool has to be known to serve the tool. */
    free(kit_redis(&kit, "ZADD errand:{%u}:pl:tool %s pool", partition(), "9999999999999"));
    REQUIRE(claim(2) && g.jobs == 0);
    REQUIRE(create());
    REQUIRE((e = kit_event(&w, STORE_EV_WAKE, NULL)) != NULL);
    CHECK(e->partition == partition());
    CHECK(claim(0) && g.jobs == 0);
    CHECK(claim(1) && g.jobs == 1);
    stop();
}

TEST(a_finish_ends_many_and_claims_more_in_one_step)
{
    struct store_worker me;
    struct store_outcome o[3];

    REQUIRE(start(1));
    me = worker();
    for (unsigned i = 0; i < 5; i++)
        REQUIRE(create());
    REQUIRE(claim(3) && g.jobs == 3);
    for (unsigned i = 0; i < 3; i++)
        o[i] = (struct store_outcome){.id = span_of(g.job[i].id),
                                      .fence = g.job[i].fence,
                                      .state = i == 2 ? TASK_ERROR : TASK_RESULT,
                                      .is_error = i == 1,
                                      .outcome = SPAN("{\"x\":1}")};
    o[1].fence += 7;
    store_finish(w.s, 0, &me, o, 3, 2, on_finish, NULL);
    REQUIRE(answered() && g.a.e == ERR_OK);
    CHECK(g.verdicts == 3);
    CHECK(g.v[0] == STORE_V_OK && g.v[1] == STORE_V_STALE && g.v[2] == STORE_V_OK);
    CHECK(g.jobs == 2);
    stop();
}

static bool unclaim(uint64_t number)
{
    struct store_worker me = worker();

    store_unclaim(w.s, partition(), &me, number, on_unclaim, NULL);
    return answered() && g.a.e == ERR_OK;
}

TEST(P2_what_a_numbered_claim_took_is_handed_back)
{
    struct store_worker me;
    struct store_outcome o;
    uint64_t number;

    REQUIRE(start(4));
    me = worker();
    REQUIRE(create_with((struct store_create){.attempts = 1}));
    number = store_claim(w.s, partition(), &me, 1, on_claim, NULL);
    REQUIRE(answered() && g.jobs == 1);
    CHECK(unclaim(number + 1) && g.returned == 0);
    CHECK(unclaim(number) && g.returned == 1);
    CHECK(unclaim(number) && g.returned == 0);
    REQUIRE(claim(1) && g.jobs == 1 && g.job[0].attempt == 1);
    REQUIRE(create_with((struct store_create){.attempts = 1}));
    o = (struct store_outcome){.id = span_of(g.job[0].id),
                               .fence = g.job[0].fence,
                               .state = TASK_RESULT,
                               .outcome = SPAN("{}")};
    number = store_finish(w.s, partition(), &me, &o, 1, 1, on_finish, NULL);
    REQUIRE(answered() && g.v[0] == STORE_V_OK && g.jobs == 1);
    CHECK(unclaim(number) && g.returned == 1);
    REQUIRE(claim(1) && g.jobs == 1 && g.job[0].attempt == 1);
    stop();
}

TEST(verdicts_tell_a_lost_reply_from_a_lost_fence)
{
    struct store_held h;
    char id[ID_LEN + 1];

    REQUIRE(start(1));
    REQUIRE(create() && claim(1) && g.jobs == 1);
    memcpy(id, g.job[0].id, sizeof(id));
    h = (struct store_held){span_of(id), g.job[0].fence};
    REQUIRE(finish(h, 0) && g.verdicts == 1 && g.v[0] == STORE_V_OK);
    REQUIRE(finish(h, 0) && g.v[0] == STORE_V_DONE);
    REQUIRE(create() && claim(1) && g.jobs == 1);
    memcpy(id, g.job[0].id, sizeof(id));
    h.fence = g.job[0].fence;
    store_cancel(broker.s, h.id, OWNER, 0, false, on_task, NULL);
    REQUIRE(answered());
    REQUIRE(kit_event(&w, STORE_EV_CANCEL, id) != NULL);
    REQUIRE(finish(h, 0) && g.v[0] == STORE_V_ENDED);
    h.id = SPAN("00zzzzzzzzzzzzzzzzzzzzzz");
    REQUIRE(finish(h, 0) && g.v[0] == STORE_V_GONE);
    stop();
}

TEST(a_beat_renews_what_is_held_and_names_what_is_lost)
{
    struct store_worker me;
    struct store_held h[2];
    char ids[2][ID_LEN + 1];

    REQUIRE(start(1));
    me = worker();
    REQUIRE(create() && create() && claim(2) && g.jobs == 2);
    for (unsigned i = 0; i < 2; i++) {
        memcpy(ids[i], g.job[i].id, sizeof(ids[i]));
        h[i] = (struct store_held){span_of(ids[i]), g.job[i].fence};
    }
    store_beat(w.s, 0, &me, h, 2, on_beat, NULL);
    REQUIRE(answered() && g.a.e == ERR_OK && g.lost == 0);
    store_cancel(broker.s, h[1].id, OWNER, 0, false, on_task, NULL);
    REQUIRE(answered());
    store_beat(w.s, 0, &me, h, 2, on_beat, NULL);
    REQUIRE(answered() && g.a.e == ERR_OK);
    CHECK(g.lost == 1 && strcmp(g.lost_ids[0], ids[1]) == 0);
    store_beat(w.s, 0, &me, h, 0, on_beat, NULL);
    REQUIRE(answered() && g.a.e == ERR_OK && g.lost == 0);
    stop();
}

TEST(any_number_of_tasks_can_be_held_and_released)
{
    struct store_worker me;
    struct store_held *h = mem_alloc(JOBS * sizeof(*h));
    char(*ids)[ID_LEN + 1] = mem_alloc(JOBS * sizeof(*ids));
    unsigned again = 0;

    REQUIRE(start(1));
    me = worker();
    for (unsigned i = 0; i < 300; i++)
        REQUIRE(create());
    for (unsigned n = 0; n < 300; n += 100) {
        REQUIRE(claim(100) && g.jobs == 100);
        for (unsigned i = 0; i < 100; i++) {
            memcpy(ids[n + i], g.job[i].id, sizeof(ids[0]));
            h[n + i] = (struct store_held){span_of(ids[n + i]), g.job[i].fence};
        }
    }
    h[299].fence++;
    store_beat(w.s, 0, &me, h, 300, on_beat, NULL);
    REQUIRE(answered() && g.a.e == ERR_OK);
    CHECK(g.lost == 1 && strcmp(g.lost_ids[0], ids[299]) == 0);
    store_release(w.s, 0, h, 300, on_verdict, NULL);
    REQUIRE(answered() && g.a.e == ERR_OK);
    do {
        REQUIRE(claim(100));
        again += g.jobs;
        CHECK(g.jobs == 0 || g.job[0].attempt == 1); /* not charged */
    } while (g.jobs > 0);
    CHECK(again == 299);
    stop();
    free(h);
    free(ids);
}

TEST(a_report_reaches_the_broker_that_waits)
{
    const struct kit_event *e;
    struct store_held h;

    REQUIRE(start(4));
    REQUIRE(create() && claim(1) && g.jobs == 1);
    h = held(0);
    store_report(w.s, &h, SPAN("half way"), SPAN("{\"progress\":5}"), SPAN("5"), on_verdict, NULL);
    REQUIRE(answered() && g.a.e == ERR_OK && g.v[0] == STORE_V_OK);
    REQUIRE((e = kit_event(&broker, STORE_EV_TASK, g.job[0].id)) != NULL);
    CHECK(e->state == TASK_WORKING && strcmp(e->message, "half way") == 0);
    CHECK(strcmp(e->progress, "{\"progress\":5}") == 0);
    h.fence++;
    store_report(w.s, &h, SPAN("x"), (struct span){NULL, 0}, (struct span){NULL, 0}, on_verdict,
                 NULL);
    REQUIRE(answered() && g.v[0] == STORE_V_STALE);
    stop();
}

TEST(a_handle_comes_back_with_the_next_attempt)
{
    struct store_held h;

    REQUIRE(start(4));
    REQUIRE(create() && claim(1) && g.jobs == 1);
    h = held(0);
    store_handle(w.s, &h, SPAN("job-17"), on_verdict, NULL);
    REQUIRE(answered() && g.v[0] == STORE_V_OK);
    store_release(w.s, partition(), &h, 1, on_verdict, NULL);
    REQUIRE(answered() && g.a.e == ERR_OK);
    REQUIRE(claim(1) && g.jobs == 1);
    CHECK(strcmp(g.job[0].handle, "job-17") == 0 && g.job[0].attempt == 1);
    stop();
}

static bool can_claim(void *arg)
{
    (void)arg;
    store_tick(broker.s, partition(), on_ticked, NULL);
    return answered() && claim(1) && g.jobs == 1;
}

TEST(a_retry_runs_again_later_and_the_last_one_is_a_dead_letter)
{
    struct store_held h;
    char id[ID_LEN + 1];

    REQUIRE(start(4));
    REQUIRE(create_with((struct store_create){.params = SPAN("{}"), .attempts = 2}));
    REQUIRE(claim(1) && g.jobs == 1);
    h = held(0);
    store_retry(w.s, &h, 20, SPAN("again"), SPAN("{\"code\":1}"), on_verdict, NULL);
    REQUIRE(answered() && g.a.e == ERR_OK && g.v[0] == STORE_V_OK);
    REQUIRE(wait_for(10000, can_claim, NULL));
    CHECK(g.job[0].attempt == 2);
    memcpy(id, g.job[0].id, sizeof(id));
    h = held(0);
    store_retry(w.s, &h, 20, SPAN("again"), SPAN("{\"code\":1}"), on_verdict, NULL);
    REQUIRE(answered() && g.v[0] == STORE_V_DEAD);
    REQUIRE(read_state(span_of(id)));
    CHECK(g.state == TASK_ERROR);
    stop();
}

TEST(a_question_is_asked_once_and_its_answer_is_kept)
{
    struct store_held h;
    char id[ID_LEN + 1];

    REQUIRE(start(4));
    REQUIRE(create() && claim(1) && g.jobs == 1);
    memcpy(id, g.job[0].id, sizeof(id));
    h = (struct store_held){span_of(id), g.job[0].fence};
    store_ask(w.s, &h, SPAN("q1"), SPAN("elicitation/create"), SPAN("{\"m\":1}"), false, on_asked,
              NULL);
    REQUIRE(answered() && g.a.e == ERR_OK && g.v[0] == STORE_V_OK);
    CHECK(strcmp(g.answer, "") == 0);
    REQUIRE(read_state(h.id));
    CHECK(g.state == TASK_INPUT);
    store_answer(broker.s, h.id, OWNER, SPAN(""), SPAN("q1"), SPAN("{\"a\":2}"), on_task, NULL);
    REQUIRE(answered() && g.a.e == ERR_OK);
    CHECK(g.state == TASK_WORKING);
    REQUIRE(kit_event(&w, STORE_EV_INPUT, id) != NULL);
    store_ask(w.s, &h, SPAN("q1"), SPAN("elicitation/create"), SPAN("{\"m\":1}"), false, on_asked,
              NULL);
    REQUIRE(answered() && g.a.e == ERR_OK);
    CHECK(strcmp(g.answer, "{\"a\":2}") == 0);
    store_ask(w.s, &h, SPAN("q1"), SPAN("elicitation/create"), SPAN("{\"m\":2}"), false, on_asked,
              NULL);
    REQUIRE(answered() && g.a.e == ERR_CONFLICT);
    h.fence++;
    store_ask(w.s, &h, SPAN("q2"), SPAN("elicitation/create"), SPAN("{\"m\":1}"), false, on_asked,
              NULL);
    REQUIRE(answered() && g.v[0] == STORE_V_STALE);
    stop();
}

TEST(a_low_class_is_not_starved)
{
    unsigned low = 0;

    REQUIRE(start(1));
    for (unsigned i = 0; i < 20; i++)
        REQUIRE(create_with((struct store_create){.params = SPAN("1"), .priority = TASK_HIGH}));
    REQUIRE(create_with((struct store_create){.params = SPAN("low"), .priority = TASK_IDLE}));
    for (unsigned i = 0; i < 8; i++) {
        REQUIRE(claim(1) && g.jobs == 1);
        low += strcmp(g.job[0].params, "low") == 0;
        REQUIRE(finish(held(0), 0)); /* is no claim, and not counted as one */
    }
    CHECK(low == 1);
    stop();
}

TEST(every_call_of_a_worker_ends_once_when_redis_dies)
{
    struct store_worker me;
    struct store_held h;
    struct store_outcome o;

    REQUIRE(start(1));
    me = worker();
    REQUIRE(create() && claim(1) && g.jobs == 1);
    h = held(0);
    o = (struct store_outcome){
        .id = h.id, .fence = h.fence, .state = TASK_RESULT, .outcome = SPAN("{}")};
    g.a.calls = 0;
    test_redis_kill(&kit.redis);
    for (unsigned i = 0; i < 10; i++) {
        store_claim(w.s, 0, &me, 1, on_claim, NULL);
        store_unclaim(w.s, 0, &me, i, on_unclaim, NULL);
        store_finish(w.s, 0, &me, &o, 1, 1, on_finish, NULL);
        store_beat(w.s, 0, &me, &h, 1, on_beat, NULL);
        store_report(w.s, &h, SPAN("m"), SPAN("1"), SPAN("1"), on_verdict, NULL);
        store_handle(w.s, &h, SPAN("h"), on_verdict, NULL);
        store_retry(w.s, &h, 1, SPAN("m"), SPAN("{}"), on_verdict, NULL);
        store_release(w.s, 0, &h, 1, on_verdict, NULL);
        store_ask(w.s, &h, SPAN("k"), SPAN("elicitation/create"), SPAN("{}"), false, on_asked,
                  NULL);
    }
    REQUIRE(kit_wait(&kit, &g.a, 90));
    CHECK(g.a.e == ERR_UNAVAILABLE && g.jobs == 0);
    turn_for(kit.base, 100);
    CHECK(g.a.calls == 90);
    stop();
}
