#include "common/store_task.h"

#include "tests/lib/proc.h"
#include "tests/lib/test.h"
#include "tests/lib/two.h"

#include <stdlib.h>
#include <string.h>

static void on_list(void *arg, enum err e, const struct task *tasks, size_t count, bool more,
                    uint64_t retry_ms)
{
    struct two_got *g = arg;

    g->a.calls++;
    g->a.e = e;
    g->count = (unsigned)count;
    g->more = more;
    g->retry_ms = retry_ms;
    for (size_t i = 0; i < count && i < 64; i++) {
        memcpy(g->ids[i], tasks[i].id.p, ID_LEN);
        g->seqs[i] = tasks[i].seq;
    }
}

static void on_done(void *arg, enum err e, uint64_t retry_ms)
{
    struct two_got *g = arg;

    g->a.calls++;
    g->a.e = e;
    g->retry_ms = retry_ms;
}

static void on_tick(void *arg, enum err e, uint64_t next_ms, unsigned done)
{
    struct two_got *g = arg;

    g->a.calls++;
    g->a.e = e;
    g->next_ms = next_ms;
    g->count = done;
}

static bool cancel(struct kit_store *p, struct span id, struct span owner, struct two_got *g)
{
    unsigned calls = g->a.calls;

    store_cancel(p->s, id, owner, 0, false, two_on_task, g);
    return kit_wait(&two.kit, &g->a, calls + 1);
}

TEST(a_task_is_created_and_read_by_any_broker)
{
    struct two_got g = {.id = ""};
    struct store_create c;

    REQUIRE(two_start(1));
    c = two_plan(TWO_OWNER);
    REQUIRE(two_create(&two.a, &c, &g) && g.a.e == ERR_OK);
    CHECK(!g.repeated && span_is(c.id, g.id));
    CHECK(g.task.state == TASK_WORKING && g.task.dialect == 'L' && !g.task.hidden);
    CHECK(g.task.poll_ms == 500 && g.task.version >= 1 && g.task.seq >= 1);
    CHECK(g.task.expires_ms - g.task.created_ms == 60000);
    CHECK(strcmp(g.tool, "tool") == 0 && !g.has_outcome);
    REQUIRE(two_get(&two.b, (struct store_get){.id = c.id, .owner = TWO_OWNER}, &g));
    CHECK(g.a.e == ERR_OK && span_is(c.id, g.id));
    two_stop();
}

TEST(a_foreign_task_and_an_unknown_one_are_both_not_found)
{
    struct two_got g = {.id = ""};
    struct store_create c;

    REQUIRE(two_start(4));
    c = two_plan(TWO_OWNER);
    REQUIRE(two_create(&two.a, &c, &g) && g.a.e == ERR_OK);
    REQUIRE(two_get(&two.a, (struct store_get){.id = c.id, .owner = TWO_OTHER}, &g));
    CHECK(g.a.e == ERR_NOT_FOUND);
    REQUIRE(two_get(&two.a, (struct store_get){.id = two_id(TWO_OWNER), .owner = TWO_OWNER}, &g));
    CHECK(g.a.e == ERR_NOT_FOUND);
    REQUIRE(cancel(&two.a, c.id, TWO_OTHER, &g));
    CHECK(g.a.e == ERR_NOT_FOUND);
    two_stop();
}

TEST(the_same_id_again_is_the_same_task)
{
    struct two_got g = {.id = ""};
    struct store_create c;

    REQUIRE(two_start(1));
    c = two_plan(TWO_OWNER);
    REQUIRE(two_create(&two.a, &c, &g));
    REQUIRE(two_create(&two.b, &c, &g));
    CHECK(g.a.e == ERR_OK && g.repeated && span_is(c.id, g.id));
    c.owner = TWO_OTHER;
    REQUIRE(two_create(&two.b, &c, &g));
    CHECK(g.a.e == ERR_CONFLICT);
    two_stop();
}

TEST(an_idempotency_key_names_one_task)
{
    struct two_got g = {.id = ""};
    struct store_create c;
    struct store_create d;

    REQUIRE(two_start(4));
    c = two_plan(TWO_OWNER);
    c.idem = SPAN("keykeykeykeykeykeykeyk");
    c.idem_args = SPAN("argsargsargsargsargsar");
    REQUIRE(two_create(&two.a, &c, &g) && g.a.e == ERR_OK && !g.repeated);
    d = c;
    d.id = two_id(TWO_OWNER);
    REQUIRE(two_create(&two.b, &d, &g));
    CHECK(g.a.e == ERR_OK && g.repeated && span_is(c.id, g.id));
    d.idem_args = SPAN("otherotherotherotherot");
    REQUIRE(two_create(&two.b, &d, &g));
    CHECK(g.a.e == ERR_CONFLICT);
    d.owner = TWO_OTHER;
    d.id = two_id(TWO_OTHER);
    REQUIRE(two_create(&two.b, &d, &g));
    CHECK(g.a.e == ERR_OK && !g.repeated);
    two_stop();
}

TEST(limits_are_told)
{
    struct two_got g = {.id = ""};
    struct store_create c;

    REQUIRE(two_start(1));
    c = two_plan(TWO_OWNER);
    c.max_active = 1;
    REQUIRE(two_create(&two.a, &c, &g) && g.a.e == ERR_OK);
    c.id = two_id(TWO_OWNER);
    REQUIRE(two_create(&two.a, &c, &g));
    CHECK(g.a.e == ERR_LIMIT);
    c = two_plan(TWO_OTHER);
    c.limit = 10; /* one in a hundred seconds */
    REQUIRE(two_create(&two.a, &c, &g) && g.a.e == ERR_OK);
    c.id = two_id(TWO_OTHER);
    REQUIRE(two_create(&two.b, &c, &g));
    CHECK(g.a.e == ERR_RATE && g.retry_ms > 0 && g.retry_ms <= 100000);
    store_throttle(two.a.s, TWO_OTHER, 10, 1, on_done, &g);
    REQUIRE(kit_wait(&two.kit, &g.a, 5));
    CHECK(g.a.e == ERR_RATE && g.retry_ms > 0);
    store_throttle(two.a.s, TWO_OTHER, 0, 1, on_done, &g);
    REQUIRE(kit_wait(&two.kit, &g.a, 6));
    CHECK(g.a.e == ERR_OK);
    two_stop();
}

TEST(payloads_are_opaque_bytes)
{
    static const char bytes[] = "{\"a\":1e400,\"b\":\"\\u00e9 \xc3\xa9\r\n%s\0nul\"}";
    struct two_got g = {.id = ""};
    struct store_create c;

    REQUIRE(two_start(1));
    c = two_plan(TWO_OWNER);
    c.outcome = (struct span){bytes, sizeof(bytes) - 1};
    c.outcome_is_error = true;
    c.message = SPAN("bad arguments");
    REQUIRE(two_create(&two.a, &c, &g) && g.a.e == ERR_OK);
    CHECK(g.task.state == TASK_RESULT && g.task.is_error);
    REQUIRE(
        two_get(&two.b, (struct store_get){.id = c.id, .owner = TWO_OWNER, .outcome = true}, &g));
    CHECK(g.outcome_n == sizeof(bytes) - 1 && memcmp(g.outcome, bytes, sizeof(bytes) - 1) == 0);
    CHECK(strcmp(g.message, "bad arguments") == 0);
    two_stop();
}

TEST(cancel_ends_a_task_once)
{
    struct two_got g = {.id = ""};
    const struct kit_event *e;
    struct store_create c;

    REQUIRE(two_start(4));
    c = two_plan(TWO_OWNER);
    c.wait = true;
    REQUIRE(two_create(&two.b, &c, &g));
    REQUIRE(cancel(&two.a, c.id, TWO_OWNER, &g));
    CHECK(g.a.e == ERR_OK && g.task.state == TASK_CANCELLED);
    REQUIRE((e = kit_event(&two.b, STORE_EV_TASK, c.id.p)) != NULL);
    CHECK(e->state == TASK_CANCELLED && !e->has_outcome && !e->omitted);
    REQUIRE(cancel(&two.a, c.id, TWO_OWNER, &g));
    CHECK(g.a.e == ERR_TERMINAL && g.task.state == TASK_CANCELLED);
    two_stop();
}

TEST(a_plain_call_is_hidden_from_everyone_but_its_broker)
{
    struct two_got g = {.id = ""};
    struct store_create c;

    REQUIRE(two_start(1));
    c = two_plan(TWO_OWNER);
    c.hidden = true;
    REQUIRE(two_create(&two.a, &c, &g) && g.task.hidden);
    REQUIRE(two_get(&two.a, (struct store_get){.id = c.id, .owner = TWO_OWNER}, &g));
    CHECK(g.a.e == ERR_NOT_FOUND);
    REQUIRE(two_get(&two.a, (struct store_get){.id = c.id, .owner = TWO_OWNER, .hidden_too = true},
                    &g));
    CHECK(g.a.e == ERR_OK && g.task.hidden);
    REQUIRE(cancel(&two.a, c.id, TWO_OWNER, &g));
    CHECK(g.a.e == ERR_NOT_FOUND);
    store_list(two.a.s, TWO_OWNER, 0, 10, 0, on_list, &g);
    REQUIRE(kit_wait(&two.kit, &g.a, 5));
    CHECK(g.count == 0 && !g.more);
    store_cancel(two.a.s, c.id, TWO_OWNER, 0, true, two_on_task, &g);
    REQUIRE(kit_wait(&two.kit, &g.a, 6));
    CHECK(g.a.e == ERR_OK);
    two_stop();
}

TEST(a_list_is_in_order_of_creation_and_never_of_others)
{
    struct two_got g = {.id = ""};
    struct store_create c;
    char want[7][ID_LEN + 1];
    uint64_t after = 0;
    unsigned n = 0;

    REQUIRE(two_start(4));
    for (unsigned i = 0; i < 7; i++) {
        c = two_plan(TWO_OWNER);
        memcpy(want[i], c.id.p, ID_LEN + 1);
        REQUIRE(two_create(&two.a, &c, &g));
        c = two_plan(TWO_OTHER);
        REQUIRE(two_create(&two.a, &c, &g));
    }
    do {
        unsigned calls = g.a.calls;

        store_list(two.b.s, TWO_OWNER, after, 3, 0, on_list, &g);
        REQUIRE(kit_wait(&two.kit, &g.a, calls + 1));
        REQUIRE(g.a.e == ERR_OK && g.count > 0 && g.count <= 3);
        for (unsigned i = 0; i < g.count; i++)
            CHECK(n < 7 && strcmp(want[n++], g.ids[i]) == 0);
        after = g.seqs[g.count - 1];
    } while (g.more);
    CHECK(n == 7);
    store_list(two.b.s, TWO_OWNER, 0, 3, 1000, on_list, &g);
    store_list(two.b.s, TWO_OWNER, 0, 3, 1000, on_list, &g);
    REQUIRE(kit_wait(&two.kit, &g.a, g.a.calls + 2));
    CHECK(g.a.e == ERR_RATE && g.retry_ms > 0 && g.count == 0);
    two_stop();
}

static bool is_expired(void *arg)
{
    struct two_got *g = arg;
    unsigned calls = g->a.calls;

    store_tick(two.a.s, 0, on_tick, g);
    return kit_wait(&two.kit, &g->a, calls + 1) && g->count > 0;
}

TEST(a_tick_cleans_up_what_has_expired)
{
    struct two_got g = {.id = ""};
    struct store_create c;
    char *left;

    REQUIRE(two_start(1));
    c = two_plan(TWO_OWNER);
    c.ttl_ms = 30;
    REQUIRE(two_create(&two.a, &c, &g));
    store_tick(two.a.s, 0, on_tick, &g);
    REQUIRE(kit_wait(&two.kit, &g.a, 2));
    CHECK(g.a.e == ERR_OK && g.next_ms <= 1000);
    if (g.count == 0) /* else so much time has passed already */
        REQUIRE(wait_for(10000, is_expired, &g));
    REQUIRE(two_get(&two.a, (struct store_get){.id = c.id, .owner = TWO_OWNER}, &g));
    CHECK(g.a.e == ERR_NOT_FOUND);
    left = kit_redis(&two.kit, "KEYS *%s*", "ownerowner");
    CHECK(strcmp(left, "") == 0);
    free(left);
    two_stop();
}

TEST(an_answer_is_for_an_outstanding_question_only)
{
    struct two_got g = {.id = ""};
    struct store_create c;

    REQUIRE(two_start(1));
    c = two_plan(TWO_OWNER);
    REQUIRE(two_create(&two.a, &c, &g));
    store_answer(two.a.s, c.id, TWO_OWNER, SPAN(""), SPAN("k"), SPAN("{}"), two_on_task, &g);
    REQUIRE(kit_wait(&two.kit, &g.a, 2));
    CHECK(g.a.e == ERR_CONFLICT);
    store_answer(two.a.s, c.id, TWO_OTHER, SPAN(""), SPAN("k"), SPAN("{}"), two_on_task, &g);
    REQUIRE(kit_wait(&two.kit, &g.a, 3));
    CHECK(g.a.e == ERR_NOT_FOUND);
    two_stop();
}

TEST(every_call_ends_when_redis_dies_and_none_twice)
{
    struct two_got g = {.id = ""};
    struct store_create c;

    REQUIRE(two_start(1));
    c = two_plan(TWO_OWNER);
    for (unsigned i = 0; i < 50; i++) {
        store_create(two.a.s, &c, two_on_task, &g);
        store_get(two.a.s, &(struct store_get){.id = c.id, .owner = TWO_OWNER}, two_on_task, &g);
        store_cancel(two.a.s, c.id, TWO_OWNER, 0, false, two_on_task, &g);
        store_answer(two.a.s, c.id, TWO_OWNER, SPAN(""), SPAN("k"), SPAN("1"), two_on_task, &g);
        store_list(two.a.s, TWO_OWNER, 0, 10, 0, on_list, &g);
        store_throttle(two.a.s, TWO_OWNER, 1000, 1, on_done, &g);
        store_tick(two.a.s, 0, on_tick, &g);
    }
    test_redis_kill(&two.kit.redis);
    REQUIRE(kit_wait(&two.kit, &g.a, 350));
    CHECK(g.a.e == ERR_UNAVAILABLE);
    turn_for(two.kit.base, 100);
    CHECK(g.a.calls == 350);
    two_stop();
}
