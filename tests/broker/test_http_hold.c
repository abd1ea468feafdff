#include "common/clock.h"
#include "common/list.h"
#include "common/mem.h"
#include "tests/lib/edge.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define HOLD "POST /hold HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
#define ECHO "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"

static bool holds(void *arg)
{
    struct edge *e = arg;

    return edge_stats(e).held == e->held_count && e->held_count != 0;
}

static bool holds_none(void *arg)
{
    return edge_stats(arg).held == 0;
}

static bool has_no_connection(void *arg)
{
    return edge_stats(arg).connections == 0;
}

static void answer(struct edge *e, size_t i, const char *text)
{
    http_reply(e->held[i], 200, "text/plain", span_of(text));
}

static void start_held(struct edge *e, struct raw *c)
{
    edge_start(e, NULL);
    raw_open(c, e);
    raw_send(c, HOLD);
    if (!turn_until(e->base, 10000, holds, e))
        abort();
}

static void stop(struct edge *e, struct raw *c)
{
    raw_close(c);
    edge_stop(e);
}

TEST(a_held_request_is_answered_later_on_a_kept_connection)
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    raw_open(&c, &e);
    for (size_t i = 0; i < 3; i++) {
        raw_send(&c, HOLD);
        REQUIRE(turn_until(e.base, 10000, holds, &e));
        answer(&e, 0, "later");
        e.held_count = 0;
        CHECK(edge_stats(&e).held == 0);
        CHECK(raw_sees(&c, "\r\n\r\nlater"));
        raw_forget(&c);
    }
    raw_close(&c);
    CHECK(turn_until(e.base, 10000, has_no_connection, &e));
    CHECK(e.gone == 0);
    edge_stop(&e);
}

TEST(a_held_request_is_answered_with_the_same_head_as_any_other)
{
    struct edge e;
    struct raw c;

    start_held(&e, &c);
    answer(&e, 0, "later");
    CHECK(raw_sees(&c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                       "Cache-Control: no-store\r\nDate: "));
    CHECK(raw_sees(&c, " GMT\r\nContent-Length: 5\r\n\r\nlater"));
    stop(&e, &c);
}

TEST(a_held_request_that_asks_for_it_closes_its_connection)
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    raw_open(&c, &e);
    raw_send(&c, "POST /hold HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                 "Content-Length: 2\r\n\r\n{}");
    REQUIRE(turn_until(e.base, 10000, holds, &e));
    answer(&e, 0, "bye");
    CHECK(raw_sees_eof(&c, 10000));
    CHECK(raw_count(&c, "Connection: close\r\n") == 1);
    CHECK(raw_count(&c, "\r\n\r\nbye") == 1);
    stop(&e, &c);
}

static bool holds_two(void *arg)
{
    return ((struct edge *)arg)->held_count == 2;
}

TEST(what_stands_in_a_list_is_cut_together_and_what_was_answered_stands_in_none)
{
    struct list bound;
    struct edge e;
    struct raw c;
    struct raw other;
    struct raw stream;

    list_init(&bound);
    start_held(&e, &c);
    http_bind(e.held[0], &bound);
    answer(&e, 0, "later");
    CHECK(list_empty(&bound));
    CHECK(raw_sees(&c, "later"));
    raw_open(&other, &e);
    raw_send(&other, HOLD);
    raw_forget(&c);
    e.held_count = 0;
    raw_send(&c, HOLD);
    raw_open(&stream, &e);
    raw_send(&stream, "GET /sse HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(raw_sees(&stream, "text/event-stream"));
    REQUIRE(turn_until(e.base, 10000, holds_two, &e));
    http_bind(e.held[0], &bound);
    http_bind(e.held[1], &bound);
    CHECK(http_cut(&bound) == 2 && list_empty(&bound) && e.gone == 0);
    CHECK(raw_sees_eof(&c, 10000) && raw_sees_eof(&other, 10000));
    CHECK(e.gone == 2 && edge_stats(&e).streams == 1);
    raw_close(&other);
    raw_close(&stream);
    stop(&e, &c);
}

struct intake {
    int fd;
    size_t n;
    char last;
};

static bool has_taken_all(void *arg)
{
    static char part[1 << 16];
    struct intake *in = arg;
    ssize_t n = recv(in->fd, part, sizeof(part), MSG_DONTWAIT);

    if (n > 0) {
        in->n += (size_t)n;
        in->last = part[n - 1];
    }
    return in->last == '!';
}

TEST(a_held_answer_larger_than_the_socket_takes_arrives_whole_and_the_next_request_is_served)
{
    enum { BIG = 12 << 20 };
    struct edge e;
    struct raw c;
    struct intake in = {0};
    char *text = mem_alloc(BIG + 1);

    memset(text, 'x', BIG);
    memcpy(text + BIG - 1, "!", 2);
    start_held(&e, &c);
    answer(&e, 0, text);
    in.fd = c.fd;
    CHECK(turn_until(e.base, 10000, has_taken_all, &in));
    CHECK(in.n > BIG && in.n < BIG + 300);
    raw_send(&c, ECHO);
    CHECK(raw_sees(&c, "GET /echo"));
    free(text);
    stop(&e, &c);
}

TEST(a_client_that_leaves_on_the_turn_of_its_answer_leaves_nothing_behind)
{
    struct edge e;
    struct raw c;

    start_held(&e, &c);
    raw_close(&c);
    answer(&e, 0, "too late"); /* before the loop has seen that */
    CHECK(turn_until(e.base, 10000, has_no_connection, &e));
    CHECK(e.gone == 0);
    edge_stop(&e);
}

TEST(L12_a_client_that_leaves_while_held_is_noticed_at_once)
{
    struct edge e;
    struct raw c;

    start_held(&e, &c);
    raw_close(&c);
    CHECK(turn_until(e.base, 10000, holds_none, &e));
    CHECK(e.gone == 1);
    CHECK(edge_stats(&e).connections == 0);
    edge_stop(&e);
}

TEST(L12_a_reset_while_held_is_noticed_at_once)
{
    struct linger abort_it = {.l_onoff = 1};
    struct edge e;
    struct raw c;

    start_held(&e, &c);
    (void)setsockopt(c.fd, SOL_SOCKET, SO_LINGER, &abort_it, sizeof(abort_it));
    raw_close(&c);
    CHECK(turn_until(e.base, 10000, holds_none, &e));
    CHECK(e.gone == 1);
    edge_stop(&e);
}

TEST(L13_a_byte_behind_a_held_request_ends_nothing)
{
    struct edge e;
    struct raw c;

    start_held(&e, &c);
    raw_send(&c, "G");
    turn_for(e.base, 50);
    CHECK(edge_stats(&e).held == 1);
    raw_send(&c, "ET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
    turn_for(e.base, 50);
    CHECK(e.asked == 1);
    answer(&e, 0, "first");
    CHECK(raw_sees(&c, "first"));
    CHECK(raw_sees(&c, "GET /echo"));
    CHECK(e.asked == 2);
    stop(&e, &c);
}

TEST(L13_a_flaw_behind_a_held_request_is_refused_in_its_turn)
{
    struct edge e;
    struct raw c;

    start_held(&e, &c);
    raw_send(&c, "GET /echo HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n" ECHO);
    turn_for(e.base, 20);
    answer(&e, 0, "first");
    CHECK(raw_sees_eof(&c, 10000));
    CHECK(raw_count(&c, "HTTP/1.1 200") == 1);
    CHECK(raw_count(&c, "HTTP/1.1 400") == 1);
    CHECK(e.asked == 1);
    stop(&e, &c);
}

TEST(L13_what_waits_behind_a_held_request_is_bounded)
{
    char *junk = calloc(1, 1000000);
    struct edge e;
    struct raw c;
    ssize_t sent = 0;

    start_held(&e, &c);
    for (int i = 0; i < 200; i++) { /* until the socket's buffers are full, too */
        ssize_t n = send(c.fd, junk, 1000000, MSG_DONTWAIT | MSG_NOSIGNAL);

        sent += n > 0 ? n : 0;
        turn_for(e.base, 1);
    }
    CHECK(sent < 20 * 1000000); /* of 200 MB */
    turn_for(e.base, 20);
    CHECK(event_base_get_num_events(e.base, EVENT_BASE_COUNT_ACTIVE) ==
          0); /* and the loop is at rest */
    answer(&e, 0, "first");
    CHECK(raw_sees(&c, "first"));
    free(junk);
    stop(&e, &c);
}

TEST(L14_ten_thousand_clients_come_and_leave)
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    for (size_t i = 0; i < 10000; i++) {
        raw_open(&c, &e);
        raw_send(&c, i % 2 != 0 ? HOLD : "GET /sse HTTP/1.1\r\nHost: a\r\n\r\n");
        if (i % 3 == 0)
            (void)event_base_loop(e.base, EVLOOP_NONBLOCK);
        raw_close(&c);
        (void)event_base_loop(e.base, EVLOOP_NONBLOCK);
    }
    CHECK(turn_until(e.base, 10000, has_no_connection, &e));
    CHECK(e.asked == 10000);
    CHECK(e.gone == e.held_count + e.stream_count);
    CHECK(edge_stats(&e).held == 0 && edge_stats(&e).streams == 0);
    edge_stop(&e);
}

/* One client of the storm below: its request is answered at some time, and it leaves at some
 * time. */
struct flaky {
    struct raw c;
    struct http_req *r; /* while it is ours to answer */
    unsigned told; /* on_gone calls after the answer, or twice */
    bool held;
};

static void on_flaky_gone(void *arg)
{
    struct flaky *f = arg;

    if (f->r == NULL)
        f->told++;
    f->r = NULL;
}

static void hold_flaky(struct edge *e, struct http_req *r)
{
    struct flaky *f = e->arg;

    f->r = r;
    f->held = true;
    http_hold(r, on_flaky_gone, f);
}

static bool is_held(void *arg)
{
    return ((struct flaky *)arg)->held;
}

static void take_step(struct edge *e, struct flaky *f)
{
    int what = rand() % 4;

    if (what == 0 && f->r != NULL) {
        struct http_req *r = f->r;

        f->r = NULL;
        http_reply(r, 200, "text/plain", SPAN("done"));
    } else if (what == 1 && f->c.fd > 0) {
        raw_close(&f->c);
    } else if (what == 2) {
        (void)event_base_loop(e->base, EVLOOP_NONBLOCK);
    }
}

static bool start_flaky(struct edge *e, struct flaky *f)
{
    *f = (struct flaky){0};
    e->arg = f;
    raw_open(&f->c, e);
    raw_send(&f->c, HOLD);
    return turn_until(e->base, 10000, is_held, f);
}

TEST(L15_answers_and_departures_in_any_order)
{
    enum { CLIENTS = 32, ROUNDS = 60 };
    static struct flaky all[CLIENTS];
    struct edge e;

    srand(7);
    edge_start(&e, NULL);
    e.fn = hold_flaky;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CLIENTS; i++)
            CHECK(start_flaky(&e, &all[i]));
        for (int step = 0; step < 4 * CLIENTS; step++)
            take_step(&e, &all[rand() % CLIENTS]);
        for (int i = 0; i < CLIENTS; i++) {
            if (all[i].c.fd > 0)
                raw_close(&all[i].c);
        }
        CHECK(turn_until(e.base, 10000, has_no_connection, &e));
        for (int i = 0; i < CLIENTS; i++)
            CHECK(all[i].told == 0 && all[i].r == NULL);
    }
    edge_stop(&e);
}

static void answer_the_first(struct edge *e, struct http_req *r)
{
    if (e->held_count == 0) {
        e->held[e->held_count++] = r;
        http_hold(r, edge_on_gone, e);
        return;
    }
    answer(e, 0, "from another's handler");
    http_reply(r, 200, "text/plain", SPAN("mine"));
}

TEST(a_request_may_be_answered_in_the_handler_of_another)
{
    struct edge e;
    struct raw a;
    struct raw b;

    edge_start(&e, NULL);
    e.fn = answer_the_first;
    raw_open(&a, &e);
    raw_open(&b, &e);
    raw_send(&a, ECHO);
    CHECK(turn_until(e.base, 10000, holds, &e));
    raw_send(&b, ECHO);
    CHECK(raw_sees(&b, "mine"));
    CHECK(raw_sees(&a, "from another's handler"));
    raw_close(&b);
    stop(&e, &a);
}

static void on_gone_answer_other(void *arg)
{
    struct edge *e = arg;

    e->gone++;
    answer(e, 1, "the other left");
}

TEST(a_request_may_be_answered_when_another_goes)
{
    struct edge e;
    struct raw a;
    struct raw b;

    edge_start(&e, NULL);
    raw_open(&a, &e);
    raw_send(&a, HOLD);
    CHECK(turn_until(e.base, 10000, holds, &e));
    raw_open(&b, &e);
    raw_send(&b, HOLD);
    REQUIRE(turn_until(e.base, 10000, holds_two, &e));
    http_hold(e.held[0], on_gone_answer_other, &e); /* held again: told elsewhere */
    raw_close(&a);
    CHECK(raw_sees(&b, "the other left"));
    CHECK(e.gone == 1);
    stop(&e, &b);
}

TEST(L19_a_client_that_closes_its_sending_side_has_left)
{
    struct edge e;
    struct raw c;

    start_held(&e, &c);
    (void)shutdown(c.fd, SHUT_WR);
    CHECK(turn_until(e.base, 10000, holds_none, &e));
    CHECK(e.gone == 1);
    stop(&e, &c);
}
