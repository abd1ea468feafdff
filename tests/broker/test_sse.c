#include "broker/sse.h"

#include "common/clock.h"
#include "tests/lib/edge.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define SSE "GET /sse HTTP/1.1\r\nHost: a\r\n\r\n"
#define ECHO "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"

static bool streams(void *arg)
{
    struct edge *e = arg;

    return e->stream_count != 0 && edge_stats(e).streams == e->stream_count;
}

static bool has_no_connection(void *arg)
{
    return edge_stats(arg).connections == 0;
}

static bool streams_none(void *arg)
{
    return edge_stats(arg).streams == 0;
}

static struct sse *open_stream(struct edge *e, struct raw *c, const struct http_conf *conf)
{
    edge_start(e, conf);
    raw_open(c, e);
    raw_send(c, SSE);
    if (!turn_until(e->base, 10000, streams, e))
        abort();
    return e->streams[0];
}

static void stop(struct edge *e, struct raw *c)
{
    raw_close(c);
    edge_stop(e);
}

TEST(B13_headers_go_out_at_once)
{
    struct edge e;
    struct raw c;

    (void)open_stream(&e, &c, NULL);
    CHECK(raw_sees(&c, "\r\n\r\n"));
    CHECK(raw_count(&c, "Content-Type: text/event-stream\r\n") == 1);
    CHECK(raw_count(&c, "Cache-Control: no-store\r\n") == 1);
    CHECK(raw_count(&c, "X-Accel-Buffering: no\r\n") == 1);
    CHECK(raw_count(&c, "Transfer-Encoding: chunked\r\n") == 1);
    raw_close(&c);
    CHECK(turn_until(e.base, 10000, streams_none, &e));
    CHECK(e.gone == 1);
    edge_stop(&e);
}

TEST(an_event_is_one_chunk_and_the_end_keeps_the_connection)
{
    struct edge e;
    struct raw c;
    struct sse *s = open_stream(&e, &c, NULL);

    sse_send(s, "s1-7", SPAN("{\"a\":1}"));
    CHECK(raw_sees(&c, "\r\n\r\n18\r\nid: s1-7\ndata: {\"a\":1}\n\n\r\n"));
    raw_forget(&c);
    sse_send(s, NULL, SPAN("{}"));
    CHECK(raw_sees(&c, "a\r\ndata: {}\n\n\r\n"));
    raw_forget(&c);
    sse_end(s);
    CHECK(raw_sees(&c, "0\r\n\r\n"));
    CHECK(edge_stats(&e).streams == 0);
    raw_forget(&c);
    raw_send(&c, ECHO);
    CHECK(raw_sees(&c, "GET /echo - "));
    CHECK(e.gone == 0);
    stop(&e, &c);
}

static const struct {
    const char *id, *data, *frame;
} frames[] = {
    {"a", "", "id: a\ndata: \n\n"}, /* H-11: the priming event */
    {NULL, "{\n  \"a\": 1\n}", "data: {\ndata:   \"a\": 1\ndata: }\n\n"},
    {NULL, "{\r\n\"a\":1}\r", "data: {\ndata: \"a\":1}\ndata: \n\n"},
    {NULL, "{\r\"a\":1}", "data: {\ndata: \"a\":1}\n\n"},
    {NULL, "\n", "data: \ndata: \n\n"},
    {NULL, "1\n\r2", "data: 1\ndata: \ndata: 2\n\n"},
    {NULL, "\r\n\r\n", "data: \ndata: \ndata: \n\n"},
    {"id with spaces", "[1,2]", "id: id with spaces\ndata: [1,2]\n\n"},
};

static bool sees_frame(struct raw *c, const char *frame)
{
    char text[256];

    (void)snprintf(text, sizeof(text), "%zx\r\n%s\r\n", strlen(frame), frame);
    if (raw_sees(c, text) && c->n == strlen(text))
        return true;
    printf("%s\n-> %s\n", text, c->text);
    return false;
}

TEST(J16_line_breaks_become_data_lines)
{
    struct edge e;
    struct raw c;
    struct sse *s = open_stream(&e, &c, NULL);
    struct evbuffer *buffer = evbuffer_new();

    CHECK(raw_sees(&c, "\r\n\r\n"));
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
        raw_forget(&c);
        sse_send(s, frames[i].id, span_of(frames[i].data));
        CHECK(sees_frame(&c, frames[i].frame));
        raw_forget(&c);
        (void)evbuffer_add(buffer, frames[i].data, strlen(frames[i].data));
        sse_send_buffer(s, frames[i].id, buffer);
        CHECK(evbuffer_get_length(buffer) == 0);
        CHECK(sees_frame(&c, frames[i].frame));
    }
    evbuffer_free(buffer);
    stop(&e, &c);
}

TEST(large_data_is_moved_and_arrives_whole)
{
    static char piece[40000];
    struct edge e;
    struct raw c;
    struct sse *s = open_stream(&e, &c, NULL);
    struct evbuffer *buffer = evbuffer_new();

    memset(piece, 'x', sizeof(piece));
    for (int i = 0; i < 3; i++)
        (void)evbuffer_add(buffer, piece, sizeof(piece));
    (void)evbuffer_add(buffer, "END", 3);
    sse_send_buffer(s, "big", buffer);
    CHECK(evbuffer_get_length(buffer) == 0);
    CHECK(sse_backlog(s) > 3 * sizeof(piece));
    CHECK(raw_sees(&c, "END\n\n\r\n"));
    CHECK(sse_backlog(s) == 0);
    CHECK(raw_count(&c, "1d4d3\r\nid: big\ndata: xxx") == 1); /* 120003 + 16 bytes */
    piece[20000] = '\n';
    (void)evbuffer_add(buffer, piece, sizeof(piece));
    raw_forget(&c);
    sse_send_buffer(s, NULL, buffer);
    CHECK(raw_sees(&c, "x\ndata: x"));
    CHECK(raw_sees(&c, "x\n\n\r\n"));
    evbuffer_free(buffer);
    stop(&e, &c);
}

TEST(H13_a_retry_field_is_a_block_of_its_own)
{
    struct edge e;
    struct raw c;

    sse_retry(open_stream(&e, &c, NULL), 1500);
    CHECK(raw_sees(&c, "\r\n\r\nd\r\nretry: 1500\n\n\r\n"));
    stop(&e, &c);
}

static void hold_it(struct edge *e, struct http_req *r)
{
    e->held[e->held_count++] = r;
    http_hold(r, edge_on_gone, e);
}

static bool holds(void *arg)
{
    return edge_stats(arg).held == 1;
}

TEST(a_held_request_may_become_a_stream)
{
    struct edge e;
    struct raw c;
    struct sse *s;

    edge_start(&e, NULL);
    e.fn = hold_it;
    raw_open(&c, &e);
    raw_send(&c, "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}");
    REQUIRE(turn_until(e.base, 10000, holds, &e));
    turn_for(e.base, 50);
    CHECK(c.n == 0);
    s = sse_start(e.held[0], edge_on_gone, &e);
    CHECK(edge_stats(&e).held == 0 && edge_stats(&e).streams == 1);
    sse_send(s, NULL, SPAN("{}"));
    CHECK(raw_sees(&c, "data: {}\n\n"));
    sse_end(s);
    CHECK(raw_sees(&c, "\r\n0\r\n\r\n"));
    e.fn = NULL;
    raw_send(&c, ECHO);
    CHECK(raw_sees(&c, "GET /echo"));
    CHECK(e.gone == 0);
    stop(&e, &c);
}

TEST(a_client_that_leaves_a_stream_is_noticed_at_once)
{
    struct edge e;
    struct raw c;

    (void)open_stream(&e, &c, NULL);
    raw_close(&c);
    CHECK(turn_until(e.base, 10000, streams_none, &e));
    CHECK(e.gone == 1);
    edge_stop(&e);
}

TEST(nothing_is_told_after_the_end)
{
    struct edge e;
    struct raw c;
    struct sse *s = open_stream(&e, &c, NULL);

    sse_send(s, NULL, SPAN("last"));
    sse_end(s);
    raw_close(&c);
    CHECK(turn_until(e.base, 10000, has_no_connection, &e));
    turn_for(e.base, 50);
    CHECK(e.gone == 0);
    edge_stop(&e);
}

TEST(L19_a_client_that_closes_its_sending_side_ends_its_stream)
{
    struct edge e;
    struct raw c;

    (void)open_stream(&e, &c, NULL);
    (void)shutdown(c.fd, SHUT_WR);
    CHECK(turn_until(e.base, 10000, streams_none, &e));
    CHECK(e.gone == 1);
    stop(&e, &c);
}

TEST(L20_an_http_1_0_stream_is_plain_and_ends_with_the_connection)
{
    for (int wait = 0; wait < 2; wait++) { /* ended while bytes wait, and when none do */
        struct edge e;
        struct raw c;

        edge_start(&e, NULL);
        raw_open(&c, &e);
        raw_send(&c, "GET /sse HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        REQUIRE(turn_until(e.base, 10000, streams, &e));
        sse_send(e.streams[0], NULL, SPAN("{}"));
        if (wait == 1)
            CHECK(raw_sees(&c, "data: {}\n\n"));
        sse_end(e.streams[0]);
        CHECK(raw_sees_eof(&c, 10000));
        CHECK(raw_count(&c, "\r\n\r\ndata: {}\n\n") == 1);
        CHECK(raw_count(&c, "Content-Length") == 0);
        CHECK(raw_count(&c, "chunked") == 0);
        CHECK(e.gone == 0);
        stop(&e, &c);
    }
}

static void stream_and_end(struct edge *e, struct http_req *r)
{
    struct sse *s = sse_start(r, edge_on_gone, e);

    sse_send(s, "1", SPAN("at once"));
    sse_end(s);
}

TEST(a_stream_may_end_in_the_handler)
{
    const char *asks[] = {SSE, "GET /sse HTTP/1.0\r\n\r\n"};

    for (int i = 0; i < 2; i++) {
        struct edge e;
        struct raw c;

        edge_start(&e, NULL);
        e.fn = stream_and_end;
        raw_open(&c, &e);
        raw_send(&c, asks[i]);
        CHECK(raw_sees(&c, "id: 1\ndata: at once\n\n"));
        CHECK(i == 0 ? raw_sees(&c, "0\r\n\r\n") : raw_sees_eof(&c, 10000));
        stop(&e, &c);
    }
}

TEST(a_request_pipelined_behind_a_stream_is_served_after_it)
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    raw_open(&c, &e);
    raw_send(&c, SSE ECHO);
    REQUIRE(turn_until(e.base, 10000, streams, &e));
    turn_for(e.base, 20);
    CHECK(e.asked == 1);
    sse_end(e.streams[0]);
    CHECK(raw_sees(&c, "GET /echo - "));
    stop(&e, &c);
}

struct many {
    struct edge e;
    struct raw c[100];
};

static bool hundred_stream(void *arg)
{
    return edge_stats(arg).streams == 100;
}

TEST(B22_the_edge_is_freed_with_open_streams)
{
    static struct many m;

    edge_start(&m.e, NULL);
    for (int i = 0; i < 100; i++) {
        raw_open(&m.c[i], &m.e);
        raw_send(&m.c[i], SSE);
    }
    CHECK(turn_until(m.e.base, 10000, hundred_stream, &m.e));
    for (int i = 0; i < 50; i++) {
        sse_end(m.e.streams[i]);
    }
    http_free(m.e.h);
    CHECK(m.e.gone == 50);
    event_base_free(m.e.base);
    free(m.e.held);
    free(m.e.streams);
    for (int i = 0; i < 100; i++)
        raw_close(&m.c[i]);
}
