#include "worker/health.h"

#include "common/metric.h"
#include "common/probe.h"
#include "tests/lib/test.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static bool ready;

static bool is_ready(void *arg)
{
    (void)arg;
    return ready;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_in at;
    socklen_t n = sizeof(at);

    if (getsockname(fd, (struct sockaddr *)&at, &n) != 0)
        abort();
    return ntohs(at.sin_port);
}

/* Does it answer 200, and otherwise what? A child asks while we turn the loop. */
static bool answers(struct event_base *base, uint16_t port, const char *path)
{
    struct timeval soon = {0, 5000};
    pid_t child = fork();
    int status = 0;
    struct buf why;

    if (child == 0) {
        buf_init(&why, 4096);
        _exit(probe_http("127.0.0.1", port, path, &why) ? 0 : 1);
    }
    while (waitpid(child, &status, WNOHANG) == 0) {
        (void)event_base_loopexit(base, &soon);
        (void)event_base_dispatch(base);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(a_worker_says_that_it_lives_whether_it_serves_and_what_it_counts)
{
    struct event_base *base = event_base_new();
    struct health *h;
    struct buf why;
    int fd;
    uint16_t port;

    buf_init(&why, 1024);
    fd = health_listen("127.0.0.1", 0, &why);
    REQUIRE(fd >= 0);
    port = port_of(fd);
    CHECK(health_listen("127.0.0.1", port, &why) == -1);
    CHECK(strstr(why.p, "cannot listen on 127.0.0.1") == why.p && strstr(why.p, "--metrics"));
    h = health_new(base, fd, is_ready, NULL);
    CHECK(answers(base, port, "/healthz"));
    CHECK(answers(base, port, "/metrics"));
    CHECK(!answers(base, port, "/readyz"));
    CHECK(!answers(base, port, "/"));
    ready = true;
    CHECK(answers(base, port, "/readyz"));
    health_free(h);
    event_base_free(base);
    buf_fini(&why);
}
