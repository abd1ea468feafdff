#include "common/clock.h"
#include "tests/lib/edge.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST "Host: localhost\r\n"
/* What a parser that was fooled would take for a second request. */
#define HIDDEN "GET /echo?hidden HTTP/1.1\r\n" HOST "\r\n"

/* Sends the bytes on a connection of their own: one answer of that status, then the end. */
static bool is_refused_bytes(const char *p, size_t n, const char *status)
{
    struct edge e;
    struct raw c;
    char line[64];
    bool ok;

    edge_start(&e, NULL);
    raw_open(&c, &e);
    raw_send_bytes(&c, p, n);
    (void)snprintf(line, sizeof(line), "HTTP/1.1 %s", status);
    ok = raw_sees(&c, "\r\n\r\n") && raw_sees_eof(&c, 10000) && raw_count(&c, "HTTP/1.") == 1 &&
         strncmp(c.text, line, strlen(line)) == 0 && e.asked == 0;
    if (!ok)
        printf("%.*s\n-> %s\n", (int)n, p, c.text);
    raw_close(&c);
    edge_stop(&e);
    return ok;
}

static bool is_refused(const char *text, const char *status)
{
    return is_refused_bytes(text, strlen(text), status);
}

TEST(L1_a_space_before_the_colon_is_refused)
{
    CHECK(is_refused("POST /echo HTTP/1.1\r\n" HOST "Content-Length : 30\r\n\r\n" HIDDEN, "400"));
    CHECK(is_refused("GET /echo HTTP/1.1\r\n" HOST "X Y: 1\r\n\r\n", "400"));
    CHECK(is_refused("GET /echo HTTP/1.1\r\n" HOST ": empty\r\n\r\n", "400"));
    CHECK(is_refused("GET /echo HTTP/1.1\r\n" HOST "X(Y): 1\r\n\r\n", "400"));
}

TEST(L2_two_content_lengths_are_refused)
{
    const char *heads[] = {"Content-Length: 5\r\nContent-Length: 0\r\n",
                           "Content-Length: 5\r\nContent-Length: 5\r\n",
                           "Content-Length: 0\r\ncontent-length: 5\r\n"};

    for (size_t i = 0; i < 3; i++) {
        char text[256];

        (void)snprintf(text, sizeof(text), "POST /echo HTTP/1.1\r\n" HOST "%s\r\nhello", heads[i]);
        CHECK(is_refused(text, "400"));
    }
}

TEST(headers_that_count_once_are_refused_when_they_come_twice)
{
    const char *heads[] = {
        "Mcp-Session-Id: a\r\nMcp-Session-Id: b\r\n",
        "Authorization: Bearer a\r\nauthorization: Bearer a\r\n",
        "MCP-Protocol-Version: 2025-11-25\r\nMcp-Protocol-Version: 2025-06-18\r\n",
        "Mcp-Method: ping\r\nX: y\r\nMcp-Method: ping\r\n",
        "Last-Event-ID: a.1\r\nlast-event-id: a.2\r\n",
        "Mcp-Name: a\r\nMcp-Name: b\r\n",
        "Origin: http://localhost\r\nOrigin: http://evil\r\n"};

    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        char text[256];

        (void)snprintf(text, sizeof(text),
                       "POST /echo HTTP/1.1\r\n" HOST "%sContent-Length: 5\r\n\r\nhello", heads[i]);
        CHECK(is_refused(text, "400"));
    }
}

TEST(L3_a_content_length_that_is_not_plain_digits_is_refused)
{
    const char *values[] = {"+5", "\t5", "-5", "0x5", "5 5", "5,5", "", "00000000005", "5a"};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char text[256];

        (void)snprintf(text, sizeof(text),
                       "POST /echo HTTP/1.1\r\n" HOST "Content-Length: %s\r\n\r\nhello", values[i]);
        CHECK(is_refused(text, "400"));
    }
}

TEST(L4_an_encoding_other_than_chunked_is_refused)
{
    const char *values[] = {"gzip", "xchunked", "identity", "chunked-ish"};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char text[512];

        (void)snprintf(text, sizeof(text),
                       "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: %s\r\n\r\n" HIDDEN,
                       values[i]);
        CHECK(is_refused(text, "501"));
    }
    CHECK(is_refused("POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked, gzip\r\n\r\n",
                     "400"));
}

TEST(L5_an_encoding_with_a_space_before_the_colon_is_refused)
{
    CHECK(is_refused("POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding : chunked\r\n\r\n" HIDDEN,
                     "400"));
}

TEST(L6_chunked_bodies_are_refused)
{
    const char *bodies[] = {"5\r\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n",
                            "+5\r\nhello\r\n0\r\n\r\n"};

    for (size_t i = 0; i < 3; i++) {
        char text[256];

        (void)snprintf(text, sizeof(text),
                       "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n%s",
                       bodies[i]);
        CHECK(is_refused(text, "411"));
    }
}

TEST(L7_lines_hosts_and_versions_are_taken_literally)
{
    CHECK(is_refused("GET /echo HTTP/1.1\n" HOST "\r\n", "400"));
    CHECK(is_refused("GET /echo HTTP/1.1\r\nHost: a\nX: y\r\n\r\n", "400"));
    CHECK(is_refused("GET /echo HTTP/1.1\r\n" HOST "X: y\r\n\n", "400"));
    CHECK(is_refused("GET /echo HTTP/1.1\r\n" HOST "X: y\r\n z\r\n\r\n", "400"));
    CHECK(is_refused("GET /echo HTTP/1.1\r\n" HOST "X: y\r\n\tz\r\n\r\n", "400"));
    CHECK(is_refused("GET /echo HTTP/1.1\r\n" HOST HOST "\r\n", "400"));
    CHECK(is_refused("GET /echo HTTP/1.1\r\n\r\n", "400"));
    CHECK(is_refused("GET /echo HTTP/1.9\r\n" HOST "\r\n", "505"));
    CHECK(is_refused("GET /echo HTTP/0.1\r\n" HOST "\r\n", "505"));
    CHECK(is_refused("GET /echo HTTP/1.257\r\n" HOST "\r\n", "505"));
    CHECK(is_refused("GET /echo HTTP/+1.1\r\n" HOST "\r\n", "505"));
    CHECK(is_refused("GET /echo HTTP/2.0\r\n" HOST "\r\n", "400"));
    CHECK(is_refused("GET /echo HTTP/1.1 \r\n" HOST "\r\n", "505"));
}

TEST(L8_a_nul_in_the_head_is_refused)
{
    static const char value[] = "GET /echo HTTP/1.1\r\n" HOST "Authorization: Bearer a\0b\r\n\r\n";
    static const char name[] = "GET /echo HTTP/1.1\r\n" HOST "X\0Y: a\r\n\r\n";
    static const char target[] = "GET /ec\0ho HTTP/1.1 HTTP/1.1\r\n" HOST "\r\n";

    CHECK(is_refused_bytes(value, sizeof(value) - 1, "400"));
    CHECK(is_refused_bytes(name, sizeof(name) - 1, "400"));
    CHECK(is_refused_bytes(target, sizeof(target) - 1, "400"));
    CHECK(is_refused("GET /echo HTTP/1.1\r\n" HOST "X: a\x01z\r\n\r\n", "400"));
}

TEST(L9_only_plain_paths_are_targets)
{
    CHECK(is_refused("GET http://evil.example/echo HTTP/1.1\r\n" HOST "\r\n", "400"));
    CHECK(is_refused("GET https://localhost/echo HTTP/1.1\r\n" HOST "\r\n", "400"));
    CHECK(is_refused("OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "400"));
    CHECK(is_refused("CONNECT localhost:80 HTTP/1.1\r\n" HOST "\r\n", "400"));
    CHECK(is_refused("GET /a b HTTP/1.1\r\n" HOST "\r\n", "400"));
    CHECK(is_refused("GET /a#b HTTP/1.1\r\n" HOST "\r\n", "400"));
    CHECK(is_refused("GET /\xc3\xa9 HTTP/1.1\r\n" HOST "\r\n", "400"));
}

TEST(a_body_that_would_not_be_read_is_refused)
{
    CHECK(is_refused("BREW /echo HTTP/1.1\r\n" HOST "Content-Length: 56\r\n\r\n" HIDDEN, "400"));
    CHECK(is_refused("HEAD /echo HTTP/1.1\r\n" HOST "Content-Length: 56\r\n\r\n" HIDDEN, "400"));
    CHECK(is_refused("TRACE /echo HTTP/1.1\r\n" HOST "Content-Length: 56\r\n\r\n" HIDDEN, "400"));
}

TEST(L31_an_encoding_beside_a_length_is_refused)
{
    CHECK(is_refused("POST /echo HTTP/1.1\r\n" HOST
                     "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" HIDDEN,
                     "400"));
    CHECK(is_refused("POST /echo HTTP/1.1\r\n" HOST
                     "Content-Length: 5\r\nTransfer-Encoding: gzip\r\n\r\nhello" HIDDEN,
                     "400"));
}

TEST(a_refusal_is_a_json_error_without_an_id)
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    raw_open(&c, &e);
    raw_send(&c, "GET /echo HTTP/1.1\r\n\r\n");
    CHECK(raw_sees(&c, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":"));
    CHECK(raw_count(&c, "Content-Type: application/json\r\n") == 1);
    CHECK(raw_count(&c, "Connection: close\r\n") == 1);
    CHECK(edge_stats(&e).refused == 1);
    raw_close(&c);
    edge_stop(&e);
}

TEST(every_ordinary_request_passes)
{
    const char *good[] = {
        "GET /echo HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /echo?a=b&c=%20 HTTP/1.1\r\nHOST:a:80\r\nAccept:*/*\r\n\r\n",
        "POST /echo HTTP/1.1\r\n" HOST "Content-Length:5\r\n\r\nhello",
        "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5 \r\nX:\r\nY: \t a \xc3\xa9 \r\n\r\nhello",
        "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\n\n \n",
        "DELETE /echo HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n",
        "HEAD /echo HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n",
        "BREW /echo HTTP/1.1\r\n" HOST "\r\n",
        "OPTIONS /echo HTTP/1.1\r\n" HOST "\r\n",
    };
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    raw_open(&c, &e); /* all on one connection, so nothing may be left over either */
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        raw_forget(&c);
        raw_send(&c, good[i]);
        CHECK(raw_sees(&c, "HTTP/1.1 200 OK\r\n"));
        CHECK(raw_sees(&c, "\r\n\r\n"));
        CHECK(e.asked == i + 1);
    }
    raw_close(&c);
    edge_stop(&e);
}

/* One request of the storm: whole ones and pieces of them, bytes changed at random, cut at random.
 */
static size_t make_mess(char *out, size_t room)
{
    static const char *parts[] = {
        "GET /echo HTTP/1.1\r\n" HOST "\r\n",
        "POST /hold HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello",
        "GET /sse HTTP/1.1\r\n" HOST "\r\n",
        "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n",
        "CONNECT a:1 HTTP/1.1\r\n" HOST "\r\n",
        "HEAD /sse HTTP/1.0\r\n\r\n",
        "\r\n\r\n",
        "Content-Length: 999999\r\n",
    };
    size_t n = 0;

    for (int i = rand() % 4; i >= 0; i--) {
        const char *part = parts[(size_t)rand() % (sizeof(parts) / sizeof(parts[0]))];

        if (n + strlen(part) > room)
            break;
        memcpy(out + n, part, strlen(part));
        n += strlen(part);
    }
    for (int i = rand() % 4; i > 0 && n != 0; i--)
        out[(size_t)rand() % n] = (char)(rand() % 256);
    return n;
}

static void answer_some(struct edge *e)
{
    for (size_t i = 0; i < e->held_count; i++)
        http_reply(e->held[i], 200, "text/plain", SPAN("done"));
    for (size_t i = 0; i < e->stream_count; i++) {
        sse_send(e->streams[i], NULL, SPAN("{}"));
        sse_end(e->streams[i]);
    }
    e->held_count = e->stream_count = 0;
}

static void forget_gone(void *arg)
{
    struct edge *e = arg;

    e->gone++;
}

static void hold_or_stream(struct edge *e, struct http_req *r)
{
    if (strcmp(http_path(r), "/sse") == 0 && http_method(r) != HTTP_OTHER)
        e->streams[e->stream_count++] = sse_start(r, forget_gone, e);
    else if (strcmp(http_path(r), "/hold") == 0)
        http_hold(e->held[e->held_count++] = r, forget_gone, e);
    else
        http_reply(r, 200, "text/plain", http_body(r));
}

static bool has_no_connection(void *arg)
{
    return edge_stats(arg).connections == 0;
}

TEST(requests_damaged_at_random_do_no_harm)
{
    struct edge e;

    srand(11);
    edge_start(&e, NULL);
    e.fn = hold_or_stream;
    for (int i = 0; i < 3000; i++) {
        char text[1024];
        size_t n = make_mess(text, sizeof(text));
        size_t cut = n != 0 ? (size_t)rand() % n : 0;
        struct raw c;

        raw_open(&c, &e);
        raw_send_bytes(&c, text, cut);
        (void)event_base_loop(e.base, EVLOOP_NONBLOCK);
        raw_send_bytes(&c, text + cut, n - cut);
        for (int turn = 0; turn < 3; turn++) {
            (void)event_base_loop(e.base, EVLOOP_NONBLOCK);
            answer_some(&e);
        }
        raw_close(&c);
    }
    CHECK(turn_until(e.base, 10000, has_no_connection, &e));
    CHECK(e.gone == 0);
    CHECK(edge_stats(&e).held == 0 && edge_stats(&e).streams == 0);
    edge_stop(&e);
}
