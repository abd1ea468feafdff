#include "worker/run/wire.h"

#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

static struct wire w;
static char heard[4096];

static void note(const char *what, struct span a, struct span b, struct span c)
{
    size_t n = strlen(heard);

    (void)snprintf(heard + n, sizeof(heard) - n, "%s(%.*s|%.*s|%.*s)", what, (int)a.n,
                   a.p != NULL ? a.p : "", (int)b.n, b.p != NULL ? b.p : "", (int)c.n,
                   c.p != NULL ? c.p : "");
}

static void on_said(struct run_job *job, struct span message, struct span progress)
{
    (void)job;
    note("said", message, progress, SPAN(""));
}

static void on_logged(struct run_job *job, struct span level, struct span logger, struct span data)
{
    (void)job;
    note("logged", level, logger, data);
}

static void on_asked(struct run_job *job, struct span id, struct span method, struct span params)
{
    (void)job;
    note("asked", id, method, params);
}

static void on_withdrew(struct run_job *job, struct span id)
{
    (void)job;
    note("withdrew", id, SPAN(""), SPAN(""));
}

static const struct run_sink sink = {
    .said = on_said, .logged = on_logged, .asked = on_asked, .withdrew = on_withdrew};

static bool says(const char *line, const char *sink_heard, const char *told)
{
    struct span unread;
    bool ok;

    heard[0] = '\0';
    wire_feed(&w, line, strlen(line));
    wire_feed(&w, "\n", 1);
    unread = wire_unread(&w);
    ok = strcmp(heard, sink_heard) == 0 &&
         (told[0] == '\0' ? unread.n == 0 : unread.n > 0 && strstr(unread.p, told) != NULL);
    if (!ok)
        printf("%s\n%s\n%.*s\n", line, heard, (int)unread.n, unread.p);
    wire_was_read(&w, unread.n);
    return ok;
}

#define NOTE(method, params) \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" method "\",\"params\":" params "}"

TEST(notifications_are_told)
{
    wire_init(&w, &sink, NULL);
    CHECK(says(NOTE("progress", "{\"progress\":1.50,\"total\":3,\"message\":\"a\\u00e9\"}"),
               "said(a\xc3\xa9|{\"progress\":1.50,\"total\":3,\"message\":\"a\xc3\xa9\"}|)", ""));
    CHECK(says(NOTE("progress", "{\"progress\":2}"), "said(|{\"progress\":2}|)", ""));
    CHECK(says(NOTE("progress", "{\"progress\":\"2\"}"), "", ""));
    CHECK(says(NOTE("message", "{\"level\":\"error\",\"logger\":\"l\",\"data\":{\"x\":1}}"),
               "logged(error|\"l\"|{\"x\":1})", ""));
    CHECK(says(NOTE("message", "{\"level\":\"error\"}"), "", ""));
    CHECK(says(NOTE("cancelled", "{\"requestId\":\"a\"}"), "withdrew(\"a\"||)", ""));
    CHECK(says(NOTE("unknown", "{}"), "", ""));
    wire_fini(&w);
}

TEST(requests_are_told_with_their_ids_as_they_are)
{
    wire_init(&w, &sink, NULL);
    CHECK(says("{\"jsonrpc\":\"2.0\",\"id\":\"\\u0041\",\"method\":\"roots/list\"}",
               "asked(\"\\u0041\"|roots/list|)", ""));
    CHECK(says("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"x\",\"params\":{\"a\":1}}",
               "asked(0|x|{\"a\":1})", ""));
    CHECK(says("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"}", "",
               "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}\n"));
    CHECK(says("{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}", "", ""));
    wire_answer(&w, SPAN("\"q\""), SPAN("{\"error\":{\"code\":1}}"));
    CHECK(strcmp(wire_unread(&w).p,
                 "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"error\":{\"code\":1}}\n") == 0);
    wire_fini(&w);
}

TEST(what_is_no_message_is_answered_without_an_id)
{
    static const char none[] = "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32";

    wire_init(&w, &sink, NULL);
    CHECK(says("{", "", none));
    CHECK(says("[]", "", none));
    CHECK(says("{\"id\":1,\"method\":\"x\"}", "", none));
    CHECK(says("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"x\"}", "", none));
    CHECK(says("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"x\"}", "", none));
    CHECK(says("{\"jsonrpc\":\"2.0\",\"method\":1}", "", none));
    CHECK(says("\xff", "", none));
    CHECK(says("", "", "") && says(" \r", "", ""));
    wire_fini(&w);
}

TEST(a_line_that_is_too_long_is_skipped_and_the_next_one_heard)
{
    char *big = malloc(WIRE_LINE_MAX);

    memset(big, ' ', WIRE_LINE_MAX);
    wire_init(&w, &sink, NULL);
    for (int i = 0; i < 3; i++)
        wire_feed(&w, big, WIRE_LINE_MAX);
    CHECK(w.in.room <= WIRE_LINE_MAX * 2);
    CHECK(says("", "", "1 MiB"));
    CHECK(says("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"}", "", "\"result\""));
    wire_feed(&w, big, WIRE_LINE_MAX - 10); /* just not too long */
    CHECK(says("{}", "", "-32600"));
    wire_fini(&w);
    free(big);
}

TEST(errors_that_nobody_reads_are_dropped_and_answers_are_bounded)
{
    char *big = malloc(1 << 20);

    memset(big, 'x', 1 << 20);
    wire_init(&w, &sink, NULL);
    for (int i = 0; i < 100000; i++)
        wire_feed(&w, "{\n", 2);
    CHECK(wire_unread(&w).n < WIRE_UNREAD + 1024);
    for (int i = 0; i < 60 && !wire_is_stuck(&w); i++)
        wire_answer(&w, SPAN("1"), (struct span){big, 1 << 20});
    CHECK(wire_is_stuck(&w));
    wire_fini(&w);
    free(big);
}
