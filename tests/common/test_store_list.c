/* Lists of tasks many of which have expired. */
#include "common/id.h"
#include "common/store_task.h"
#include "tests/lib/kit.h"
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

static struct kit kit;
static struct kit_store a;
static const struct span OWNER = {"ownerownerowner1", 16};

static struct {
    struct kit_answer a;
    size_t count;
    bool more;
    char id[KIT_TEXT];
} g;

static void on_task(void *arg, enum err e, const struct store_result *r)
{
    (void)arg;
    (void)r;
    g.a.calls++;
    g.a.e = e;
}

static void on_list(void *arg, enum err e, const struct task *tasks, size_t count, bool more,
                    uint64_t retry_ms)
{
    (void)arg;
    (void)retry_ms;
    g.a.calls++;
    g.a.e = e;
    g.count = count;
    g.more = more;
    if (count > 0)
        kit_copy(g.id, tasks[0].id);
}

/* So many of the owner's tasks have expired, and nobody has cleaned up yet. */
static void expire_many(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        free(kit_redis(&kit, "ZADD errand:{0}:o:%s %u 00expired-%u", OWNER.p, i, i));
}

TEST(T_76_what_stands_behind_a_great_many_that_have_expired_is_listed)
{
    char id[ID_LEN + 1];
    struct store_create c = {.owner = OWNER,
                             .tool = SPAN("tool"),
                             .ttl_ms = 60000,
                             .attempts = 3,
                             .dialect = 'L',
                             .params = SPAN("{}"),
                             .caller = SPAN("{}")};

    memset(&g, 0, sizeof(g));
    kit_start(&kit, NULL);
    REQUIRE(kit_store_open(&a, &kit, (struct store_conf){.partitions = 1}));
    free(kit_redis(&kit, "SET errand:{0}:sq 10000"));
    expire_many(2500);
    id_new(id, 0);
    c.id = span_of(id);
    store_create(a.s, &c, on_task, NULL);
    REQUIRE(kit_wait(&kit, &g.a, 1) && g.a.e == ERR_OK);
    store_list(a.s, OWNER, 0, 10, 1000, on_list, NULL);
    REQUIRE(kit_wait(&kit, &g.a, 2));
    CHECK(g.a.e == ERR_OK && g.count == 1 && !g.more && strcmp(g.id, id) == 0);
    expire_many(1500);
    store_list(a.s, OWNER, 10001, 10, 0, on_list, NULL);
    REQUIRE(kit_wait(&kit, &g.a, 3));
    CHECK(g.a.e == ERR_OK && g.count == 0 && !g.more);
    kit_store_free(&a);
    kit_stop(&kit);
}
