#include "broker/sse.h"

#include "common/clock.h"
#include "tests/lib/edge.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define COMMENT "3\r\n:\n\n\r\n"
#define SSE "GET /sse HTTP/1.1\r\nHost: a\r\n\r\n"

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

TEST(B13_an_idle_stream_gets_a_comment_every_keepalive)
{
    struct http_conf conf = {.keepalive_ms = 100, .idle_timeout_ms = 50, .read_timeout_ms = 50};
    struct edge e;
    struct raw c;
    struct sse *s = open_stream(&e, &c, &conf);
    uint64_t start = clock_mono_ms();
    size_t n;

    CHECK(raw_sees(&c, "\r\n\r\n"));
    for (n = 0; n < 5 && clock_mono_ms() - start < 10000;) {
        turn_for(e.base, 50);
        (void)raw_sees(&c, COMMENT);
        n = raw_count(&c, COMMENT);
    }
    CHECK(n >= 5 && n <= (clock_mono_ms() - start) / conf.keepalive_ms + 1);
    CHECK(e.gone == 0); /* L18: and no timeout of a connection touches it */
    sse_end(s);
    stop(&e, &c);
}

TEST(a_stream_that_is_written_to_needs_no_comment)
{
    struct http_conf conf = {.keepalive_ms = 300};
    struct edge e;
    struct raw c;
    struct sse *s = open_stream(&e, &c, &conf);
    uint64_t sent = clock_mono_ms();
    uint64_t pause = 0; /* the longest: a machine that stands still makes a stream idle */

    for (int i = 0; i < 12; i++) {
        sse_send(s, NULL, SPAN("x"));
        turn_for(e.base, 50);
        pause = clock_mono_ms() - sent > pause ? clock_mono_ms() - sent : pause;
        sent = clock_mono_ms();
    }
    CHECK(raw_sees(&c, "data: x"));
    CHECK(raw_count(&c, ":\n\n") == 0 || pause >= conf.keepalive_ms);
    stop(&e, &c);
}

TEST(L16_what_a_client_sends_into_a_stream_is_bounded)
{
    struct http_conf conf = {.keepalive_ms = 1500};
    char *junk = calloc(1, 1000000);
    struct edge e;
    struct raw c;
    ssize_t sent = 0;
    uint64_t start;

    (void)open_stream(&e, &c, &conf);
    start = clock_mono_ms();
    for (int i = 0; i < 100; i++) {
        ssize_t n = send(c.fd, junk, 1000000, MSG_DONTWAIT | MSG_NOSIGNAL);

        sent += n > 0 ? n : 0;
        turn_for(e.base, 1);
    }
    CHECK(sent < 20 * 1000000); /* of 100 MB: what the kernel keeps */
    turn_for(e.base, 20);
    CHECK(event_base_get_num_events(e.base, EVENT_BASE_COUNT_ACTIVE) ==
          0); /* and the loop is at rest */
    CHECK(e.gone == 0 || clock_mono_ms() - start >= conf.keepalive_ms);
    CHECK(turn_until(e.base, 10000, streams_none, &e)); /* closed at the next comment */
    CHECK(e.gone == 1);
    free(junk);
    stop(&e, &c);
}

TEST(L17_a_reader_that_falls_behind_is_closed_on_a_later_turn)
{
    static char data[65536];
    struct http_conf conf = {.stream_max = 500000};
    struct edge e;
    struct raw c;
    struct sse *s = open_stream(&e, &c, &conf);
    size_t most = 0;

    memset(data, 'x', sizeof(data));
    for (int i = 0; i < 1000 && e.gone == 0; i++) { /* 64 MB, none of it read */
        sse_send(s, NULL, (struct span){data, sizeof(data)});
        CHECK(e.gone == 0);
        if (sse_backlog(s) > most)
            most = sse_backlog(s);
        if (i % 5 == 0)
            (void)event_base_loop(e.base, EVLOOP_NONBLOCK);
    }
    CHECK(most < 500000 + 70000);
    CHECK(turn_until(e.base, 10000, streams_none, &e));
    CHECK(e.gone == 1);
    stop(&e, &c);
}

TEST(L17_one_event_may_be_larger_than_the_backlog_allowed)
{
    static char data[300000];
    struct http_conf conf = {.stream_max = 1000};
    struct edge e;
    struct raw c;
    struct sse *s = open_stream(&e, &c, &conf);

    memset(data, 'x', sizeof(data));
    sse_send(s, "big", (struct span){data, sizeof(data)});
    CHECK(raw_sees(&c, "x\n\n\r\n"));
    CHECK(e.gone == 0);
    sse_send(s, "small", SPAN("{}"));
    CHECK(raw_sees(&c, "id: small"));
    stop(&e, &c);
}

static bool is_given_up_soon(void)
{
    static char data[65536];
    struct http_conf conf = {.stall_timeout_ms = 300, .keepalive_ms = 60};
    struct edge e;
    struct raw c;
    struct sse *s = open_stream(&e, &c, &conf);
    uint64_t start;
    uint64_t took;

    memset(data, 'x', sizeof(data));
    start = clock_mono_ms(); /* what is taken is taken after it */
    while (sse_backlog(s) < 200000) { /* until the kernel takes no more */
        while (sse_backlog(s) < 400000)
            sse_send(s, NULL, (struct span){data, sizeof(data)});
        for (int i = 0; i < 100; i++)
            (void)event_base_loop(e.base, EVLOOP_NONBLOCK);
    }
    while (e.gone == 0 && clock_mono_ms() < start + 12000) {
        sse_send(s, NULL, SPAN("still more, which is no progress"));
        turn_for(e.base, 10);
    }
    CHECK(e.gone == 1);
    took = clock_mono_ms() - start;
    stop(&e, &c);
    return took >= 250 && took < 2500;
}

TEST(L17_a_reader_that_takes_nothing_is_closed)
{
    CHECK(in_time(is_given_up_soon));
}

TEST(an_end_after_the_fall_is_quiet)
{
    static char data[2000000];
    struct http_conf conf = {.stream_max = 1000};
    struct edge e;
    struct raw c;
    struct sse *s = open_stream(&e, &c, &conf);

    memset(data, 'x', sizeof(data));
    sse_send(s, NULL, (struct span){data, sizeof(data)});
    sse_send(s, NULL, SPAN("one too many"));
    sse_send(s, NULL, SPAN("ignored"));
    sse_retry(s, 5);
    CHECK(sse_backlog(s) == 0);
    sse_end(s);
    CHECK(turn_until(e.base, 10000, has_no_connection, &e));
    turn_for(e.base, 50);
    CHECK(e.gone == 0);
    stop(&e, &c);
}
