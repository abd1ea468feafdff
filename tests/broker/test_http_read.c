#include "broker/http.h"

#include "tests/lib/edge.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sends one request and runs look() on it inside the handler. */
static void ask(const char *text, void (*look)(struct edge *e, struct http_req *r))
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    e.fn = look;
    raw_open(&c, &e);
    raw_send(&c, text);
    CHECK(raw_sees(&c, "HTTP/1.1 204 No Content\r\n"));
    CHECK(e.asked == 1);
    raw_close(&c);
    edge_stop(&e);
}

static void end(struct http_req *r)
{
    http_reply(r, 204, NULL, SPAN(""));
}

static void look_at_headers(struct edge *e, struct http_req *r)
{
    (void)e;
    CHECK(strcmp(http_header(r, "mcp-session-id"), "abc") == 0);
    CHECK(strcmp(http_header(r, "X-Tab"), "a \t b") == 0);
    CHECK(strcmp(http_header(r, "x-empty"), "") == 0);
    CHECK(http_header(r, "X-Absent") == NULL);
    CHECK(http_header_count(r, "x-twice") == 2);
    CHECK(strcmp(http_header(r, "x-twice"), "1") == 0);
    CHECK(http_header_count(r, "X-Absent") == 0);
    CHECK(strcmp(http_peer(r), "127.0.0.1") == 0);
    end(r);
}

TEST(H33_header_names_are_compared_without_case_and_values_trimmed)
{
    ask("GET / HTTP/1.1\r\nHost: a\r\nMCP-Session-Id:abc\r\nX-Tab: \t a \t b \t\r\nX-Empty:\r\n"
        "X-Twice: 1\r\nX-TWICE: 2\r\n\r\n",
        look_at_headers);
}

static void look_at_target(struct edge *e, struct http_req *r)
{
    (void)e;
    CHECK(strcmp(http_path(r), "/hooks/%41/b") == 0);
    CHECK(strcmp(http_query(r), "q=%20&r=?") == 0);
    CHECK(http_body(r).n == 0);
    CHECK(http_body(r).p != NULL);
    end(r);
}

TEST(path_and_query_are_not_decoded)
{
    ask("DELETE /hooks/%41/b?q=%20&r=? HTTP/1.1\r\nHost: a\r\n\r\n", look_at_target);
}

enum { BIG = 700 * 1000 };

static void look_at_body(struct edge *e, struct http_req *r)
{
    struct span body = http_body(r);

    (void)e;
    CHECK(body.n == BIG);
    CHECK(body.p[0] == 'a' && body.p[BIG - 1] == 'z');
    CHECK(http_body(r).p == body.p);
    end(r);
}

TEST(a_body_is_contiguous_however_large)
{
    char *text = malloc(BIG + 100);
    int n = snprintf(text, 100, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", BIG);

    memset(text + n, 'm', BIG);
    text[n] = 'a';
    text[n + BIG - 1] = 'z';
    text[n + BIG] = '\0';
    ask(text, look_at_body);
    free(text);
}

static const struct {
    const char *accept; /* header lines */
    bool json, stream, named; /* named: the stream */
} accepts[] = {
    {"", true, true, false},
    {"Accept: application/json, text/event-stream\r\n", true, true, true},
    {"Accept: application/json,text/event-stream\r\n", true, true, true},
    {"Accept: Application/JSON;q=0.5 , TEXT/event-stream ; q=1\r\n", true, true, true},
    {"Accept: application/json\r\nAccept: text/event-stream\r\n", true, true, true},
    {"Accept: */*\r\n", true, true, false},
    {"Accept: */*;q=0.1\r\n", true, true, false},
    {"Accept: text/*\r\n", false, true, false},
    {"Accept: application/*\r\n", true, false, false},
    {"Accept: application/json\r\n", true, false, false},
    {"Accept: application/jsonx\r\n", false, false, false},
    {"Accept: application/json-seq, text/event-streams\r\n", false, false, false},
    {"Accept: x/application/json\r\n", false, false, false},
    {"Accept: text/event-stream;q=0, application/json;q=0.0\r\n", false, false, false},
    {"Accept: application/json;charset=utf-8;q=0.9\r\n", true, false, false},
    {"Accept: text/html;level=\"1\"\r\n", false, false, false},
    {"Accept: ,, ,application/json,\r\n", true, false, false},
    {"Accept:\r\n", false, false, false},
};
static size_t row;

static void look_at_accept(struct edge *e, struct http_req *r)
{
    (void)e;
    CHECK(http_accepts(r, "application/json") == accepts[row].json);
    CHECK(http_accepts(r, "text/event-stream") == accepts[row].stream);
    CHECK(http_names(r, "text/event-stream") == accepts[row].named);
    end(r);
}

TEST(H6_accept_lists_types_and_ranges_or_is_absent)
{
    for (row = 0; row < sizeof(accepts) / sizeof(accepts[0]); row++) {
        char text[512];

        (void)snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: a\r\n%s\r\n",
                       accepts[row].accept);
        ask(text, look_at_accept);
    }
}
