#include "common/fetch.h"

#include "common/clock.h"
#include "common/mem.h"
#include "tests/lib/certs.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"
#include "tests/lib/upstream.h"

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct event_base *base;
static struct upstream server;
static struct fetcher *fetcher;
static struct asked held; /* the newest request of /hang and /stream */

static struct {
    unsigned ends;
    bool came;
    bool too_large;
    unsigned status;
    size_t n;
    char body[4096];
    char why[512];
    char type[64];
    uint64_t retry_ms;
} seen;

static void redirect(const struct asked *a, const char *status, const char *to)
{
    char line[2048];

    (void)snprintf(line, sizeof(line), "Location: %s\r\n", to);
    upstream_answer(a, status, line, "moved");
}

static void answer_big(const struct asked *a)
{
    char *body = mem_alloc(300001);

    memset(body, 'x', 300000);
    body[300000] = '\0';
    upstream_answer(a, "200 OK", "", body);
    free(body);
}

static void serve(void *arg, const struct asked *a)
{
    char *echo = mem_dup(server.newest.p, server.newest.n);

    (void)arg;
    if (strcmp(a->path, "/echo") == 0)
        upstream_answer(a, "200 OK", "Content-Type: text/plain\r\nX-A:  b \r\n", echo);
    else if (strcmp(a->path, "/busy") == 0)
        upstream_answer(a, "429 Too Many Requests", "Retry-After: 7\r\n", "slowly");
    else if (strcmp(a->path, "/date") == 0)
        upstream_answer(a, "503 Away", "Retry-After: Fri, 31 Dec 9998 23:59:59 GMT\r\n", "");
    else if (strcmp(a->path, "/big") == 0)
        answer_big(a);
    else if (strcmp(a->path, "/to-echo") == 0)
        redirect(a, "302 Found", "/echo");
    else if (strcmp(a->path, "/to-loop") == 0)
        redirect(a, "307 Again", "/to-loop");
    else if (strcmp(a->path, "/to-other") == 0)
        redirect(a, "303 See Other", strchr(echo, '?') != NULL ? "" : (const char *)arg);
    else if (strcmp(a->path, "/to-file") == 0)
        redirect(a, "302 Found", "file:///etc/hostname");
    else if (strcmp(a->path, "/cut") == 0)
        upstream_cut(a);
    else if (strcmp(a->path, "/early") == 0)
        upstream_write(a, "HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n"
                          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    else
        held = *a;
    free(echo);
}

static void open_all(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    base = event_base_new();
    upstream_start(&server, base, serve, NULL);
    fetcher = fetcher_new(base);
    memset(&seen, 0, sizeof(seen));
    memset(&held, 0, sizeof(held));
}

static bool is_closed(void *arg)
{
    (void)arg;
    return server.open == 0;
}

static void close_all(void)
{
    fetcher_free(fetcher);
    CHECK(turn_until(base, 10000, is_closed, NULL));
    upstream_stop(&server);
    event_base_free(base);
}

static void on_done(void *arg, struct fetch *f, const struct fetch_answer *a)
{
    struct span type = fetch_header(f, "content-TYPE");

    (void)arg;
    seen.ends++;
    seen.came = a->came;
    seen.too_large = a->too_large;
    seen.status = a->status;
    seen.n = a->body.n;
    seen.retry_ms = fetch_retry_ms(f);
    (void)snprintf(seen.body, sizeof(seen.body), "%.*s", (int)a->body.n, a->body.p);
    (void)snprintf(seen.why, sizeof(seen.why), "%s", a->came ? "" : a->why);
    (void)snprintf(seen.type, sizeof(seen.type), "%.*s", (int)type.n, type.p);
}

static bool has_ended(void *arg)
{
    return seen.ends >= *(const unsigned *)arg;
}

static bool ends(unsigned n)
{
    return turn_until(base, 20000, has_ended, &n);
}

static bool is_held(void *arg)
{
    (void)arg;
    return held.to != NULL;
}

static void get(const char *path, struct fetch_request r)
{
    r.method = r.method != NULL ? r.method : "GET";
    r.url = upstream_url(&server, path);
    r.on_done = on_done;
    memset(&seen, 0, sizeof(seen));
    (void)fetch_start(fetcher, &r);
    CHECK(seen.ends == 0);
    CHECK(ends(1));
}

#define GET(path, ...) get(path, (struct fetch_request){__VA_ARGS__})

TEST(a_request_is_sent_as_it_was_said_and_its_answer_comes_whole)
{
    static const char *const headers[] = {"X-One: 1", "Content-Type: application/json"};

    open_all();
    GET("/echo", .method = "POST", .headers = headers, .header_count = 2,
        .body = SPAN("{\"a\":1}"));
    CHECK(seen.came && seen.status == 200 && strcmp(seen.type, "text/plain") == 0);
    CHECK(strncmp(seen.body, "POST /echo HTTP/1.1\r\n", 21) == 0);
    CHECK(strstr(seen.body, "\r\nX-One: 1\r\n") != NULL);
    CHECK(strstr(seen.body, "\r\nContent-Type: application/json\r\n") != NULL);
    CHECK(strstr(seen.body, "\r\n\r\n{\"a\":1}") != NULL);
    GET("/echo", .method = "DELETE");
    CHECK(strncmp(seen.body, "DELETE /echo ", 13) == 0 && strstr(seen.body, "Length") == NULL);
    GET("/echo", .method = "POST");
    CHECK(strstr(seen.body, "Content-Length: 0\r\n") != NULL);
    CHECK(strstr(seen.body, "Content-Type") == NULL);
    GET("/echo", .method = "PUT", .body = SPAN("x"));
    CHECK(strncmp(seen.body, "PUT /echo ", 10) == 0 && strstr(seen.body, "Content-Type") == NULL);
    CHECK(server.connections == 1); /* one was enough for all of them */
    close_all();
}

TEST(every_status_is_an_answer_and_Retry_After_is_read)
{
    open_all();
    GET("/busy", .timeout_ms = 20000);
    CHECK(seen.came && seen.status == 429 && seen.retry_ms == 7000);
    CHECK(strcmp(seen.body, "slowly") == 0);
    GET("/date", .timeout_ms = 20000);
    CHECK(seen.status == 503 && seen.retry_ms > 365ULL * 24 * 3600 * 1000);
    CHECK(seen.retry_ms != UINT64_MAX);
    GET("/early", .timeout_ms = 20000);
    CHECK(seen.status == 200 && seen.retry_ms == UINT64_MAX && strcmp(seen.body, "ok") == 0);
    close_all();
}

TEST(an_answer_that_does_not_come_is_a_failure_in_words)
{
    open_all();
    GET("/hang", .timeout_ms = 200);
    CHECK(!seen.came && strstr(seen.why, "timed out") != NULL);
    GET("/cut", .timeout_ms = 20000);
    CHECK(!seen.came && seen.status == 0 && seen.why[0] != '\0');
    server.port = free_port();
    GET("/echo", .timeout_ms = 20000);
    CHECK(!seen.came && seen.why[0] != '\0');
    close_all();
}

TEST(B21_an_answer_over_the_limit_is_given_up)
{
    open_all();
    GET("/big", .body_max = 300000);
    CHECK(seen.came && seen.n == 300000);
    GET("/big", .body_max = 299999);
    CHECK(!seen.came && seen.too_large && strcmp(seen.why, "its answer is too large") == 0);
    close_all();
}

TEST(a_redirect_is_an_answer_unless_it_is_to_be_followed)
{
    static const char *const headers[] = {"X-Secret: s"};

    open_all();
    GET("/to-echo", .timeout_ms = 20000);
    CHECK(seen.came && seen.status == 302 && strcmp(seen.body, "moved") == 0);
    GET("/to-echo", .redirects = 1, .headers = headers, .header_count = 1);
    CHECK(seen.status == 200 && strstr(seen.body, "X-Secret: s") != NULL);
    CHECK(strstr(seen.body, "moved") == NULL);
    GET("/to-echo", .method = "POST", .redirects = 1);
    CHECK(seen.status == 302);
    server.requests = 0;
    GET("/to-loop", .redirects = 3);
    CHECK(seen.status == 307 && server.requests == 4);
    GET("/to-file", .redirects = 3);
    CHECK(!seen.came || seen.status == 302);
    CHECK(strstr(seen.body, "moved") != NULL || seen.body[0] == '\0');
    close_all();
}

TEST(another_host_is_not_shown_the_headers)
{
    static const char *const headers[] = {"X-Secret: s"};
    char elsewhere[128];

    open_all();
    (void)snprintf(elsewhere, sizeof(elsewhere), "http://localhost:%u/echo", server.port);
    server.arg = elsewhere;
    GET("/to-other", .redirects = 1, .headers = headers, .header_count = 1);
    CHECK(seen.status == 200 && strstr(seen.body, "Host: localhost") != NULL);
    CHECK(strstr(seen.body, "X-Secret") == NULL);
    close_all();
}

/* --- streams --- */

static struct {
    struct fetch *f;
    bool cancel_at_head;
    bool cancel_at_bytes;
    unsigned heads;
    size_t n;
    char text[4096];
} stream;

static bool on_head(void *arg, struct fetch *f)
{
    (void)arg;
    stream.heads++;
    CHECK(fetch_status(f) == 200 && span_is(fetch_header(f, "content-type"), "text/event-stream"));
    if (stream.cancel_at_head)
        fetch_cancel(f);
    return true;
}

static void on_bytes(void *arg, struct fetch *f, struct span bytes)
{
    (void)arg;
    memcpy(stream.text + stream.n, bytes.p, bytes.n);
    stream.n += bytes.n;
    stream.text[stream.n] = '\0';
    if (stream.cancel_at_bytes)
        fetch_cancel(f);
}

static void begin_stream(void)
{
    const struct fetch_request r = {.method = "GET",
                                    .url = upstream_url(&server, "/stream"),
                                    .on_head = on_head,
                                    .on_bytes = on_bytes,
                                    .on_done = on_done};

    memset(&stream, 0, sizeof(stream));
    memset(&held, 0, sizeof(held));
    stream.f = fetch_start(fetcher, &r);
    CHECK(turn_until(base, 20000, is_held, NULL));
}

static bool has_head(void *arg)
{
    (void)arg;
    return stream.heads > 0;
}

static bool has_text(void *arg)
{
    return strlen(stream.text) >= *(const size_t *)arg;
}

static bool streamed(const char *text)
{
    size_t n = strlen(text);

    return turn_until(base, 20000, has_text, &n) && strcmp(stream.text, text) == 0;
}

static void send_head(void)
{
    upstream_write(&held, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
}

TEST(a_stream_is_told_as_it_comes)
{
    open_all();
    begin_stream();
    send_head();
    CHECK(turn_until(base, 20000, has_head, NULL));
    CHECK(seen.ends == 0);
    upstream_write(&held, "data: 1\n\n");
    CHECK(streamed("data: 1\n\n"));
    upstream_write(&held, "data: 2\n\n");
    CHECK(streamed("data: 1\n\ndata: 2\n\n"));
    upstream_cut(&held);
    CHECK(ends(1));
    CHECK(seen.came && seen.n == 0 && stream.heads == 1);
    close_all();
}

TEST(a_server_may_be_silent_for_so_long)
{
    open_all();
    GET("/hang", .silence_ms = 1000);
    CHECK(!seen.came && seen.why[0] != '\0');
    close_all();
}

TEST(a_cancelled_request_is_not_heard_of_again_wherever_it_was_cancelled)
{
    open_all();
    begin_stream();
    fetch_cancel(stream.f);
    CHECK(turn_until(base, 10000, is_closed, NULL));
    begin_stream();
    stream.cancel_at_head = true;
    send_head();
    CHECK(turn_until(base, 10000, is_closed, NULL));
    CHECK(stream.heads == 1);
    begin_stream();
    stream.cancel_at_bytes = true;
    send_head();
    upstream_write(&held, "x");
    CHECK(turn_until(base, 10000, is_closed, NULL));
    CHECK(strcmp(stream.text, "x") == 0 && seen.ends == 0);
    begin_stream(); /* what is left goes with the fetcher */
    close_all();
}

/* --- calls from inside callbacks --- */

static struct fetch *other;

static void on_done_more(void *arg, struct fetch *f, const struct fetch_answer *a)
{
    struct fetch_request r = {.method = "GET", .on_done = on_done};

    on_done(arg, f, a);
    fetch_cancel(f);
    fetch_cancel(other);
    r.url = upstream_url(&server, "/echo");
    (void)fetch_start(fetcher, &r);
}

TEST(any_call_may_be_made_from_inside_a_callback)
{
    struct fetch_request r = {.method = "GET", .on_done = on_done};

    open_all();
    r.url = upstream_url(&server, "/hang");
    other = fetch_start(fetcher, &r);
    r.url = upstream_url(&server, "/echo");
    r.on_done = on_done_more;
    (void)fetch_start(fetcher, &r);
    CHECK(ends(2));
    CHECK(seen.ends == 2 && seen.status == 200);
    close_all();
}

/* --- TLS --- */

static bool is_listening(void *arg)
{
    const struct fetch_request *r = arg;
    unsigned before = seen.ends;

    (void)fetch_start(fetcher, r);
    return ends(before + 1) && strstr(seen.why, "onnect to") == NULL;
}

TEST(certificates_are_verified)
{
    struct fetch_request r = {.method = "GET", .timeout_ms = 20000, .on_done = on_done};
    struct certs certs;
    char port[8];
    char url[64];
    int pid;

    open_all();
    certs_make(&certs, "IP:127.0.0.1");
    (void)snprintf(port, sizeof(port), "%u", free_port());
    (void)snprintf(url, sizeof(url), "https://127.0.0.1:%s/", port);
    pid = proc_start((const char *const[]){"/usr/bin/openssl", "s_server", "-www", "-accept", port,
                                           "-cert", certs.cert, "-key", certs.key, NULL},
                     "/dev/null");
    r.url = url;
    r.ca_file = certs.ca;
    REQUIRE(wait_for(20000, is_listening, &r));
    CHECK(seen.came && seen.status == 200);
    r.ca_file = certs.stranger;
    CHECK(is_listening(&r) && !seen.came && strstr(seen.why, "certificate") != NULL);
    r.ca_file = NULL;
    CHECK(is_listening(&r) && !seen.came && strstr(seen.why, "certificate") != NULL);
    r.ca_file = certs.ca;
    (void)snprintf(url, sizeof(url), "https://localhost:%s/", port);
    CHECK(is_listening(&r) && !seen.came);
    (void)kill(pid, SIGTERM);
    (void)proc_wait(pid, 10000);
    certs_remove(&certs);
    close_all();
}

TEST(only_http_and_https_are_spoken)
{
    struct fetch_request r = {.method = "GET", .on_done = on_done, .url = "file:///etc/hostname"};

    open_all();
    (void)fetch_start(fetcher, &r);
    CHECK(ends(1));
    CHECK(!seen.came && seen.n == 0 && strstr(seen.why, "rotocol") != NULL);
    close_all();
}
