#include "common/store_stream.h"

#include "common/id.h"
#include "common/store_job.h"
#include "common/store_session.h"
#include "common/store_task.h"
#include "tests/lib/kit.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MAX = 16 };

static struct kit kit;
static struct kit_store a; /* two brokers */
static struct kit_store b;
static struct kit_store w; /* and a worker */

static const struct span OWNER = {"ownerownerowner1", 16};
static const struct span OTHER = {"ownerownerowner2", 16};
static char session[ID_LEN + 1];
static char task[ID_LEN + 1];
static char stream[STREAM_ID_LEN + 1];
static unsigned partition;
static struct store_held held;

static struct {
    struct kit_answer a;
    bool has_stream;
    bool gap;
    enum store_stream_kind kind;
    char id[KIT_TEXT];
    char session[KIT_TEXT];
    char owner[KIT_TEXT];
    char task[KIT_TEXT];
    char request[KIT_TEXT];
    size_t count;
    struct {
        bool is_task;
        enum task_state state;
        char entry[KIT_TEXT];
        char data[KIT_TEXT];
        char id[KIT_TEXT];
        char message[KIT_TEXT];
    } event[EVENTS_MAX];
    size_t questions;
    char key[KIT_TEXT];
    char method[KIT_TEXT];
    char params[KIT_TEXT];
    char lost[4][KIT_TEXT];
    enum store_verdict verdict;
    char answer[KIT_TEXT];
    bool hidden;
    enum task_state state;
} g;

static void on_stream(void *arg, enum err e, const struct store_stream *s, bool gap,
                      const struct store_stream_event *events, size_t count)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.gap = gap;
    g.count = count;
    g.has_stream = s != NULL;
    for (size_t i = 0; i < count && i < EVENTS_MAX; i++) {
        g.event[i].is_task = events[i].is_task;
        g.event[i].state = events[i].task.state;
        kit_copy(g.event[i].entry, events[i].entry);
        kit_copy(g.event[i].data, events[i].data);
        kit_copy(g.event[i].id, events[i].task.id);
        kit_copy(g.event[i].message, events[i].task.message);
    }
    if (s == NULL)
        return;
    g.kind = s->kind;
    kit_copy(g.id, s->id);
    kit_copy(g.session, s->session);
    kit_copy(g.owner, s->owner);
    kit_copy(g.task, s->task);
    kit_copy(g.request, s->request);
}

static void on_lost(void *arg, enum err e, const struct span *lost, size_t count)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.count = count;
    for (size_t i = 0; i < count && i < 4; i++)
        kit_copy(g.lost[i], lost[i]);
}

static void on_done(void *arg, enum err e)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
}

static void on_made(void *arg, enum err e, uint64_t retry_ms)
{
    (void)retry_ms;
    on_done(arg, e);
}

static void on_task(void *arg, enum err e, const struct store_result *r)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.hidden = r->task.hidden;
    g.state = r->task.state;
}

static void on_claim(void *arg, enum err e, const struct store_job *jobs, size_t count)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    if (count == 1)
        held.fence = jobs[0].fence;
    if (count == 1)
        g.hidden = jobs[0].hidden && jobs[0].dialect == 'L' && jobs[0].ask_ms == 7000;
}

static void on_verdict(void *arg, enum err e, enum store_verdict v)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.verdict = v;
}

static void on_asked(void *arg, enum err e, enum store_verdict v, struct span answer)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.verdict = v;
    kit_copy(g.answer, answer);
}

static void on_questions(void *arg, enum err e, const struct store_question *q, size_t count)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.questions = count;
    if (count == 0)
        return;
    kit_copy(g.key, q[0].key);
    kit_copy(g.method, q[0].method);
    kit_copy(g.params, q[0].params);
}

static bool answered(enum err e)
{
    unsigned calls = g.a.calls;

    return kit_wait(&kit, &g.a, calls + 1) && g.a.e == e;
}

static bool make_session(void)
{
    struct session s = {.id = span_of(session),
                        .owner = OWNER,
                        .version = SPAN("2025-11-25"),
                        .capabilities = SPAN("{}"),
                        .client = SPAN("{}")};

    session_create(a.s, &s, 60000, 0, on_made, NULL);
    return answered(ERR_OK);
}

static bool make_task(bool hidden)
{
    static const struct span tools[] = {{"tool", 4}};
    const struct store_worker worker = {.wid = span_of(store_self(w.s)),
                                        .pool = SPAN("pool"),
                                        .tools = tools,
                                        .tool_count = 1,
                                        .lease_ms = 30000};
    struct store_create c = {.id = span_of(task),
                             .owner = OWNER,
                             .tool = SPAN("tool"),
                             .priority = TASK_NORMAL,
                             .ttl_ms = 60000,
                             .attempts = 3,
                             .hidden = hidden,
                             .dialect = 'L',
                             .wait = true,
                             .session = span_of(session),
                             .params = SPAN("{}"),
                             .token = SPAN("0"),
                             .request = SPAN("\"r7\""),
                             .stream = hidden ? span_of(stream) : SPAN(""),
                             .ask_ms = 7000};

    store_create(a.s, &c, on_task, NULL);
    if (!answered(ERR_OK))
        return false;
    store_claim(w.s, partition, &worker, 1, on_claim, NULL);
    held.id = span_of(task);
    return answered(ERR_OK) && held.fence != 0;
}

static bool start_with(bool hidden, const char *const *redis)
{
    struct store_conf broker = {.subscribe = true, .role = "broker", .partitions = 2};
    struct store_conf worker = {.subscribe = true, .role = "worker", .partitions = 2};

    memset(&g, 0, sizeof(g));
    held.fence = 0;
    kit_start(&kit, redis);
    if (!kit_store_open(&a, &kit, broker) || !kit_store_open(&b, &kit, broker) ||
        !kit_store_open(&w, &kit, worker))
        return false;
    partition = store_partition_of_owner(a.s, OWNER);
    id_new(session, partition);
    id_new(task, partition);
    id_short(stream);
    return make_session() && make_task(hidden);
}

static bool start(bool hidden)
{
    return start_with(hidden, NULL);
}

static void stop(void)
{
    kit_store_free(&a);
    kit_store_free(&b);
    kit_store_free(&w);
    kit_stop(&kit);
}

static bool open_at(struct kit_store *p, enum store_stream_kind kind, const char *id)
{
    struct store_stream s = {.id = span_of(id),
                             .kind = kind,
                             .session = span_of(session),
                             .owner = OWNER,
                             .task = kind == STREAM_GET ? SPAN("") : span_of(task),
                             .request = kind == STREAM_GET ? SPAN("") : SPAN("\"r7\"")};

    store_stream_open(p->s, &s, on_stream, NULL);
    return answered(ERR_OK);
}

static bool ask(const char *key, bool hosted)
{
    store_ask(w.s, &held, span_of(key), SPAN("elicitation/create"), SPAN("{\"m\":1}"), hosted,
              on_asked, NULL);
    return answered(ERR_OK) && g.verdict == STORE_V_OK;
}

TEST(B15_a_question_is_carried_by_one_broker_and_answered_at_the_other)
{
    const struct kit_event *e;

    REQUIRE(start(false));
    REQUIRE(open_at(&a, STREAM_RESULT, "stream-1"));
    CHECK(g.count == 0 && !g.has_stream && !g.gap);
    REQUIRE(ask("k", false));
    REQUIRE((e = kit_event(&a, STORE_EV_STREAM, "")) != NULL);
    CHECK(strcmp(e->stream, "stream-1") == 0 && !e->is_task && e->entry[0] != '\0');
    CHECK(strncmp(e->data, "{\"jsonrpc\":\"2.0\",\"id\":\"", 23) == 0);
    CHECK(strstr(e->data, "/k/1\",\"method\":\"elicitation/create\"") != NULL);
    store_questions(b.s, held.id, OWNER, on_questions, NULL);
    REQUIRE(answered(ERR_OK));
    CHECK(g.questions == 1 && strcmp(g.key, "k") == 0);
    CHECK(strcmp(g.method, "elicitation/create") == 0 && strcmp(g.params, "{\"m\":1}") == 0);
    store_questions(b.s, held.id, OTHER, on_questions, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    store_answer(b.s, held.id, OWNER, span_of(task), SPAN("k"), SPAN("1"), on_task, NULL);
    REQUIRE(answered(ERR_NOT_FOUND)); /* no session that was asked */
    store_answer(b.s, held.id, OWNER, span_of(session), SPAN("k"), SPAN("{\"a\":2}"), on_task,
                 NULL);
    REQUIRE(answered(ERR_OK));
    CHECK(g.state == TASK_WORKING);
    REQUIRE((e = kit_event(&w, STORE_EV_INPUT, task)) != NULL);
    CHECK(strcmp(e->key, "k") == 0);
    store_questions(b.s, held.id, OWNER, on_questions, NULL);
    REQUIRE(answered(ERR_OK));
    CHECK(g.questions == 0);
    stop();
}

TEST(B14_a_stream_goes_on_at_another_broker_from_where_its_client_left)
{
    const struct span id = SPAN("stream-1");
    const struct kit_event *e;
    char first[KIT_TEXT];

    REQUIRE(start(false));
    REQUIRE(open_at(&a, STREAM_RESULT, "stream-1"));
    store_report(w.s, &held, SPAN("half"), SPAN("{\"progress\":5}"), SPAN("5"), on_verdict, NULL);
    REQUIRE(answered(ERR_OK) && g.verdict == STORE_V_OK);
    REQUIRE((e = kit_event(&a, STORE_EV_STREAM, "")) != NULL);
    (void)snprintf(first, sizeof(first), "%s", e->entry);
    CHECK(strstr(e->data, "\"progressToken\":0,\"progress\":5,\"_meta\"") != NULL);
    store_stream_drop(a.s, partition, SPAN("stream-1"), STREAM_DROPPED_MS);
    store_stream_keep(a.s, partition, &id, 1, on_lost, NULL); /* behind it, on the same link */
    REQUIRE(answered(ERR_OK) && g.count == 1);
    store_log(w.s, &held, SPAN("warning"), SPAN("\"l\""), SPAN("[1]"), on_verdict, NULL);
    REQUIRE(answered(ERR_OK) && g.verdict == STORE_V_OK);
    REQUIRE(ask("k", false));
    store_stream_resume(b.s, SPAN("stream-1"), span_of(first), span_of(session), OWNER, on_stream,
                        NULL);
    REQUIRE(answered(ERR_OK));
    CHECK(g.has_stream && g.kind == STREAM_RESULT && !g.gap && strcmp(g.id, "stream-1") == 0);
    CHECK(strcmp(g.session, session) == 0 && strcmp(g.owner, OWNER.p) == 0);
    CHECK(strcmp(g.task, task) == 0 && strcmp(g.request, "\"r7\"") == 0);
    REQUIRE(g.count == 2);
    CHECK(strstr(g.event[0].data, "\"level\":\"warning\",\"logger\":\"l\",\"data\":[1]") != NULL);
    CHECK(strstr(g.event[1].data, "/k/1\"") != NULL);
    store_stream_read(b.s, partition, SPAN("stream-1"), span_of(g.event[0].entry), on_stream, NULL);
    REQUIRE(answered(ERR_OK));
    CHECK(g.count == 1 && !g.has_stream);
    CHECK(kit_count(&a, STORE_EV_STREAM, NULL) == 1); /* nothing after it let go */
    stop();
}

TEST(H_25_a_stream_of_another_session_or_owner_is_not_there)
{
    REQUIRE(start(false));
    REQUIRE(open_at(&a, STREAM_GET, "stream-1"));
    store_stream_resume(b.s, SPAN("stream-1"), SPAN("0"), span_of(task), OWNER, on_stream, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    store_stream_resume(b.s, SPAN("stream-1"), SPAN("0"), span_of(session), OTHER, on_stream, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    store_stream_resume(b.s, SPAN("stream-9"), SPAN("0"), span_of(session), OWNER, on_stream, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    store_stream_resume(b.s, SPAN("stream-1"), SPAN("x"), span_of(session), OWNER, on_stream, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    CHECK(g.count == 0 && !g.has_stream);
    stop();
}

TEST(T_81_the_status_goes_to_the_newest_GET_stream_and_the_others_are_told)
{
    const struct kit_event *e;
    const struct span ids[] = {SPAN("stream-1"), SPAN("stream-2"), SPAN("stream-3")};

    REQUIRE(start(false));
    REQUIRE(open_at(&a, STREAM_GET, "stream-1"));
    REQUIRE(open_at(&b, STREAM_GET, "stream-2"));
    REQUIRE((e = kit_event(&a, STORE_EV_STREAM_SILENT, NULL)) != NULL);
    CHECK(strcmp(e->stream, "stream-1") == 0);
    store_report(w.s, &held, SPAN("half"), (struct span){NULL, 0}, (struct span){NULL, 0},
                 on_verdict, NULL);
    REQUIRE(answered(ERR_OK));
    REQUIRE((e = kit_event(&b, STORE_EV_STREAM, task)) != NULL);
    CHECK(e->is_task && e->state == TASK_WORKING && strcmp(e->message, "half") == 0);
    CHECK(strcmp(e->stream, "stream-2") == 0);
    store_stream_read(b.s, partition, SPAN("stream-2"), SPAN("0"), on_stream, NULL);
    REQUIRE(answered(ERR_OK));
    REQUIRE(g.count == 1);
    CHECK(g.event[0].is_task && strcmp(g.event[0].id, task) == 0);
    CHECK(strcmp(g.event[0].message, "half") == 0 && strcmp(g.event[0].data, "") == 0);
    store_stream_resume(a.s, SPAN("stream-2"), SPAN("0"), span_of(session), OWNER, on_stream, NULL);
    REQUIRE(answered(ERR_OK));
    REQUIRE((e = kit_event(&b, STORE_EV_STREAM_TAKEN, NULL)) != NULL);
    CHECK(strcmp(e->stream, "stream-2") == 0 && strcmp(e->session, "") == 0);
    store_stream_keep(a.s, partition, ids, 3, on_lost, NULL);
    REQUIRE(answered(ERR_OK));
    CHECK(g.count == 1 && strcmp(g.lost[0], "stream-3") == 0);
    store_stream_keep(b.s, partition, ids, 2, on_lost, NULL);
    REQUIRE(answered(ERR_OK));
    CHECK(g.count == 2 && strcmp(g.lost[1], "stream-2") == 0);
    stop();
}

TEST(a_plain_call_speaks_on_the_stream_it_reserved_and_may_become_a_task)
{
    const struct kit_event *e;

    REQUIRE(start(true));
    CHECK(g.hidden); /* and what else the job was told */
    REQUIRE(ask("h", true));
    REQUIRE((e = kit_event(&a, STORE_EV_STREAM, "")) != NULL);
    CHECK(strcmp(e->stream, stream) == 0);
    REQUIRE(open_at(&a, STREAM_CALL, stream));
    REQUIRE(g.count == 1);
    CHECK(strcmp(g.event[0].entry, e->entry) == 0);
    store_answer(b.s, held.id, OWNER, span_of(session), SPAN("h"),
                 SPAN("{\"task\":{\"taskId\":\"x\"}}"), on_task, NULL);
    REQUIRE(answered(ERR_OK));
    CHECK(g.state == TASK_INPUT);
    store_ask(w.s, &held, SPAN("h"), SPAN("elicitation/create"), SPAN("{\"m\":1}"), true, on_asked,
              NULL);
    REQUIRE(answered(ERR_OK));
    CHECK(strcmp(g.answer, "{\"task\":{\"taskId\":\"x\"}}") == 0);
    store_unask(w.s, &held, SPAN("h"), SPAN("{\"done\":1}"), on_verdict, NULL);
    REQUIRE(answered(ERR_OK) && g.verdict == STORE_V_OK);
    store_promote(b.s, held.id, OWNER, on_task, NULL);
    REQUIRE(answered(ERR_OK));
    CHECK(!g.hidden && g.state == TASK_WORKING);
    store_promote(b.s, held.id, OTHER, on_task, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    store_cancel(b.s, held.id, OWNER, 0, false, on_task, NULL);
    REQUIRE(answered(ERR_OK));
    store_promote(b.s, held.id, OWNER, on_task, NULL);
    REQUIRE(answered(ERR_TERMINAL));
    CHECK(g.state == TASK_CANCELLED);
    stop();
}

static bool all_are_down(void *arg)
{
    (void)arg;
    return a.down > 0 && b.down > 0 && w.down > 0;
}

TEST(a_killed_Redis_comes_back_with_every_stream_and_question)
{
    static const char *const durable[] = {"--appendonly", "yes", "--appendfsync", "always", NULL};

    REQUIRE(start_with(false, durable));
    REQUIRE(open_at(&a, STREAM_RESULT, "stream-1"));
    REQUIRE(ask("k", false));
    test_redis_kill(&kit.redis);
    REQUIRE(turn_until(kit.base, 10000, all_are_down, NULL));
    test_redis_restart(&kit.redis);
    REQUIRE(kit_store_wait(&a) && kit_store_wait(&b) && kit_store_wait(&w));
    store_stream_resume(b.s, SPAN("stream-1"), SPAN("0"), span_of(session), OWNER, on_stream, NULL);
    REQUIRE(answered(ERR_OK));
    REQUIRE(g.count == 1 && !g.gap);
    CHECK(strstr(g.event[0].data, "/k/1\"") != NULL);
    store_answer(b.s, held.id, OWNER, span_of(session), SPAN("k"), SPAN("1"), on_task, NULL);
    REQUIRE(answered(ERR_OK));
    store_ask(w.s, &held, SPAN("k"), SPAN("elicitation/create"), SPAN("{\"m\":1}"), false, on_asked,
              NULL);
    REQUIRE(answered(ERR_OK));
    CHECK(strcmp(g.answer, "1") == 0);
    stop();
}

/* What stands there is not of our making. */
TEST(a_stream_that_cannot_be_read_is_an_error)
{
    char prefix[32];

    REQUIRE(start(false));
    REQUIRE(open_at(&a, STREAM_GET, "stream-1"));
    (void)snprintf(prefix, sizeof(prefix), "%s", store_prefix(a.s, partition).p);
    for (size_t i = 0; i < 2; i++) {
        free(kit_redis(&kit, "DEL %ssx:stream-1", prefix));
        free(kit_redis(&kit, i == 0 ? "XADD %ssx:stream-1 1-1 z x" : "XADD %ssx:stream-1 1-1 t x",
                       prefix));
        store_stream_read(a.s, partition, SPAN("stream-1"), SPAN("0"), on_stream, NULL);
        REQUIRE(answered(ERR_INTERNAL));
        CHECK(g.count == 0);
        store_stream_resume(a.s, SPAN("stream-1"), SPAN("0"), span_of(session), OWNER, on_stream,
                            NULL);
        REQUIRE(answered(ERR_INTERNAL));
    }
    stop();
}

TEST(every_call_ends_when_Redis_goes)
{
    const struct span id = SPAN("stream-1");
    struct store_stream s = {.id = id, .kind = STREAM_GET, .session = id, .owner = OWNER};

    REQUIRE(start(false));
    g.a.calls = 0;
    test_redis_kill(&kit.redis);
    for (int i = 0; i < 20; i++) {
        store_stream_open(a.s, &s, on_stream, NULL);
        store_stream_resume(a.s, id, SPAN("0"), id, OWNER, on_stream, NULL);
        store_stream_read(a.s, 0, id, SPAN("0"), on_stream, NULL);
        store_stream_keep(a.s, 0, &id, 1, on_lost, NULL);
        store_stream_drop(a.s, 0, id, 1);
        store_questions(a.s, id, OWNER, on_questions, NULL);
        store_promote(a.s, id, OWNER, on_task, NULL);
        store_log(w.s, &held, id, id, id, on_verdict, NULL);
        store_unask(w.s, &held, id, id, on_verdict, NULL);
    }
    REQUIRE(kit_wait(&kit, &g.a, 160));
    CHECK(g.a.e == ERR_UNAVAILABLE);
    stop();
}
