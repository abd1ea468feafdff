#include "common/clock.h"
#include "tests/lib/edge.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOLD "POST /hold HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
#define ECHO "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"

TEST(L23_every_method_reaches_the_handler)
{
    static const struct {
        const char *method, *seen;
    } all[] = {{"GET", "GET"},       {"POST", "POST"},     {"DELETE", "DELETE"}, {"PUT", "OTHER"},
               {"OPTIONS", "OTHER"}, {"PATCH", "OTHER"},   {"TRACE", "OTHER"},   {"BREW", "OTHER"},
               {"get", "OTHER"},     {"M-SEARCH", "OTHER"}};
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    raw_open(&c, &e);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char text[128];

        (void)snprintf(text, sizeof(text), "%s /m%zu HTTP/1.1\r\nHost: a\r\n\r\n", all[i].method,
                       i);
        raw_send(&c, text);
        (void)snprintf(text, sizeof(text), "%s /m%zu - ", all[i].seen, i);
        CHECK(raw_sees(&c, text));
    }
    raw_forget(&c);
    raw_send(&c, "HEAD /head HTTP/1.1\r\nHost: a\r\n\r\n" ECHO);
    CHECK(raw_sees(&c, "GET /echo"));
    CHECK(raw_count(&c, "/head") == 0); /* no body, and nothing out of step */
    raw_close(&c);
    edge_stop(&e);
}

static void refuse_method(struct edge *e, struct http_req *r)
{
    (void)e;
    http_set_header(r, "Allow", "POST, GET, DELETE");
    http_reply(r, 405, "application/json", SPAN("{\"mine\":true}"));
}

TEST(L23_an_answer_to_an_unknown_method_is_the_handlers)
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    e.fn = refuse_method;
    raw_open(&c, &e);
    raw_send(&c, "PUT /mcp HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(raw_sees(&c, "HTTP/1.1 405 Method Not Allowed\r\n"));
    CHECK(raw_sees(&c, "{\"mine\":true}"));
    raw_close(&c);
    edge_stop(&e);
}

TEST(L20_http_1_0_gets_one_plain_answer_and_a_close)
{
    const char *asks[] = {"GET /echo HTTP/1.0\r\n\r\n",
                          "GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
                          "GET /echo HTTP/1.0\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n"};

    for (size_t i = 0; i < 3; i++) {
        struct edge e;
        struct raw c;

        edge_start(&e, NULL);
        raw_open(&c, &e);
        raw_send(&c, asks[i]);
        CHECK(raw_sees_eof(&c, 10000));
        CHECK(strncmp(c.text, "HTTP/1.0 200 OK\r\n", 17) == 0);
        CHECK(raw_count(&c, "\r\n\r\nGET /echo - ") == 1);
        CHECK(raw_count(&c, "Transfer-Encoding") == 0);
        CHECK(raw_count(&c, "keep-alive") == 0);
        raw_close(&c);
        edge_stop(&e);
    }
}

static bool holds_one(void *arg)
{
    return edge_stats(arg).held == 1;
}

TEST(L20_a_held_http_1_0_request_is_answered_too)
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    raw_open(&c, &e);
    raw_send(&c, "GET /hold HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    REQUIRE(turn_until(e.base, 10000, holds_one, &e));
    http_reply(e.held[0], 200, "text/plain", SPAN("late"));
    CHECK(raw_sees_eof(&c, 10000));
    CHECK(raw_count(&c, "\r\n\r\nlate") == 1);
    raw_close(&c);
    edge_stop(&e);
}

static bool holds_one_of_two(void *arg)
{
    return holds_one(arg) && edge_stats(arg).connections == 2;
}

static bool can_connect(const struct edge *e)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(http_port(e->h))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool ok;

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ok = connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0;
    (void)close(fd);
    return ok;
}

TEST(a_drain_lets_open_connections_finish_and_closes_them)
{
    struct edge e;
    struct raw held;
    struct raw idle;

    edge_start(&e, NULL);
    raw_open(&held, &e);
    raw_open(&idle, &e);
    raw_send(&held, HOLD);
    REQUIRE(turn_until(e.base, 10000, holds_one_of_two, &e));
    CHECK(can_connect(&e));
    http_stop_listening(e.h);
    http_stop_listening(e.h);
    CHECK(!can_connect(&e));
    turn_for(e.base, 50);
    REQUIRE(e.held_count == 1 && e.gone == 0);
    raw_send(&idle, ECHO);
    CHECK(raw_sees(&idle, "GET /echo"));
    CHECK(raw_sees_eof(&idle, 10000));
    http_reply(e.held[0], 200, "text/plain", SPAN("finished"));
    CHECK(raw_sees(&held, "finished"));
    CHECK(raw_sees_eof(&held, 10000));
    CHECK(raw_count(&held, "Connection: close\r\n") == 1);
    raw_close(&held);
    raw_close(&idle);
    edge_stop(&e);
}

static bool reads_one(void *arg)
{
    return edge_stats(arg).reading == 1;
}

static void reply_much(struct edge *e, struct http_req *r)
{
    size_t n = 16U << 20; /* more than the sockets of both sides take */
    char *p = calloc(1, n);

    http_reply(r, 200, "text/plain", (struct span){p, n});
    free(p);
    (void)e;
}

static bool has_unsent(void *arg)
{
    return http_unsent(((struct edge *)arg)->h) > 0;
}

TEST(who_is_still_asking_or_taking_an_answer_can_be_seen)
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    e.fn = reply_much;
    raw_open(&c, &e);
    CHECK(edge_stats(&e).reading == 0 && http_unsent(e.h) == 0);
    raw_send(&c, "GET /much HTT");
    REQUIRE(turn_until(e.base, 10000, reads_one, &e));
    raw_send(&c, "P/1.1\r\nHost: a\r\n\r\n");
    REQUIRE(turn_until(e.base, 10000, has_unsent, &e));
    CHECK(edge_stats(&e).reading == 0);
    raw_close(&c);
    edge_stop(&e);
}

static bool holds_a_thousand(void *arg)
{
    return edge_stats(arg).held == 1000;
}

static void hold_a_thousand(struct edge *e, struct raw *c)
{
    edge_start(e, NULL);
    for (int i = 0; i < 1000; i++) {
        raw_open(&c[i], e);
        raw_send(&c[i], HOLD);
    }
    CHECK(turn_until(e->base, 10000, holds_a_thousand, e));
}

TEST(L28_the_edge_is_freed_with_a_thousand_held_requests)
{
    struct raw *c = calloc(1000, sizeof(*c));
    struct edge e;

    hold_a_thousand(&e, c);
    http_stop_listening(e.h);
    http_free(e.h);
    CHECK(e.gone == 1000);
    event_base_free(e.base);
    free(e.held);
    free(e.streams);
    for (int i = 0; i < 1000; i++)
        raw_close(&c[i]);
    free(c);
}

TEST(L28_a_thousand_held_requests_are_answered_503_before_the_end)
{
    struct raw *c = calloc(1000, sizeof(*c));
    struct edge e;

    hold_a_thousand(&e, c);
    http_stop_listening(e.h);
    for (int i = 0; i < 1000; i++)
        http_reply(e.held[i], 503, "application/json", SPAN("{}"));
    for (int i = 0; i < 1000; i++) {
        CHECK(raw_sees(&c[i], "HTTP/1.1 503 "));
        CHECK(raw_sees_eof(&c[i], 10000));
        raw_close(&c[i]);
    }
    CHECK(e.gone == 0);
    edge_stop(&e);
    free(c);
}

TEST(L28_answers_that_wait_are_written_before_the_edge_is_freed)
{
    struct raw *c = calloc(1000, sizeof(*c));
    struct edge e;

    hold_a_thousand(&e, c);
    for (int i = 0; i < 1000; i++)
        http_reply(e.held[i], 503, "application/json", SPAN("{\"last\":true}"));
    http_free(e.h);
    for (int i = 0; i < 1000; i++) {
        CHECK(raw_sees(&c[i], "{\"last\":true}"));
        raw_close(&c[i]);
    }
    CHECK(e.gone == 0);
    event_base_free(e.base);
    free(e.held);
    free(e.streams);
    free(c);
}
