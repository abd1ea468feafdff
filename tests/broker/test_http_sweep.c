#include "common/clock.h"
#include "tests/lib/edge.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <event2/buffer.h>
#include <string.h>
#include <sys/socket.h>

static const struct http_conf quick = {.read_timeout_ms = 200, .idle_timeout_ms = 300};

/* Soon, and not before its time, in one of a few tries: a machine may stand still. Late is below
 * what holds without them. */
enum { SOON_MS = 2500, LATE_MS = 12000 };

/* Drips text until the edge closes; how long that took. */
static uint64_t drip(const struct http_conf *conf, const char *text, uint64_t *asked)
{
    struct edge e;
    struct raw c;
    uint64_t start = clock_mono_ms();
    size_t n = strlen(text);

    edge_start(&e, conf);
    raw_open(&c, &e);
    for (size_t i = 0; !raw_sees_eof(&c, 10) && !c.reset && clock_mono_ms() < start + LATE_MS; i++)
        raw_send_bytes(&c, text + i % n, 1);
    *asked = e.asked;
    raw_close(&c);
    edge_stop(&e);
    return clock_mono_ms() - start;
}

static bool drip_is_ended_soon(void)
{
    uint64_t asked;
    uint64_t took = drip(&quick, "GET /echo HTTP/1.1 and so on without an end", &asked);

    CHECK(asked == 0);
    return took >= 200 && took < SOON_MS;
}

TEST(L11_a_head_that_drips_in_is_cut_off)
{
    CHECK(in_time(drip_is_ended_soon));
}

static bool body_is_ended_soon(void)
{
    struct edge e;
    struct raw c;
    uint64_t start;
    uint64_t took;

    edge_start(&e, &quick);
    raw_open(&c, &e);
    start = clock_mono_ms();
    raw_send(&c, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
    while (!raw_sees_eof(&c, 10) && !c.reset && clock_mono_ms() < start + LATE_MS)
        raw_send(&c, "x");
    took = clock_mono_ms() - start;
    CHECK(e.asked == 0);
    CHECK(edge_stats(&e).connections == 0);
    raw_close(&c);
    edge_stop(&e);
    return took >= 200 && took < SOON_MS;
}

TEST(L11_a_body_that_drips_in_is_cut_off)
{
    CHECK(in_time(body_is_ended_soon));
}

static bool second_request_is_ended_soon(void)
{
    struct http_conf conf = {.read_timeout_ms = 200, .idle_timeout_ms = 60000};
    struct edge e;
    struct raw c;
    uint64_t start;
    uint64_t took;

    edge_start(&e, &conf);
    raw_open(&c, &e);
    raw_send(&c, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(raw_sees(&c, "GET /echo"));
    turn_for(e.base, 150);
    start = clock_mono_ms();
    raw_send(&c, "GET /ec");
    CHECK(raw_sees_eof(&c, LATE_MS));
    took = clock_mono_ms() - start;
    raw_close(&c);
    edge_stop(&e);
    return took >= 190 && took < SOON_MS;
}

TEST(L11_the_second_request_of_a_connection_has_its_own_time)
{
    CHECK(in_time(second_request_is_ended_soon));
}

static bool was_asked(void *arg)
{
    return ((struct edge *)arg)->asked != 0;
}

/* False when the machine stood still for so long that both were over at once. */
static bool each_has_its_time(void)
{
    struct edge e;
    struct raw fresh;
    struct raw used;
    uint64_t start = clock_mono_ms();
    uint64_t again;
    bool apart;

    edge_start(&e, &quick);
    raw_open(&fresh, &e);
    raw_open(&used, &e);
    turn_for(e.base, 100);
    again = clock_mono_ms();
    raw_send(&used, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
    apart = turn_until(e.base, 2000, was_asked, &e) && raw_sees(&used, "GET /echo");
    CHECK(raw_sees_eof(&fresh, LATE_MS));
    apart = apart && clock_mono_ms() - start >= 300 && clock_mono_ms() - start < SOON_MS &&
            edge_stats(&e).connections == 1;
    CHECK(raw_sees_eof(&used, LATE_MS) || used.reset);
    apart = apart && clock_mono_ms() - again >= 300 && clock_mono_ms() - start >= 400;
    raw_close(&fresh);
    raw_close(&used);
    edge_stop(&e);
    return apart;
}

TEST(a_connection_without_a_request_is_closed_when_its_time_is_over)
{
    CHECK(in_time(each_has_its_time));
}

/* False when the machine stood still for so long that the request came too late. */
static bool is_held_and_stays(void)
{
    struct edge e;
    struct raw c;
    bool came;

    edge_start(&e, &quick);
    raw_open(&c, &e);
    raw_send(&c, "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
    came = turn_until(e.base, 2000, was_asked, &e);
    if (came) {
        turn_for(e.base, 900);
        CHECK(e.held_count == 1 && e.gone == 0);
        http_reply(e.held[0], 200, "text/plain", SPAN("still here"));
        CHECK(raw_sees(&c, "still here"));
    }
    raw_close(&c);
    edge_stop(&e);
    return came;
}

TEST(a_held_request_outlives_every_timeout)
{
    CHECK(in_time(is_held_and_stays));
}

static void reply_large(struct edge *e, struct http_req *r)
{
    static char filler[65536];
    struct evbuffer *body = evbuffer_new();

    (void)e;
    for (int i = 0; i < 256; i++) /* 16 MiB without a copy */
        (void)evbuffer_add_reference(body, filler, sizeof(filler), NULL, NULL);
    http_reply_buffer(r, 200, "application/octet-stream", body);
    evbuffer_free(body);
}

static bool has_cut_it_off(void *arg)
{
    return edge_stats(arg).requests == 1 && edge_stats(arg).connections == 0;
}

static bool reader_is_cut_off_soon(void)
{
    struct http_conf conf = {.stall_timeout_ms = 200};
    struct edge e;
    struct raw c;
    uint64_t start;
    uint64_t took;

    edge_start(&e, &conf);
    e.fn = reply_large;
    raw_open(&c, &e);
    raw_send(&c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    start = clock_mono_ms();
    CHECK(turn_until(e.base, 10000, has_cut_it_off, &e));
    took = clock_mono_ms() - start;
    raw_close(&c);
    edge_stop(&e);
    return took >= 200 && took < SOON_MS;
}

TEST(a_client_that_takes_nothing_of_its_answer_is_cut_off)
{
    CHECK(in_time(reader_is_cut_off_soon));
}

/* False when the machine stood still for so long that it was no slow client. */
static bool all_is_taken_slowly(void)
{
    struct http_conf conf = {.stall_timeout_ms = 300};
    struct edge e;
    struct raw c;
    size_t n = 0;
    uint64_t start;
    uint64_t last;
    uint64_t pause = 0;

    edge_start(&e, &conf);
    e.fn = reply_large;
    raw_open(&c, &e);
    raw_send(&c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    start = last = clock_mono_ms();
    while (n < 16 * 1024 * 1024 && clock_mono_ms() < start + 20000) {
        char part[512 * 1024];
        ssize_t got = recv(c.fd, part, sizeof(part), MSG_DONTWAIT);

        if (got == 0)
            break;
        n += got > 0 ? (size_t)got : 0;
        turn_for(e.base, 20);
        pause = clock_mono_ms() - last > pause ? clock_mono_ms() - last : pause;
        last = clock_mono_ms();
    }
    CHECK(n > 16 * 1024 * 1024 || pause >= conf.stall_timeout_ms / 3);
    CHECK(n <= 16 * 1024 * 1024 || clock_mono_ms() - start > 600); /* it was slow */
    raw_close(&c);
    edge_stop(&e);
    return n > 16 * 1024 * 1024;
}

TEST(a_client_that_takes_its_answer_slowly_gets_all_of_it)
{
    CHECK(in_time(all_is_taken_slowly));
}
