#include "common/store_hook.h"

#include "tests/lib/bench.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <event2/event.h>
#include <stdio.h>

static struct bench b;
static struct {
    unsigned answers;
    enum err e;
    enum store_verdict v;
    char calls[256];
    char id[32];
    uint64_t fence;
    uint64_t at;
    size_t left;
} g;

static void on_hook(void *arg, enum err e)
{
    (void)arg;
    g.answers++;
    g.e = e;
}

static void on_heard(void *arg, enum err e, enum store_verdict v, struct span calls, uint64_t at)
{
    (void)arg;
    g.at = at;
    g.answers++;
    g.e = e;
    g.v = v;
    (void)snprintf(g.calls, sizeof(g.calls), "%.*s", (int)calls.n, calls.p != NULL ? calls.p : "");
}

static void on_claim(void *arg, enum err e, const struct store_job *jobs, size_t count)
{
    (void)arg;
    g.answers++;
    g.e = e;
    if (count == 1) {
        (void)snprintf(g.id, sizeof(g.id), "%.*s", (int)jobs[0].id.n, jobs[0].id.p);
        g.fence = jobs[0].fence;
    }
}

static bool is_answered(void *arg)
{
    return g.answers > *(const unsigned *)arg;
}

#define ANSWERED(call) \
    do { \
        unsigned before = g.answers; \
        call; \
        REQUIRE(turn_until(b.base, 30000, is_answered, &before)); \
    } while (0)

static struct store_held held(void)
{
    return (struct store_held){span_of(g.id), g.fence};
}

TEST(B26_a_callback_reaches_the_job_that_waits_for_it)
{
    struct span tool = SPAN("t");
    const struct store_worker me = {.wid = SPAN("worker01"),
                                    .pool = SPAN("p"),
                                    .tools = &tool,
                                    .tool_count = 1,
                                    .lease_ms = 60000};
    struct store_held h;
    struct span body;
    struct span calls;

    bench_start(&b, 1);
    (void)bench_call(&b, "t", "{}");
    ANSWERED(store_claim(b.store, 0, &me, 1, on_claim, NULL));
    h = held();
    REQUIRE(h.id.n > 0);
    ANSWERED(store_hook(b.store, h.id, 0, SPAN("{\"a\":1}"), on_hook, NULL));
    CHECK(g.e == ERR_OK);
    ANSWERED(store_hook(b.store, h.id, 0, SPAN("{\"a\":1}"), on_hook, NULL));
    CHECK(g.e == ERR_OK);
    ANSWERED(store_heard(b.store, &h, 0, on_heard, NULL));
    CHECK(g.e == ERR_OK && g.v == STORE_V_OK);
    calls = span_of(g.calls);
    CHECK(store_hook_next(&calls, &body) && span_is(body, "{\"a\":1}"));
    CHECK(calls.n == 0 && !store_hook_next(&calls, &body));
    ANSWERED(store_heard(b.store, &h, 9, on_heard, NULL));
    CHECK(g.v == STORE_V_OK && g.calls[0] == '\0' && g.at == 9);
    h.fence++;
    ANSWERED(store_heard(b.store, &h, 0, on_heard, NULL));
    CHECK(g.e == ERR_OK && g.v == STORE_V_STALE);
    CHECK(bench_cancel(&b, g.id));
    ANSWERED(store_hook(b.store, h.id, 0, SPAN("{}"), on_hook, NULL));
    CHECK(g.e == ERR_TERMINAL);
    ANSWERED(store_hook(b.store, SPAN("AA0000000000000000000000"), 0, SPAN("{}"), on_hook, NULL));
    CHECK(g.e == ERR_NOT_FOUND);
    bench_stop(&b);
}

static void on_left(void *arg, enum err e, const struct store_left *left, size_t count)
{
    (void)arg;
    g.answers++;
    g.e = e;
    g.left = count;
    if (count == 1)
        (void)snprintf(g.calls, sizeof(g.calls), "%.*s", (int)left[0].line.n, left[0].line.p);
}

static void on_verdict(void *arg, enum err e, enum store_verdict v)
{
    (void)arg;
    g.answers++;
    g.e = e;
    g.v = v;
}

TEST(B5_work_elsewhere_that_nobody_stopped_is_found_until_somebody_did)
{
    struct span tool = SPAN("t");
    const struct store_worker me = {.wid = SPAN("worker01"),
                                    .pool = SPAN("p"),
                                    .tools = &tool,
                                    .tool_count = 1,
                                    .lease_ms = 60000};
    struct store_left done;
    struct store_held h;

    bench_start(&b, 1);
    (void)bench_call(&b, "t", "{}");
    ANSWERED(store_claim(b.store, 0, &me, 1, on_claim, NULL));
    h = held();
    ANSWERED(store_handle(b.store, &h, SPAN("\"job-1\""), on_verdict, NULL));
    CHECK(bench_cancel(&b, g.id)); /* worker01 listens to nothing */
    ANSWERED(store_abandoned(b.store, 0, &tool, 1, NULL, 0, on_left, NULL));
    REQUIRE(g.e == ERR_OK && g.left == 1);
    CHECK(strncmp(g.calls, g.id, 24) == 0 && strcmp(g.calls + 24, " \"job-1\"") == 0);
    done = (struct store_left){tool, span_of(g.calls)};
    ANSWERED(store_abandoned(b.store, 0, &tool, 1, &done, 1, on_left, NULL));
    CHECK(g.e == ERR_OK && g.left == 0);
    bench_stop(&b);
}

TEST(what_is_no_list_of_callbacks_ends_it)
{
    static const char *const bad[] = {"", "x", "3", "3 ab", " ab", "99999999999 a", "-1 a"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct span calls = span_of(bad[i]);
        struct span body;

        CHECK(!store_hook_next(&calls, &body));
    }
}
