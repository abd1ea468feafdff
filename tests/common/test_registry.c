#include "common/registry.h"

#include "common/clock.h"
#include "common/id.h"
#include "common/mem.h"
#include "tests/lib/kit.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kit kit;
static struct kit_store a;
static struct kit_store b;

static struct {
    struct kit_answer a;
    unsigned conflicts;
    char conflict[KIT_TEXT];
    unsigned wanted;
    struct {
        char server[KIT_TEXT];
        char uri[KIT_TEXT];
    } want[4];
    unsigned tools;
    struct {
        char name[KIT_TEXT];
        char definition[KIT_TEXT];
        char policy[KIT_TEXT];
        bool conflict;
        uint64_t seen_ms_ago;
    } tool[8];
    char mark[KIT_TEXT];
    unsigned workers;
    char wid[KIT_TEXT];
    char pool[KIT_TEXT];
    char info[KIT_TEXT];
    uint64_t started_ms;
    uint64_t seen_ms_ago;
} g;

static void on_announced(void *arg, enum err e, const struct registry_announced *r)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.conflicts = (unsigned)r->conflict_count;
    if (r->conflict_count > 0)
        kit_copy(g.conflict, r->conflicts[0]);
    g.wanted = (unsigned)r->wanted_count;
    for (size_t i = 0; i < r->wanted_count && i < 4; i++) {
        kit_copy(g.want[i].server, r->wanted[i].server);
        kit_copy(g.want[i].uri, r->wanted[i].uri);
    }
}

static void on_tools(void *arg, enum err e, const struct registry_tool *tools, size_t count,
                     struct span mark)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.tools = (unsigned)count;
    kit_copy(g.mark, mark);
    for (size_t i = 0; i < count && i < 8; i++) {
        kit_copy(g.tool[i].name, tools[i].name);
        kit_copy(g.tool[i].definition, tools[i].definition);
        kit_copy(g.tool[i].policy, tools[i].policy);
        g.tool[i].conflict = tools[i].conflict;
        g.tool[i].seen_ms_ago = tools[i].seen_ms_ago;
    }
}

static void on_workers(void *arg, enum err e, const struct registry_worker *w, size_t count)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.workers = (unsigned)count;
    if (count == 0)
        return;
    kit_copy(g.wid, w[0].wid);
    kit_copy(g.pool, w[0].pool);
    kit_copy(g.info, w[0].info);
    g.started_ms = w[0].started_ms;
    g.seen_ms_ago = w[0].seen_ms_ago;
}

static bool answered(enum err e)
{
    unsigned calls = g.a.calls;

    return kit_wait(&kit, &g.a, calls + 1) && g.a.e == e;
}

static bool start(void)
{
    memset(&g, 0, sizeof(g));
    kit_start(&kit, NULL);
    return kit_store_open(&a, &kit, (struct store_conf){.partitions = 4}) &&
           kit_store_open(&b, &kit, (struct store_conf){.partitions = 0});
}

static void stop(void)
{
    kit_store_free(&a);
    kit_store_free(&b);
    kit_stop(&kit);
}

static struct registry_tool tool(const char *name, const char *definition)
{
    return (struct registry_tool){.name = span_of(name),
                                  .definition = span_of(definition),
                                  .policy = SPAN("{\"taskSupport\":\"optional\"}")};
}

static bool announce(const char *wid, uint64_t started_ms, const struct registry_tool *tools,
                     size_t count)
{
    struct registry_worker w = {.wid = span_of(wid),
                                .pool = SPAN("pool1"),
                                .info = SPAN("{\"host\":\"h\"}"),
                                .started_ms = started_ms};

    registry_announce(a.s, &w, tools, count, on_announced, NULL);
    return answered(ERR_OK);
}

static bool read_tools(uint64_t grace_ms)
{
    registry_read(b.s, grace_ms, (struct span){NULL, 0}, on_tools, NULL);
    return answered(ERR_OK);
}

TEST(C_02_announced_tools_are_read_sorted_by_name)
{
    struct registry_tool tools[] = {tool("zeta", "{\"name\":\"zeta\"}"),
                                    tool("b.c", "{ \"n\": 1e2 }"), tool("b", "{}")};

    REQUIRE(start());
    REQUIRE(read_tools(60000) && g.tools == 0);
    REQUIRE(announce("worker01", 100, tools, 3) && g.conflicts == 0);
    REQUIRE(kit_event(&b, STORE_EV_TOOLS, NULL) != NULL);
    REQUIRE(read_tools(60000) && g.tools == 3);
    CHECK(strcmp(g.tool[0].name, "b") == 0 && strcmp(g.tool[1].name, "b.c") == 0);
    CHECK(strcmp(g.tool[2].name, "zeta") == 0);
    CHECK(strcmp(g.tool[1].definition, "{ \"n\": 1e2 }") == 0);
    CHECK(strcmp(g.tool[1].policy, "{\"taskSupport\":\"optional\"}") == 0);
    CHECK(!g.tool[0].conflict && g.tool[0].seen_ms_ago < 10000);
    stop();
}

TEST(each_partition_knows_which_pool_serves_a_tool)
{
    struct registry_tool one = tool("t", "{}");

    REQUIRE(start());
    REQUIRE(announce("worker01", 100, &one, 1));
    for (unsigned p = 0; p < 4; p++) {
        char *pools = kit_redis(&kit, "ZRANGE errand:{%u}:pl:t 0 -1", p);

        CHECK(strcmp(pools, "pool1") == 0);
        free(pools);
    }
    stop();
}

TEST(a_list_that_is_known_is_not_read_again_until_it_changes)
{
    struct registry_tool one = tool("t", "{}");
    char known[KIT_TEXT];

    REQUIRE(start());
    REQUIRE(announce("worker01", 100, &one, 1) && read_tools(60000));
    memcpy(known, g.mark, sizeof(known));
    REQUIRE(announce("worker01", 100, &one, 1));
    registry_read(b.s, 60000, span_of(known), on_tools, NULL);
    REQUIRE(answered(ERR_EXISTS) && g.tools == 0);
    one = tool("t", "{\"changed\":true}");
    REQUIRE(announce("worker01", 100, &one, 1));
    registry_read(b.s, 60000, span_of(known), on_tools, NULL);
    REQUIRE(answered(ERR_OK) && g.tools == 1);
    CHECK(strcmp(g.tool[0].definition, "{\"changed\":true}") == 0);
    registry_read(b.s, 60000, SPAN("no mark"), on_tools, NULL);
    REQUIRE(answered(ERR_OK) && g.tools == 1);
    stop();
}

TEST(of_two_definitions_the_newer_worker_s_is_listed_and_both_are_told)
{
    struct registry_tool older = tool("t", "{\"by\":1}");
    struct registry_tool newer = tool("t", "{\"by\":2}");

    REQUIRE(start());
    REQUIRE(announce("worker01", 100, &older, 1));
    REQUIRE(announce("worker02", 200, &newer, 1));
    REQUIRE(read_tools(60000) && g.tools == 1);
    CHECK(strcmp(g.tool[0].definition, "{\"by\":2}") == 0);
    REQUIRE(announce("worker01", 100, &older, 1));
    CHECK(g.conflicts == 1 && strcmp(g.conflict, "t") == 0);
    REQUIRE(read_tools(60000) && g.tools == 1);
    CHECK(strcmp(g.tool[0].definition, "{\"by\":2}") == 0 && g.tool[0].conflict);
    stop();
}

static bool is_forgotten(void *arg)
{
    (void)arg;
    return read_tools(1) && g.tools == 0;
}

TEST(a_tool_that_nobody_announces_is_dropped_after_the_grace)
{
    struct registry_tool one = tool("t", "{}");

    REQUIRE(start());
    REQUIRE(announce("worker01", 100, &one, 1));
    registry_leave(a.s, SPAN("worker01"));
    CHECK(wait_for(10000, is_forgotten, NULL));
    CHECK(read_tools(60000));
    stop();
}

TEST(live_workers_are_listed_until_they_leave)
{
    struct registry_tool one = tool("t", "{}");

    REQUIRE(start());
    registry_workers(b.s, on_workers, NULL);
    REQUIRE(answered(ERR_OK) && g.workers == 0);
    REQUIRE(announce("worker01", 123, &one, 1));
    registry_workers(b.s, on_workers, NULL);
    REQUIRE(answered(ERR_OK) && g.workers == 1);
    CHECK(strcmp(g.wid, "worker01") == 0 && strcmp(g.pool, "pool1") == 0);
    CHECK(strcmp(g.info, "{\"host\":\"h\"}") == 0 && g.started_ms == 123);
    CHECK(g.seen_ms_ago < 10000);
    registry_leave(a.s, SPAN("worker01"));
    registry_workers(a.s, on_workers, NULL);
    REQUIRE(answered(ERR_OK) && g.workers == 0);
    stop();
}

TEST(a_worker_without_tools_may_announce_itself)
{
    REQUIRE(start());
    REQUIRE(announce("worker01", 1, NULL, 0) && g.conflicts == 0);
    registry_workers(b.s, on_workers, NULL);
    REQUIRE(answered(ERR_OK) && g.workers == 1);
    stop();
}

TEST(two_hundred_tools_are_no_trouble)
{
    enum { MANY = 200 };
    struct registry_tool *tools = mem_alloc(MANY * sizeof(*tools));
    char(*names)[16] = mem_alloc(MANY * sizeof(*names));

    REQUIRE(start());
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "tool%03u", i);
        tools[i] = tool(names[i], "{}");
    }
    REQUIRE(announce("worker01", 1, tools, MANY));
    REQUIRE(read_tools(60000));
    CHECK(g.tools == MANY && strcmp(g.tool[7].name, "tool007") == 0);
    stop();
    free(tools);
    free(names);
}

TEST(every_registry_call_ends_once_when_redis_dies)
{
    struct registry_tool one = tool("t", "{}");
    struct registry_worker w = {.wid = SPAN("worker01"), .pool = SPAN("p"), .info = SPAN("{}")};

    REQUIRE(start());
    g.a.calls = 0;
    test_redis_kill(&kit.redis);
    registry_announce(a.s, &w, &one, 1, on_announced, NULL);
    registry_read(a.s, 1, (struct span){NULL, 0}, on_tools, NULL);
    registry_workers(a.s, on_workers, NULL);
    registry_leave(a.s, w.wid);
    REQUIRE(kit_wait(&kit, &g.a, 3));
    CHECK(g.a.e == ERR_UNAVAILABLE && g.tools == 0);
    turn_for(kit.base, 50);
    CHECK(g.a.calls == 3);
    stop();
}

static void on_done(void *arg, enum err e)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
}

static bool want(const char *server, const char *uri)
{
    struct span uris[] = {span_of(uri)};

    registry_want(b.s, SPAN("o1"), span_of(server), uris, 1, on_done, NULL);
    return answered(ERR_OK);
}

TEST(the_worker_of_a_wrapped_server_learns_what_is_watched_of_it)
{
    struct registry_tool list[] = {tool("@docs", "{}"), tool("docs_t", "{}")};

    REQUIRE(start());
    REQUIRE(want("docs", "x://a") && want("docs", "x://b") && want("other", "x://c"));
    REQUIRE(kit_event(&a, STORE_EV_WANTED, NULL) != NULL);
    REQUIRE(announce("worker01", 100, list, 2));
    REQUIRE(g.wanted == 2 && g.conflicts == 0);
    CHECK(strcmp(g.want[0].server, "docs") == 0 && strcmp(g.want[0].uri, "x://a") == 0);
    CHECK(strcmp(g.want[1].server, "docs") == 0 && strcmp(g.want[1].uri, "x://b") == 0);
    list[0].definition = SPAN("{\"prompts\":[]}");
    REQUIRE(announce("worker02", 200, list, 2) && g.wanted == 2);
    REQUIRE(announce("worker01", 100, list, 1) && g.wanted == 0);
    stop();
}

TEST(what_is_watched_of_several_servers_is_asked_for_in_one_go)
{
    struct registry_tool list[] = {tool("@docs", "{}"), tool("@zoo", "{}")};
    static char uris[150][16];
    struct span watches[3 * 150];

    for (unsigned i = 0; i < 150; i++) {
        (void)snprintf(uris[i], sizeof(uris[i]), "x://%u", i);
        watches[3 * i] = i < 10 ? SPAN("o1") : SPAN("o2");
        watches[3 * i + 1] = i < 2 || i == 149 ? SPAN("zoo") : SPAN("docs");
        watches[3 * i + 2] = span_of(uris[i]);
    }
    REQUIRE(start());
    registry_want_all(b.s, watches, 150);
    registry_want_all(b.s, watches, 0);
    REQUIRE(want("zoo", "x://0"));
    REQUIRE(announce("worker01", 100, &list[0], 1) && g.wanted == 147);
    REQUIRE(announce("worker01", 100, &list[1], 1) && g.wanted == 3);
    stop();
}

TEST(a_change_of_a_resource_is_told_to_every_process_with_its_server)
{
    const struct kit_event *e;

    REQUIRE(start());
    registry_updated(a.s, SPAN("docs"), SPAN("file:///with a blank"));
    REQUIRE((e = kit_event(&b, STORE_EV_UPDATED, NULL)) != NULL);
    CHECK(strcmp(e->server, "docs") == 0 && strcmp(e->uri, "file:///with a blank") == 0);
    stop();
}

static unsigned awaited;

static bool has_so_many(void *arg)
{
    return kit_count(arg, STORE_EV_UPDATED, NULL) >= awaited;
}

TEST(a_server_that_says_the_same_without_end_is_told_of_twice)
{
    REQUIRE(start());
    for (int i = 0; i < 1000; i++)
        registry_updated(a.s, SPAN("docs"), SPAN("x://a"));
    registry_updated(a.s, SPAN("docs"), SPAN("x://b"));
    awaited = 3;
    CHECK(turn_until(kit.base, 10000, has_so_many, &b)); /* the first, one for all others, and b */
    turn_for(kit.base, 100);
    CHECK(kit_count(&b, STORE_EV_UPDATED, NULL) == 3);
    registry_updated(a.s, SPAN("docs"), SPAN("x://a"));
    awaited = 4;
    CHECK(turn_until(kit.base, 10000, has_so_many, &b));
    stop();
}

TEST(a_resource_that_changes_all_the_time_is_told_at_once_and_then_once_a_second)
{
    uint64_t began;
    unsigned told;

    REQUIRE(start());
    began = clock_mono_ms();
    while (clock_mono_ms() - began < 1500) {
        registry_updated(a.s, SPAN("docs"), SPAN("x://a"));
        turn_for(kit.base, 1);
    }
    awaited = 1;
    CHECK(turn_until(kit.base, 10000, has_so_many, &b));
    told = kit_count(&b, STORE_EV_UPDATED, NULL);
    CHECK(told >= 1 && told <= 2 + (clock_mono_ms() - began) / 1000);
    awaited = told + 1; /* the last one counts */
    CHECK(turn_until(kit.base, 10000, has_so_many, &b));
    stop();
}

TEST(a_change_while_redis_is_away_is_told_later)
{
    struct kit_store c;
    const struct kit_event *e;

    REQUIRE(start());
    kit_store_new(&c, &kit, (struct store_conf){.role = "worker", .subscribe = true});
    registry_updated(c.s, SPAN("docs"), SPAN("x://a"));
    REQUIRE(kit_store_wait(&c));
    CHECK(kit_count(&b, STORE_EV_UPDATED, NULL) == 0);
    registry_tell_changes(c.s);
    REQUIRE((e = kit_event(&b, STORE_EV_UPDATED, NULL)) != NULL);
    CHECK(strcmp(e->uri, "x://a") == 0);
    registry_updated(c.s, SPAN("docs"), SPAN("x://b"));
    kit_store_free(&c); /* with that one under way */
    kit_store_new(&c, &kit, (struct store_conf){.role = "worker", .subscribe = true});
    registry_updated(c.s, SPAN("docs"), SPAN("x://c"));
    kit_store_free(&c); /* and that one waiting */
    stop();
}

TEST(a_part_is_what_follows_a_slash)
{
    CHECK(registry_is_part(SPAN("x://a/b"), SPAN("x://a/b")));
    CHECK(registry_is_part(SPAN("x://a/b"), SPAN("x://a")));
    CHECK(registry_is_part(SPAN("x://a/b"), SPAN("x://a/")));
    CHECK(registry_is_part(SPAN("x://a/"), SPAN("x://a")));
    CHECK(!registry_is_part(SPAN("x://ab"), SPAN("x://a")));
    CHECK(!registry_is_part(SPAN("x://a"), SPAN("x://a/b")));
    CHECK(!registry_is_part(SPAN("x://a/b"), SPAN("x://b/b")));
}
