#include "worker/upstream/lines.h"

#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

static struct lines lines;
static char told[4096];
static size_t longest;

static void on_line(void *arg, struct span text)
{
    size_t n = strlen(told);

    (void)arg;
    longest = text.n > longest ? text.n : longest;
    (void)snprintf(told + n, sizeof(told) - n, "<%.*s>", (int)(text.n < 100 ? text.n : 100),
                   text.p);
}

static void on_long(void *arg, struct span id)
{
    size_t n = strlen(told);

    (void)arg;
    (void)snprintf(told + n, sizeof(told) - n, "LONG(%.*s)", (int)id.n, id.p != NULL ? id.p : "");
}

static void begin(void)
{
    told[0] = '\0';
    longest = 0;
    lines_init(&lines, on_line, on_long, NULL);
}

TEST(bytes_become_lines_however_they_are_cut)
{
    static const char text[] = "{\"a\":1}\r\n\n  \n{\"b\":2}\nrest";

    for (size_t cut = 0; cut < sizeof(text) - 1; cut++) {
        begin();
        lines_feed(&lines, (struct span){text, cut});
        lines_feed(&lines, (struct span){text + cut, sizeof(text) - 1 - cut});
        CHECK(strcmp(told, "<{\"a\":1}><{\"b\":2}>") == 0);
        lines_fini(&lines);
    }
}

static void feed_long(const char *head, const char *tail, size_t piece)
{
    size_t n = LINES_MAX + 1;
    size_t total = strlen(head) + n + strlen(tail);
    char *text = malloc(total);

    memcpy(text, head, strlen(head));
    memset(text + strlen(head), 'x', n);
    memcpy(text + strlen(head) + n, tail, strlen(tail));
    for (size_t at = 0; at < total; at += piece)
        lines_feed(&lines, (struct span){text + at, total - at < piece ? total - at : piece});
    free(text);
}

TEST(B21_the_id_of_a_line_that_is_too_long_is_found_before_and_after_what_is_long)
{
    begin();
    feed_long("{\"jsonrpc\":\"2.0\",\"id\":42,\"result\":{\"id\":7,\"t\":\"", "\"}}\n", 65536);
    CHECK(strcmp(told, "LONG(42)") == 0);
    lines_fini(&lines);
    begin();
    feed_long("{\"result\":{\"id\":7,\"t\":[\"}\\\"",
              "\"]},\"jsonrpc\":\"2.0\",\"id\" : \"a\\\"b\"}\n", 1 << 20);
    CHECK(strcmp(told, "LONG(\"a\\\"b\")") == 0);
    lines_feed(&lines, SPAN("next\n"));
    CHECK(strcmp(told, "LONG(\"a\\\"b\")<next>") == 0);
    lines_fini(&lines);
    begin();
    feed_long("", "\n", 1 << 20);
    CHECK(strcmp(told, "LONG()") == 0);
    lines_fini(&lines);
}

TEST(B21_a_line_of_8_mib_is_one_line)
{
    size_t n = 8 << 20;
    char *text = malloc(n + 1);

    memset(text, 'y', n);
    text[n] = '\n';
    begin();
    lines_feed(&lines, (struct span){text, n + 1});
    CHECK(longest == n);
    free(text);
    lines_fini(&lines);
}
