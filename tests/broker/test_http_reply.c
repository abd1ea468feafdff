#include "common/clock.h"
#include "tests/lib/edge.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ECHO "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"

static void stop(struct edge *e, struct raw *c)
{
    raw_close(c);
    edge_stop(e);
}

TEST(an_answer_carries_its_headers_and_no_store)
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    raw_open(&c, &e);
    raw_send(&c, "POST /echo?q=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    CHECK(raw_sees(&c, "POST /echo q=1 hello"));
    CHECK(strncmp(c.text, "HTTP/1.1 200 OK\r\n", 17) == 0);
    CHECK(raw_count(&c, "Cache-Control: no-store\r\n") == 1);
    CHECK(raw_count(&c, "Content-Type: text/plain\r\n") == 1);
    CHECK(raw_count(&c, "Content-Length: 20\r\n") == 1);
    CHECK(raw_count(&c, "Date: ") == 1);
    CHECK(raw_count(&c, " GMT\r\n") == 1);
    stop(&e, &c);
}

static void accept_it(struct edge *e, struct http_req *r)
{
    (void)e;
    http_set_header(r, "Retry-After", "1");
    http_reply(r, e->asked == 1 ? 202 : 429, NULL, SPAN(""));
}

TEST(H8_an_empty_answer_has_a_length_and_no_type)
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    e.fn = accept_it;
    raw_open(&c, &e);
    raw_send(&c, ECHO);
    CHECK(raw_sees(&c, "HTTP/1.1 202 Accepted\r\n"));
    CHECK(raw_sees(&c, "Content-Length: 0\r\n"));
    CHECK(raw_sees(&c, "Retry-After: 1\r\n"));
    CHECK(raw_count(&c, "Content-Type") == 0);
    raw_send(&c, ECHO);
    CHECK(raw_sees(&c, "HTTP/1.1 429 Too Many Requests\r\n"));
    stop(&e, &c);
}

static void close_it(struct edge *e, struct http_req *r)
{
    (void)e;
    http_close_after(r);
    http_close_after(r);
    http_reply(r, 200, "text/plain", SPAN("bye"));
}

TEST(an_answer_may_close_its_connection)
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    e.fn = close_it;
    raw_open(&c, &e);
    raw_send(&c, ECHO ECHO);
    CHECK(raw_sees_eof(&c, 10000));
    CHECK(raw_count(&c, "Connection: close\r\n") == 1);
    CHECK(raw_count(&c, "HTTP/1.1 200") == 1);
    stop(&e, &c);
}

static void set_bad_header(struct edge *e, struct http_req *r)
{
    (void)e;
    http_set_header(r, "X", "a\r\nSet-Cookie: b");
    _exit(0);
}

TEST(L24_a_header_with_a_line_break_ends_the_process)
{
    int status = 0;
    int pid = fork();

    if (pid == 0) {
        struct edge e;
        struct raw c;

        (void)freopen("/dev/null", "w", stderr);
        edge_start(&e, NULL);
        e.fn = set_bad_header;
        raw_open(&c, &e);
        raw_send(&c, ECHO);
        (void)raw_sees(&c, "HTTP");
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

TEST(L25_expect_is_answered_after_the_length_is_checked)
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    raw_open(&c, &e);
    raw_send(&c, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
                 "Expect: 100-continue\r\n\r\n");
    CHECK(raw_sees(&c, "HTTP/1.1 100 Continue\r\n\r\n"));
    raw_send(&c, "hello");
    CHECK(raw_sees(&c, "POST /echo - hello"));
    raw_forget(&c);
    raw_send(&c, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n"
                 "Expect: 100-continue\r\n\r\n");
    CHECK(raw_sees(&c, "HTTP/1.1 413"));
    CHECK(raw_sees_eof(&c, 10000));
    CHECK(raw_count(&c, "100 Continue") == 0);
    CHECK(e.asked == 1);
    stop(&e, &c);
}

TEST(L26_pipelined_requests_are_answered_in_order)
{
    struct edge e;
    struct raw c;

    edge_start(&e, NULL);
    raw_open(&c, &e);
    raw_send(&c, "GET /one HTTP/1.1\r\nHost: a\r\n\r\n"
                 "POST /two HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
                 "GET /three HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(raw_sees(&c, "GET /three - "));
    REQUIRE(strstr(c.text, "GET /one - ") != NULL && strstr(c.text, "POST /two - abc") != NULL);
    CHECK(strstr(c.text, "GET /one - ") < strstr(c.text, "POST /two - abc"));
    CHECK(strstr(c.text, "POST /two - abc") < strstr(c.text, "GET /three - "));
    stop(&e, &c);
}

TEST(L10_a_body_a_little_too_large_is_a_json_error_and_the_connection_goes_on)
{
    struct http_conf conf = {.body_max = 1000};
    char text[1200];
    int n = snprintf(text, sizeof(text),
                     "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n");
    struct edge e;
    struct raw c;

    memset(text + n, 'x', 1001);
    text[n + 1001] = '\0';
    edge_start(&e, &conf);
    raw_open(&c, &e);
    raw_send(&c, text);
    CHECK(raw_sees(&c, "HTTP/1.1 413"));
    CHECK(raw_sees(&c, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,"));
    raw_forget(&c);
    raw_send(&c, ECHO);
    CHECK(raw_sees(&c, "GET /echo - "));
    CHECK(e.asked == 1);
    stop(&e, &c);
}
