#include "common/clock.h"
#include "tests/lib/edge.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HUGE = 10 * 1000 * 1000 };

static size_t open_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    size_t n = 0;

    while (d != NULL && readdir(d) != NULL)
        n++;
    if (d != NULL)
        (void)closedir(d);
    return n;
}

static size_t resident(void)
{
    char text[128] = "";
    FILE *f = fopen("/proc/self/statm", "r");

    if (f != NULL) {
        if (fgets(text, sizeof(text), f) == NULL)
            text[0] = '\0';
        (void)fclose(f);
    }
    return strtoul(text + strcspn(text, " "), NULL, 10) * 4096;
}

/* The body's bytes in pieces, all from one buffer. */
static void pour(struct raw *c, size_t n)
{
    static char waste[65536];

    for (; n != 0 && !c->eof && !c->reset; n -= n < sizeof(waste) ? n : sizeof(waste))
        raw_send_bytes(c, waste, n < sizeof(waste) ? n : sizeof(waste));
}

TEST(L10_a_body_far_too_large_is_answered_413_while_it_is_still_sent)
{
    struct edge e;
    struct raw c;
    size_t before;

    edge_start(&e, NULL);
    raw_open(&c, &e);
    turn_for(e.base, 20);
    before = resident();
    raw_send(&c, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n");
    pour(&c, HUGE);
    CHECK(raw_sees(&c, "HTTP/1.1 413"));
    CHECK(raw_sees_eof(&c, 10000));
    CHECK(raw_count(&c, "Connection: close\r\n") == 1);
    CHECK(resident() < before + 4 * 1024 * 1024);
    CHECK(e.asked == 0);
    raw_close(&c);
    edge_stop(&e);
}

TEST(a_refused_client_that_is_still_sending_gets_its_answer)
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    raw_open(&c, &e);
    raw_send(&c, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length : 3000000\r\n\r\n");
    pour(&c, 3000000);
    CHECK(raw_sees(&c, "HTTP/1.1 400"));
    CHECK(raw_sees_eof(&c, 10000));
    raw_close(&c);
    edge_stop(&e);
}

struct count {
    struct edge *e;
    size_t open;
};

static bool are_closed(void *arg)
{
    struct count *n = arg;

    return open_descriptors() <= n->open;
}

TEST(a_lingering_socket_is_closed_when_its_client_has_gone)
{
    struct http_conf conf = {.read_timeout_ms = 60000};
    struct edge e;
    struct raw gone;
    struct count n = {.e = &e};

    edge_start(&e, &conf);
    n.open = open_descriptors();
    raw_open(&gone, &e);
    raw_send(&gone, "GET /echo HTTP/1.1\r\n\r\n");
    CHECK(raw_sees(&gone, "HTTP/1.1 400"));
    raw_close(&gone);
    CHECK(turn_until(e.base, 10000, are_closed, &n));
    edge_stop(&e);
}

TEST(a_lingering_socket_is_closed_when_its_time_is_over)
{
    struct http_conf conf = {.read_timeout_ms = 500};
    struct edge e;
    struct raw stays;
    struct count n = {.e = &e};
    uint64_t start = clock_mono_ms();

    edge_start(&e, &conf);
    n.open = open_descriptors();
    raw_open(&stays, &e);
    raw_send(&stays, "GET /echo HTTP/1.1\r\n\r\n");
    CHECK(raw_sees_eof(&stays, 10000));
    n.open++; /* the client's end */
    CHECK(!are_closed(&n) || clock_mono_ms() - start >= conf.read_timeout_ms);
    CHECK(turn_until(e.base, 10000, are_closed, &n));
    raw_close(&stays);
    edge_stop(&e);
}

TEST(the_edge_may_be_freed_while_sockets_linger)
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    raw_open(&c, &e);
    raw_send(&c, "GET /echo HTTP/1.1\r\n\r\n");
    CHECK(raw_sees(&c, "HTTP/1.1 400"));
    edge_stop(&e);
    raw_close(&c);
}
