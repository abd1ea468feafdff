#include "common/event.h"

#include "common/buf.h"
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char text[65536];

/* What fn writes to standard error, in `text`; its writes, one a packet, are counted. */
static size_t capture(void (*fn)(void))
{
    int fds[2];
    int saved = dup(STDERR_FILENO);
    size_t writes = 0;
    size_t n = 0;
    ssize_t got;

    if (saved == -1 || pipe2(fds, O_DIRECT | O_NONBLOCK) == -1)
        abort();
    (void)dup2(fds[1], STDERR_FILENO);
    fn();
    (void)dup2(saved, STDERR_FILENO);
    while ((got = read(fds[0], text + n, sizeof(text) - 1 - n)) > 0) {
        n += (size_t)got;
        writes++;
    }
    text[n] = '\0';
    (void)close(saved);
    (void)close(fds[0]);
    (void)close(fds[1]);
    return writes;
}

static void log_link_down(void)
{
    LOG(LINK_DOWN, S("why", "connection refused"), S("link", "commands"));
}

static void log_forged(void)
{
    LOG(LINK_DOWN, S("link", "x\" level=INFO\n{\"a\":1}\t\x1b[2J\xc2\x9b\xe2\x80\xa8\x7f"));
}

static void log_bad_utf8(void)
{
    LOG(LINK_DOWN, S("link", "a\xff\xc3"), SP("why", ((struct span){"a\0b", 3})));
}

static void log_absent(void)
{
    LOG(LINK_DOWN, S("link", NULL), S("why", ""), N("redis", 18446744073709551615U));
}

static char big[200000];

static void log_big(void)
{
    LOG(STARTED, S("program", "p"), S("version", big), S("listen", big), S("redis", big));
}

static void log_started(void)
{
    LOG(STARTED, S("program", "errand-broker"), S("version", "0.1.0"), S("redis", "redis://h:1/0"));
}

TEST(a_logfmt_line_has_its_head_and_then_the_fields_in_the_rows_order)
{
    event_setup("errand-test", EVENT_LOGFMT, EVENT_DEBUG);
    CHECK(capture(log_link_down) == 1);
    CHECK(strncmp(text, "time=20", 7) == 0);
    CHECK(strstr(text, "Z level=warn process=errand-test pid=") != NULL);
    CHECK(strstr(text, " event=LINK_DOWN text=\"redis link is down\" link=commands "
                       "why=\"connection refused\"\n") != NULL);
}

TEST(the_timestamp_is_RFC_3339_in_UTC)
{
    int n = 0;

    event_setup("errand-test", EVENT_LOGFMT, EVENT_DEBUG);
    (void)capture(log_link_down);
    (void)sscanf(text, "time=%*4d-%*2d-%*2dT%*2d:%*2d:%*2d.%*3dZ %n", &n);
    CHECK(n == 30);
}

TEST(a_json_line_is_one_object_with_the_same_names)
{
    struct span line;
    int64_t pid = 0;

    event_setup("errand-test", EVENT_JSON, EVENT_DEBUG);
    CHECK(capture(log_link_down) == 1);
    line = (struct span){text, strlen(text) - 1};
    CHECK(text[line.n] == '\n');
    CHECK(line.p[0] == '{' && line.p[line.n - 1] == '}');
    CHECK(strstr(text, "\"level\":\"warn\",\"process\":\"errand-test\",\"pid\":") != NULL);
    CHECK(strstr(text, ",\"event\":\"LINK_DOWN\",\"text\":\"redis link is down\","
                       "\"link\":\"commands\",\"why\":\"connection refused\"}\n") != NULL);
    (void)sscanf(strstr(text, "\"pid\":"), "\"pid\":%ld", &pid);
    CHECK(pid == getpid());
}

TEST(a_value_cannot_forge_a_line)
{
    const char *want = "\"x\\\" level=INFO\\n{\\\"a\\\":1}\\t\\u001b[2J\\u009b\\u2028\\u007f\"";

    for (int f = EVENT_LOGFMT; f <= EVENT_JSON; f++) {
        event_setup("errand-test", (enum event_format)f, EVENT_DEBUG);
        CHECK(capture(log_forged) == 1);
        CHECK(strchr(text, '\n') == text + strlen(text) - 1);
        CHECK(strstr(text, want) != NULL);
    }
}

TEST(bytes_that_are_not_text_are_shown_as_such)
{
    event_setup("errand-test", EVENT_LOGFMT, EVENT_DEBUG);
    (void)capture(log_bad_utf8);
    CHECK(strstr(text, "link=\"a\xef\xbf\xbd\xef\xbf\xbd\" why=\"a\\u0000b\"\n") != NULL);
}

TEST(an_absent_value_differs_from_an_empty_one_in_json_and_numbers_are_bare)
{
    event_setup("errand-test", EVENT_LOGFMT, EVENT_DEBUG);
    (void)capture(log_absent);
    CHECK(strstr(text, " link=\"\" redis=18446744073709551615 why=\"\"\n") != NULL);
    event_setup("errand-test", EVENT_JSON, EVENT_DEBUG);
    (void)capture(log_absent);
    CHECK(strstr(text, "\"link\":null,\"redis\":18446744073709551615,\"why\":\"\"}\n") != NULL);
}

TEST(a_line_has_at_most_4096_bytes_in_one_write_and_says_what_was_cut)
{
    static const char *const fills[] = {"a", "\n", "\x01", "\"", "\xf0\x9f\x8e\x89", "\xff", " "};

    for (size_t i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
        size_t len = strlen(fills[i]);

        for (size_t n = 0; n + len < sizeof(big); n += len)
            memcpy(big + n, fills[i], len + 1);
        for (int f = EVENT_LOGFMT; f <= EVENT_JSON; f++) {
            event_setup("errand-test", (enum event_format)f, EVENT_DEBUG);
            CHECK(capture(log_big) == 1);
            CHECK(strlen(text) <= EVENT_LINE_MAX && strlen(text) > EVENT_LINE_MAX - 200);
            CHECK(strstr(text, f == EVENT_JSON ? "\xe2\x80\xa6\"}\n" : "\xe2\x80\xa6\"\n") != NULL);
            CHECK(strstr(text, f == EVENT_JSON ? "\xe2\x80\xa6\",\"listen\":"
                                               : "\xe2\x80\xa6\" listen=") != NULL);
        }
    }
}

TEST(a_line_under_the_level_is_counted_but_not_written)
{
    uint64_t before = event_count(EVENT_STARTED);

    event_setup_named("errand-test", "logfmt", "warn");
    CHECK(capture(log_started) == 0);
    CHECK(event_count(EVENT_STARTED) == before + 1);
    CHECK(capture(log_link_down) == 1);
    event_setup_named("errand-test", "json", "info");
    CHECK(capture(log_started) == 1);
    CHECK(text[0] == '{');
    CHECK(event_count(EVENT_STARTED) == before + 2);
}

TEST(errno_is_left_alone)
{
    event_setup("errand-test", EVENT_LOGFMT, EVENT_DEBUG);
    errno = EBADMSG;
    (void)capture(log_link_down);
    errno = EBADMSG;
    log_link_down();
    CHECK(errno == EBADMSG);
}

static void log_unknown_key(void)
{
    LOG(LINK_DOWN, S("link", "x"), S("reason", "x"));
}

static void log_key_twice(void)
{
    LOG(LINK_DOWN, S("link", "x"), S("link", "y"));
}

static bool aborts(void (*fn)(void))
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

        (void)dup2(null, STDERR_FILENO);
        (void)signal(SIGABRT, SIG_DFL);
        fn();
        _exit(0);
    }
    return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

TEST(a_key_that_is_not_in_the_row_or_stands_twice_ends_the_process)
{
    event_setup("errand-test", EVENT_LOGFMT,
                EVENT_ERROR); /* checked even where nothing is written */
    CHECK(aborts(log_unknown_key));
    CHECK(aborts(log_key_twice));
    CHECK(!aborts(log_link_down));
}

TEST(no_row_declares_a_name_of_the_head_or_one_twice_or_too_long)
{
    static const char *const head[] = {"time", "level", "process", "pid", "event", "text"};

    for (size_t e = 0; e < EVENT_COUNT; e++) {
        char padded[512];
        char key[64];
        const char *at = event_fields((enum event_kind)e);

        (void)snprintf(padded, sizeof(padded), " %s ", at);
        for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++) {
            (void)snprintf(key, sizeof(key), " %s ", head[i]);
            CHECK(strstr(padded, key) == NULL);
        }
        while (*at != '\0') {
            int n = (int)strcspn(at, " ");

            CHECK(n > 0 && n <= 20);
            (void)snprintf(key, sizeof(key), " %.*s ", n, at);
            CHECK(strstr(strstr(padded, key) + 1, key) == NULL);
            at += n;
            at += strspn(at, " ");
        }
    }
}

TEST(the_docs_have_a_row_for_every_event)
{
    struct buf docs;

    buf_init(&docs, 1 << 20);
    event_docs(&docs);
    REQUIRE(buf_ok(&docs));
    for (size_t e = 0; e < EVENT_COUNT; e++) {
        char row[256];

        (void)snprintf(row, sizeof(row), "\n| `%s` | ", event_name((enum event_kind)e));
        CHECK(strstr(docs.p, row) != NULL);
        CHECK(strstr(docs.p, event_text((enum event_kind)e)) != NULL);
    }
    CHECK(strstr(docs.p,
                 "\n| `LINK_DOWN` | warn | redis link is down | `link` `redis` `why` |\n") != NULL);
    buf_fini(&docs);
}
