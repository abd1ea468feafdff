#include "broker/l/render.h"
#include "tests/lib/test.h"

#include <string.h>

static void related(const char *result, const char *want)
{
    struct buf out;

    buf_init(&out, 4096);
    l_related(&out, span_of(result), SPAN("T"));
    CHECK(span_is(buf_span(&out), want));
    buf_fini(&out);
}

#define RELATED "\"io.modelcontextprotocol/related-task\":{\"taskId\":\"T\"}"

TEST(T_54_related_task_is_merged_and_every_other_byte_stays)
{
    related("{}", "{\"_meta\":{" RELATED "}}");
    related("{\"content\":[]}", "{\"_meta\":{" RELATED "},\"content\":[]}");
    related("{\"a\":1.50,\"_meta\":{\"x\":9007199254740993},\"b\":\"\\u00e9\"}",
            "{\"a\":1.50,\"_meta\":{" RELATED ",\"x\":9007199254740993},\"b\":\"\\u00e9\"}");
    related("{\"_meta\":{}}", "{\"_meta\":{" RELATED "}}");
    related("{\"_meta\":null}", "{\"_meta\":{" RELATED "}}");
    /* A tool cannot speak for another task. */
    related("{\"_meta\":{\"io.modelcontextprotocol/related-task\":{\"taskId\":\"other\"},\"y\":1}}",
            "{\"_meta\":{" RELATED ",\"y\":1}}");
    related("{\"_meta\":{\"io.modelcontextprotocol\\/related-task\":{\"taskId\":\"x\"},\"y\":1}}",
            "{\"_meta\":{" RELATED ",\"y\":1}}");
}

static void task(const struct task *t, bool iserror_fails, const char *want)
{
    struct buf out;

    buf_init(&out, 4096);
    l_task(&out, t, iserror_fails);
    CHECK(span_is(buf_span(&out), want));
    buf_fini(&out);
}

#define TIMES \
    "\"createdAt\":\"2026-01-02T03:04:05.678Z\",\"lastUpdatedAt\":\"2026-01-02T03:04:06.000Z\"," \
    "\"ttl\":60000"

TEST(T_39_T_42_T_45_a_task_has_its_members_flat)
{
    struct task t = {.id = SPAN("T"),
                     .state = TASK_WORKING,
                     .created_ms = 1767323045678,
                     .updated_ms = 1767323046000,
                     .expires_ms = 1767323105678};

    task(&t, true, "{\"taskId\":\"T\",\"status\":\"working\"," TIMES "}");
    t.poll_ms = 500;
    t.message = SPAN("so \"far\"");
    task(&t, true,
         "{\"taskId\":\"T\",\"status\":\"working\",\"statusMessage\":\"so \\\"far\\\"\"," TIMES
         ",\"pollInterval\":500}");
}

TEST(T_89_iserror_is_failed_unless_the_operator_says_otherwise)
{
    struct task t = {.id = SPAN("T"), .state = TASK_RESULT, .is_error = true};
    struct buf out;

    buf_init(&out, 1024);
    l_task(&out, &t, true);
    CHECK(strstr(out.p, "\"failed\"") != NULL);
    buf_reset(&out);
    l_task(&out, &t, false);
    CHECK(strstr(out.p, "\"completed\"") != NULL);
    buf_fini(&out);
}
