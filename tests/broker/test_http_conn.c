#include "common/clock.h"
#include "tests/lib/edge.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOLD "POST /hold HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
#define ECHO "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"

static bool has_no_connection(void *arg)
{
    return edge_stats(arg).connections == 0;
}

TEST(the_numbers_follow_the_connections)
{
    struct edge e;
    struct raw a;
    struct raw b;

    edge_start(&e, NULL);
    raw_open(&a, &e);
    raw_open(&b, &e);
    raw_send(&a, HOLD);
    raw_send(&b, "GET /sse HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(raw_sees(&b, "\r\n\r\n"));
    CHECK(edge_stats(&e).connections == 2);
    CHECK(edge_stats(&e).held == 1);
    CHECK(edge_stats(&e).streams == 1);
    CHECK(edge_stats(&e).requests == 2);
    raw_close(&a);
    raw_close(&b);
    CHECK(turn_until(e.base, 10000, has_no_connection, &e));
    CHECK(edge_stats(&e).held == 0);
    CHECK(edge_stats(&e).streams == 0);
    edge_stop(&e);
}

/* The edge's end of a client's connection, found among this process's descriptors. */
static int other_end(const struct raw *c)
{
    struct sockaddr_in mine;
    struct sockaddr_in peer = {0};
    socklen_t n = sizeof(mine);

    if (getsockname(c->fd, (struct sockaddr *)&mine, &n) != 0)
        return -1;
    for (int fd = 3; fd < 1024; fd++) {
        n = sizeof(peer);
        if (getpeername(fd, (struct sockaddr *)&peer, &n) == 0 && peer.sin_family == AF_INET &&
            peer.sin_port == mine.sin_port)
            return fd;
    }
    return -1;
}

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t n = sizeof(value);

    (void)getsockopt(fd, level, name, &value, &n);
    return value;
}

TEST(accepted_sockets_send_at_once_and_look_for_vanished_peers)
{
    struct edge e;
    struct raw c;
    int fd;

    edge_start(&e, NULL);
    raw_open(&c, &e);
    raw_send(&c, ECHO);
    CHECK(raw_sees(&c, "GET /echo"));
    fd = other_end(&c);
    CHECK(option(fd, IPPROTO_TCP, TCP_NODELAY) != 0);
    CHECK(option(fd, SOL_SOCKET, SO_KEEPALIVE) != 0);
    CHECK(option(fd, IPPROTO_TCP, TCP_KEEPIDLE) == 60);
    CHECK(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT) == 60000);
    raw_close(&c);
    edge_stop(&e);
}

static bool has_one_connection(void *arg)
{
    return edge_stats(arg).connections == 1;
}

TEST(a_client_that_leaves_before_it_is_looked_at_is_forgotten)
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    for (int i = 0; i < 200; i++) {
        raw_open(&c, &e);
        if (i % 2 != 0)
            raw_send(&c, "GET /ec");
        raw_close(&c);
    }
    raw_open(&c, &e);
    raw_send(&c, ECHO);
    CHECK(raw_sees(&c, "GET /echo"));
    CHECK(turn_until(e.base, 10000, has_one_connection, &e));
    CHECK(e.asked == 1);
    raw_close(&c);
    edge_stop(&e);
}

static bool has_one_of_each(void *arg)
{
    struct http_stats s = edge_stats(arg);

    return s.held == 1 && s.streams == 1;
}

TEST(the_edge_may_be_freed_with_connections_in_every_state)
{
    struct edge e;
    struct raw c[6];
    const char *texts[] = {"", "GET /ec", HOLD, "GET /sse HTTP/1.1\r\nHost: a\r\n\r\n",
                           "GET /echo HTTP/1.1\r\n\r\n"};

    edge_start(&e, NULL);
    for (int i = 0; i < 5; i++) {
        raw_open(&c[i], &e);
        raw_send(&c[i], texts[i]);
    }
    CHECK(turn_until(e.base, 10000, has_one_of_each, &e));
    turn_for(e.base, 50);
    raw_open(&c[5], &e);
    (void)event_base_loop(e.base, EVLOOP_NONBLOCK);
    http_free(e.h);
    CHECK(e.gone == 2); /* the held one and the stream */
    event_base_free(e.base);
    free(e.held);
    free(e.streams);
    for (int i = 0; i < 6; i++)
        raw_close(&c[i]);
}

static const char CALL[] =
    "POST %s HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: a client of ordinary length/1.0\r\n"
    "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
    "MCP-Protocol-Version: 2025-11-25\r\nMCP-Session-Id: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n"
    "Authorization: Bearer AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n"
    "Content-Length: %zu\r\n\r\n%s";

static const char BODY[] = "{\"jsonrpc\":\"2.0\",\"id\":17,\"method\":\"tasks/result\",\"params\":"
                           "{\"taskId\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}}";

struct crowd {
    struct edge e;
    struct raw *c;
    size_t n;
};

static bool all_are_asked(void *arg)
{
    struct crowd *w = arg;

    return w->e.asked == w->n;
}

static size_t bytes_a_connection(const char *path, size_t n)
{
    struct crowd w = {.n = n};
    char text[1024];
    size_t before;
    size_t after;

    (void)snprintf(text, sizeof(text), CALL, path, sizeof(BODY) - 1, BODY);
    edge_start(&w.e, NULL);
    w.c = calloc(n, sizeof(struct raw));
    before = mallinfo2().uordblks;
    for (size_t i = 0; i < n; i++) {
        raw_open(&w.c[i], &w.e);
        if (i % 64 == 0)
            (void)event_base_loop(w.e.base, EVLOOP_NONBLOCK);
    }
    for (size_t i = 0; i < n; i++) {
        raw_send(&w.c[i], text);
        if (i % 64 == 0)
            (void)event_base_loop(w.e.base, EVLOOP_NONBLOCK);
    }
    CHECK(turn_until(w.e.base, 30000, all_are_asked, &w));
    turn_for(w.e.base, 50);
    after = mallinfo2().uordblks;
    for (size_t i = 0; i < n; i++)
        raw_close(&w.c[i]);
    CHECK(turn_until(w.e.base, 30000, has_no_connection, &w.e));
    CHECK(w.e.gone == n);
    free(w.c);
    edge_stop(&w.e);
    return (after - before) / n;
}

/* Of the heap, evhttp's part included; other allocators than glibc's say 0. */
TEST(thousands_of_held_requests_and_streams_stay_small)
{
    size_t held = bytes_a_connection("/hold", 4000);
    size_t streams = bytes_a_connection("/sse", 4000);

    printf("bytes a held request: %zu, a stream: %zu\n", held, streams);
    CHECK(held < 8000);
    CHECK(streams < 8000);
}
