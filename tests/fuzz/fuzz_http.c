/* Any bytes from a client's socket, in pieces, against the real edge: a request reaches the handler
 * only if a strict second reading of the same bytes (http_reading.c) finds just that request there.
 * Whatever is left over is refused, and nothing of the connection stays behind. */
#include "tests/fuzz/fuzz.h"

#include "broker/http.h"
#include "common/buf.h"
#include "tests/fuzz/http_reading.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LONGEST = 24 << 10, BODY_MAX = 4096, REQUESTS_MAX = 64, TURNS = 6 };

static struct event_base *base;
static struct http *edge;
static const char *rest; /* of what was sent, from the next request on */
static const char *end;
static unsigned handled;

static bool is_same(const char *ours, struct span theirs)
{
    return ours == NULL ? theirs.p == NULL : theirs.p != NULL && span_is(theirs, ours);
}

static void on_request(void *arg, struct http_req *r)
{
    struct http_reading want;

    (void)arg;
    FUZZ_CHECK(http_reading(&want, &rest, end));
    FUZZ_CHECK(http_method(r) == want.method);
    FUZZ_CHECK(is_same(http_path(r), want.path) && is_same(http_query(r), want.query));
    FUZZ_CHECK(is_same(http_header(r, "Host"), want.host));
    FUZZ_CHECK(http_header_count(r, "Host") == (want.host.p != NULL));
    FUZZ_CHECK(span_equal(http_body(r), want.body));
    handled++;
    http_reply(r, 200, "text/plain", SPAN("ok"));
}

static void open_edge(void)
{
    const struct http_conf conf = {.host = "127.0.0.1", .body_max = BODY_MAX};
    struct buf why;

    if (edge != NULL)
        return;
    buf_init(&why, 1024);
    base = event_base_new();
    edge = http_new(base, &conf, on_request, NULL, &why);
    FUZZ_CHECK(edge != NULL);
    buf_fini(&why);
}

/* Closed by a reset, so that no port is kept waiting. */
static int call(void)
{
    const struct linger reset = {.l_onoff = 1};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(http_port(edge))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    FUZZ_CHECK(fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0);
    FUZZ_CHECK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) == 0);
    FUZZ_CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    return fd;
}

static void turn(int fd)
{
    char answer[4096];

    for (int i = 0; i < TURNS; i++) {
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
        while (recv(fd, answer, sizeof(answer), 0) > 0)
            continue;
    }
}

static void send_all(int fd, const uint8_t *data, size_t size, size_t step)
{
    for (size_t at = 0; at < size;) {
        size_t n = size - at < step ? size - at : step;
        ssize_t sent = send(fd, data + at, n, MSG_NOSIGNAL);

        if (sent < 0 && errno != EAGAIN)
            return; /* we were cut */
        at += sent > 0 ? (size_t)sent : 0;
        turn(fd);
    }
}

static void wait_gone(void)
{
    struct http_stats stats;

    do {
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
        http_stats(edge, &stats);
    } while (stats.connections > 0);
    FUZZ_CHECK(stats.held == 0 && stats.streams == 0);
}

int fuzz_one(const uint8_t *data, size_t size)
{
    size_t step = size > 0 && data[size - 1] % 4 == 0 ? data[0] + 1U : LONGEST;
    int fd;

    if (size > LONGEST)
        return 0;
    open_edge();
    rest = (const char *)data;
    end = rest + size;
    handled = 0;
    fd = call();
    send_all(fd, data, size, step < size / 32 ? size / 32 : step);
    turn(fd);
    (void)close(fd);
    wait_gone();
    FUZZ_CHECK(handled <= REQUESTS_MAX * (size / 64 + 1));
    return 0;
}
