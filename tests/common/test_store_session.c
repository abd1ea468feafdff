#include "common/store_session.h"

#include "common/id.h"
#include "common/registry.h"
#include "common/store_stream.h"
#include "tests/lib/kit.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

static struct kit kit;
static struct kit_store a; /* two brokers */
static struct kit_store b;

static const struct span OWNER = {"ownerownerowner1", 16};
static const struct span OTHER = {"ownerownerowner2", 16};
static char id[ID_LEN + 1];

static struct {
    struct kit_answer a;
    bool given;
    bool initialized;
    char id[KIT_TEXT];
    char owner[KIT_TEXT];
    char version[KIT_TEXT];
    char capabilities[KIT_TEXT];
    char client[KIT_TEXT];
    char level[KIT_TEXT];
    uint64_t retry_ms;
    unsigned pairs;
    char server[KIT_TEXT];
    char uri[KIT_TEXT];
    char of[KIT_TEXT];
} g;

static void on_done(void *arg, enum err e)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
}

static void on_made(void *arg, enum err e, uint64_t retry_ms)
{
    g.retry_ms = retry_ms;
    on_done(arg, e);
}

static void on_read(void *arg, enum err e, const struct session *s)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.given = s != NULL;
    if (s == NULL)
        return;
    g.initialized = s->initialized;
    kit_copy(g.id, s->id);
    kit_copy(g.owner, s->owner);
    kit_copy(g.version, s->version);
    kit_copy(g.capabilities, s->capabilities);
    kit_copy(g.client, s->client);
    kit_copy(g.level, s->level);
}

static bool answered(enum err e)
{
    unsigned calls = g.a.calls;

    return kit_wait(&kit, &g.a, calls + 1) && g.a.e == e;
}

static bool start(void)
{
    struct session s = {.owner = OWNER,
                        .version = SPAN("2025-11-25"),
                        .capabilities = SPAN("{\"roots\":{}}"),
                        .client = SPAN("{\"name\":\"c\"}")};

    memset(&g, 0, sizeof(g));
    kit_start(&kit, NULL);
    if (!kit_store_open(&a, &kit, (struct store_conf){.partitions = 4}) ||
        !kit_store_open(&b, &kit, (struct store_conf){.partitions = 0}))
        return false;
    id_new(id, store_partition_of_owner(a.s, OWNER));
    s.id = span_of(id);
    session_create(a.s, &s, 60000, 0, on_made, NULL);
    return answered(ERR_OK);
}

static void stop(void)
{
    kit_store_free(&a);
    kit_store_free(&b);
    kit_stop(&kit);
}

TEST(B20_a_new_session_counts_against_the_rate)
{
    struct session s = {.id = span_of(id), .owner = OWNER};

    REQUIRE(start());
    session_create(a.s, &s, 60000, 1000, on_made, NULL);
    REQUIRE(answered(ERR_OK));
    session_create(b.s, &s, 60000, 1000, on_made, NULL);
    REQUIRE(answered(ERR_RATE));
    CHECK(g.retry_ms > 0 && g.retry_ms <= 1000);
    stop();
}

TEST(any_broker_reads_a_session)
{
    REQUIRE(start());
    session_read(b.s, span_of(id), OWNER, 60000, on_read, NULL);
    REQUIRE(answered(ERR_OK) && g.given);
    CHECK(strcmp(g.id, id) == 0 && span_is(OWNER, g.owner));
    CHECK(strcmp(g.version, "2025-11-25") == 0);
    CHECK(strcmp(g.capabilities, "{\"roots\":{}}") == 0);
    CHECK(strcmp(g.client, "{\"name\":\"c\"}") == 0);
    CHECK(strcmp(g.level, "") == 0 && !g.initialized);
    stop();
}

TEST(H_35_a_foreign_session_is_not_found)
{
    REQUIRE(start());
    session_read(a.s, span_of(id), OTHER, 60000, on_read, NULL);
    REQUIRE(answered(ERR_NOT_FOUND) && !g.given);
    session_end(a.s, span_of(id), OTHER, on_done, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    session_read(a.s, SPAN("x"), OWNER, 60000, on_read, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    stop();
}

TEST(a_session_remembers_what_it_is_told)
{
    REQUIRE(start());
    session_initialized(a.s, span_of(id), on_done, NULL);
    REQUIRE(answered(ERR_OK));
    session_set_level(b.s, span_of(id), SPAN("warning"), on_done, NULL);
    REQUIRE(answered(ERR_OK));
    session_read(b.s, span_of(id), OWNER, 60000, on_read, NULL);
    REQUIRE(answered(ERR_OK));
    CHECK(g.initialized && strcmp(g.level, "warning") == 0);
    session_set_level(b.s, SPAN("00zzzzzzzzzzzzzzzzzzzzzz"), SPAN("x"), on_done, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    stop();
}

TEST(a_session_that_ends_ends_at_every_broker)
{
    const struct kit_event *e;

    REQUIRE(start());
    session_end(a.s, span_of(id), OWNER, on_done, NULL);
    REQUIRE(answered(ERR_OK));
    REQUIRE((e = kit_event(&b, STORE_EV_SESSION_ENDED, NULL)) != NULL);
    CHECK(strcmp(e->session, id) == 0);
    CHECK(kit_event(&a, STORE_EV_SESSION_ENDED, NULL) != NULL);
    session_read(b.s, span_of(id), OWNER, 60000, on_read, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    session_end(a.s, span_of(id), OWNER, on_done, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    stop();
}

static void on_watches(void *arg, enum err e, const struct span *watches, size_t count)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.pairs = (unsigned)count;
    if (count != 0) {
        kit_copy(g.of, watches[0]);
        kit_copy(g.server, watches[1]);
        kit_copy(g.uri, watches[2]);
    }
}

TEST(what_a_session_watches_is_known_to_every_broker_until_it_is_dropped)
{
    struct span ids[] = {span_of(id)};
    unsigned partition = 0;

    REQUIRE(start());
    REQUIRE(id_parse(span_of(id), store_partitions(a.s), &partition));
    session_watch(a.s, span_of(id), OTHER, SPAN("docs"), SPAN("x://a"), 60000, on_done, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    session_watch(a.s, span_of(id), OWNER, SPAN("docs"), SPAN("x://a"), 60000, on_done, NULL);
    REQUIRE(answered(ERR_OK));
    session_watches(b.s, partition, ids, 1, 60000, on_watches, NULL);
    REQUIRE(answered(ERR_OK) && g.pairs == 1);
    CHECK(strcmp(g.server, "docs") == 0 && strcmp(g.uri, "x://a") == 0);
    CHECK(span_is(OWNER, g.of));
    session_unwatch(b.s, span_of(id), SPAN("x://a"), on_done, NULL);
    REQUIRE(answered(ERR_OK));
    session_unwatch(a.s, span_of(id), SPAN("x://a"), on_done, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    session_watches(a.s, partition, ids, 1, 60000, on_watches, NULL);
    REQUIRE(answered(ERR_OK) && g.pairs == 0);
    stop();
}

static void on_opened(void *arg, enum err e, const struct store_stream *stream, bool gap,
                      const struct store_stream_event *events, size_t count)
{
    (void)arg;
    (void)stream;
    (void)gap;
    (void)events;
    (void)count;
    g.a.calls++;
    g.a.e = e;
}

TEST(a_change_reaches_the_stream_of_who_watches_the_whole_in_any_partition)
{
    struct store_stream st = {.id = SPAN("stream-1"),
                              .kind = STREAM_GET,
                              .session = span_of(id),
                              .owner = OWNER,
                              .task = SPAN(""),
                              .request = SPAN("")};
    const struct kit_event *e;

    REQUIRE(start());
    st.session = span_of(id);
    store_stream_open(b.s, &st, on_opened, NULL);
    REQUIRE(answered(ERR_OK));
    session_watch(a.s, span_of(id), OWNER, SPAN("docs"), SPAN("x://a"), 60000, on_done, NULL);
    REQUIRE(answered(ERR_OK));
    registry_updated(a.s, SPAN("other"), SPAN("x://a"));
    registry_updated(a.s, SPAN("docs"), SPAN("x://a/b/c"));
    REQUIRE((e = kit_event(&b, STORE_EV_STREAM, NULL)) != NULL);
    CHECK(strcmp(e->stream, "stream-1") == 0);
    CHECK(strstr(e->data, "\"uri\":\"x://a/b/c\"") != NULL);
    stop();
}

TEST(every_session_call_ends_once_when_redis_dies)
{
    struct session s = {.id = span_of(id), .owner = OWNER};

    REQUIRE(start());
    g.a.calls = 0;
    test_redis_kill(&kit.redis);
    session_create(a.s, &s, 1000, 0, on_made, NULL);
    session_read(a.s, s.id, OWNER, 1000, on_read, NULL);
    session_initialized(a.s, s.id, on_done, NULL);
    session_set_level(a.s, s.id, SPAN("x"), on_done, NULL);
    session_end(a.s, s.id, OWNER, on_done, NULL);
    session_watch(a.s, s.id, OWNER, SPAN("docs"), SPAN("x://a"), 1000, on_done, NULL);
    session_unwatch(a.s, s.id, SPAN("x://a"), on_done, NULL);
    session_watches(a.s, 0, &s.id, 1, 1000, on_watches, NULL);
    REQUIRE(kit_wait(&kit, &g.a, 8));
    CHECK(g.a.e == ERR_UNAVAILABLE);
    turn_for(kit.base, 50);
    CHECK(g.a.calls == 8);
    stop();
}
