#include "worker/roster.h"

#include "tests/lib/test.h"

#define TOOL(name) "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"

static struct roster r;

static struct tools tools_of(const char *one, const char *two)
{
    struct tools all = {0};
    struct buf why;

    buf_init(&why, 4096);
    CHECK(tools_add_text(&all, one, NULL, &why));
    if (two != NULL)
        CHECK(tools_add_text(&all, two, NULL, &why));
    buf_fini(&why);
    return all;
}

TEST(a_worker_is_known_by_the_names_of_what_it_serves)
{
    struct tools all = tools_of(TOOL("a"), TOOL("b"));
    struct tools old;

    roster_init(&r, 10000);
    CHECK(r.self.wid.n == ID_SHORT_LEN && r.self.lease_ms == 10000 && r.self.tool_count == 0);
    old = roster_take(&r, &all);
    CHECK(old.n == 0 && all.n == 0 && all.v == NULL);
    CHECK(r.self.tool_count == 2 && span_is(r.self.tools[1], "b"));
    CHECK(r.self.pool.n == 22);
    CHECK(roster_has(&r, TOOL_HANDLER) && !roster_has(&r, TOOL_COMMAND));
    roster_fini(&r);
}

TEST(other_tools_are_another_pool_of_the_same_worker)
{
    struct tools all = tools_of(TOOL("a"), NULL);
    char before[23];
    char wid[ID_SHORT_LEN + 1];
    struct tools old;

    roster_init(&r, 10000);
    (void)roster_take(&r, &all);
    memcpy(before, r.pool, sizeof(before));
    memcpy(wid, r.wid, sizeof(wid));
    all = tools_of(TOOL("a"), TOOL("b"));
    old = roster_take(&r, &all);
    CHECK(old.n == 1 && r.self.tool_count == 2);
    CHECK(strcmp(r.pool, before) != 0 && span_is(r.self.pool, r.pool));
    CHECK(strcmp(r.wid, wid) == 0);
    tools_fini(&old);
    roster_fini(&r);
}

TEST(a_tool_that_somebody_holds_outlives_its_set)
{
    struct tools all = tools_of(TOOL("a"), NULL);
    struct tool *held = tool_hold(tools_find(&all, SPAN("a")));

    tools_fini(&all);
    CHECK(strcmp(held->name, "a") == 0);
    tool_let_go(held);
    tool_let_go(NULL);
}
