#include "worker/announce.h"

#include "common/event.h"
#include "common/registry.h"
#include "tests/lib/hand.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <stdio.h>

static struct bench b;
static struct hand h;
static struct announce *announce;
static struct span tool_name = {"run", 3};
static struct store_worker self;

static struct {
    bool there;
    size_t count;
    char name[64];
    char definition[512];
    char policy[512];
    char info[512];
} seen;

static void begin(void)
{
    bench_start(&b, 3);
    self = (struct store_worker){.wid = SPAN("bench000"),
                                 .pool = SPAN("pool"),
                                 .tools = &tool_name,
                                 .tool_count = 1,
                                 .lease_ms = 10000};
    hand_open(&h, 4, ",\"ttl\":\"1h\"");
    announce = announce_new(b.base, b.store, h.slots, &self, &h.tools);
}

static void finish(void)
{
    store_free(b.store);
    b.store = NULL;
    announce_free(announce);
    hand_close(&h);
    bench_stop(&b);
}

static void copy(char *out, size_t room, struct span s)
{
    (void)snprintf(out, room, "%.*s", (int)s.n, s.p);
}

static void on_tools(void *arg, enum err e, const struct registry_tool *tools, size_t count,
                     struct span mark)
{
    (void)arg;
    (void)mark;
    CHECK(e == ERR_OK);
    seen.there = true;
    seen.count = count;
    if (count == 0)
        return;
    copy(seen.name, sizeof(seen.name), tools[0].name);
    copy(seen.definition, sizeof(seen.definition), tools[0].definition);
    copy(seen.policy, sizeof(seen.policy), tools[0].policy);
}

static void on_workers(void *arg, enum err e, const struct registry_worker *w, size_t count)
{
    (void)arg;
    CHECK(e == ERR_OK);
    seen.there = true;
    seen.count = count;
    if (count > 0)
        copy(seen.info, sizeof(seen.info), w[0].info);
}

static bool is_there(void *arg)
{
    (void)arg;
    return seen.there;
}

static void read_tools(void)
{
    memset(&seen, 0, sizeof(seen));
    registry_read(b.store, 60000, (struct span){NULL, 0}, on_tools, NULL);
    CHECK(turn_until(b.base, 10000, is_there, NULL));
}

static void read_workers(void)
{
    memset(&seen, 0, sizeof(seen));
    registry_workers(b.store, on_workers, NULL);
    CHECK(turn_until(b.base, 10000, is_there, NULL));
}

TEST(the_tools_are_announced_as_declared)
{
    begin();
    announce_ready(announce);
    read_tools();
    CHECK(seen.count == 1 && strcmp(seen.name, "run") == 0);
    CHECK(strcmp(seen.definition, h.tools.v[0]->definition) == 0);
    CHECK(strcmp(seen.policy, h.tools.v[0]->policy) == 0);
    read_workers();
    CHECK(seen.count == 1);
    CHECK(strstr(seen.info, "\"slots\":4,\"busy\":0,\"version\":\"" ERRAND_VERSION "\"") != NULL);
    finish();
}

TEST(a_worker_that_leaves_is_gone_at_once)
{
    begin();
    announce_ready(announce);
    read_workers();
    CHECK(seen.count == 1);
    announce_leave(announce);
    announce_ready(announce); /* says nothing any more */
    read_workers();
    CHECK(seen.count == 0);
    finish();
}

static void on_other(void *arg, enum err e, const struct registry_announced *r)
{
    (void)arg;
    (void)r;
    CHECK(e == ERR_OK);
}

TEST(a_tool_that_another_defines_differently_is_logged_once)
{
    const struct registry_worker w = {.wid = SPAN("other000"),
                                      .pool = SPAN("pool"),
                                      .info = SPAN("{}"),
                                      .started_ms = 9000000000000};
    const struct registry_tool t = {
        .name = SPAN("run"), .definition = SPAN("{\"name\":\"run\"}"), .policy = SPAN("{}")};
    uint64_t before = event_count(EVENT_TOOL_CONFLICT);

    begin();
    registry_announce(b.store, &w, &t, 1, on_other, NULL);
    for (int i = 0; i < 3; i++) {
        announce_ready(announce);
        read_tools();
    }
    CHECK(event_count(EVENT_TOOL_CONFLICT) == before + 1);
    CHECK(strcmp(seen.definition, "{\"name\":\"run\"}") == 0); /* the newer one is listed */
    finish();
}
