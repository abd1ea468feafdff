#include "broker/http.h"

#include "common/buf.h"
#include "common/clock.h"
#include "tests/lib/edge.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ECHO "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"

static void never(void *arg, struct http_req *r)
{
    (void)arg;
    (void)r;
    abort();
}

static bool cannot_listen(const char *host, uint16_t port, const char *sentence)
{
    struct event_base *base = event_base_new();
    struct http_conf conf = {.host = host, .port = port, .body_max = 1000};
    struct buf why;
    bool ok;

    buf_init(&why, 256);
    ok = http_new(base, &conf, never, NULL, &why) == NULL && strstr(why.p, sentence) != NULL;
    if (!ok)
        printf("%s\n", why.p);
    buf_fini(&why);
    event_base_free(base);
    return ok;
}

TEST(an_address_that_cannot_be_bound_is_told_in_a_sentence)
{
    char taken[64];
    struct edge e;

    edge_start(&e, NULL);
    (void)snprintf(taken, sizeof(taken), "cannot listen on 127.0.0.1 port %u: Address already",
                   (unsigned)http_port(e.h));
    CHECK(cannot_listen("127.0.0.1", http_port(e.h), taken));
    CHECK(cannot_listen("192.0.2.1", 0, "cannot listen on 192.0.2.1 port 0: "));
    CHECK(cannot_listen("no such host", 0, "cannot listen on no such host: "));
    edge_stop(&e);
}

TEST(L21_a_port_is_free_again_at_once)
{
    struct http_conf conf = {.port = free_port()};

    for (int i = 0; i < 3; i++) {
        struct edge e;
        struct raw c;

        edge_start(&e, &conf); /* ends the program when it cannot */
        CHECK(http_port(e.h) == conf.port);
        raw_open(&c, &e);
        raw_send(&c, ECHO);
        CHECK(raw_sees(&c, "GET /echo"));
        edge_stop(&e); /* the edge closes first: its side is in TIME_WAIT */
        raw_close(&c);
    }
}

static int connect_soon(const struct edge *e)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(http_port(e->h))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd != -1 && connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0 && errno != EINPROGRESS) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

struct crowd {
    struct edge e;
    size_t n;
};

static bool all_are_in(void *arg)
{
    struct crowd *w = arg;

    return edge_stats(&w->e).connections == w->n;
}

static size_t backlog_limit(void)
{
    char text[32] = "";
    FILE *f = fopen("/proc/sys/net/core/somaxconn", "r");

    if (f != NULL) {
        if (fgets(text, sizeof(text), f) == NULL)
            text[0] = '\0';
        (void)fclose(f);
    }
    return strtoul(text, NULL, 10);
}

static bool is_connected(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int e = -1;
    socklen_t n = sizeof(e);

    return poll(&p, 1, 0) == 1 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &n) == 0 && e == 0 &&
           (p.revents & POLLOUT) != 0;
}

/* As many as the kernel lets wait are connected before one of them is accepted. */
TEST(L21_thousands_may_knock_while_the_loop_is_busy)
{
    struct crowd w = {.n = 0};
    int *fds = calloc(4000, sizeof(int));
    size_t connected = 0;
    size_t most = backlog_limit();

    edge_start(&w.e, NULL);
    for (; w.n < 4000 && w.n < most; w.n++)
        fds[w.n] = connect_soon(&w.e);
    for (size_t i = 0; i < w.n; i++)
        connected += is_connected(fds[i]);
    CHECK(connected == w.n && w.n != 0);
    CHECK(turn_until(w.e.base, 10000, all_are_in, &w));
    for (size_t i = 0; i < w.n; i++)
        (void)close(fds[i]);
    free(fds);
    edge_stop(&w.e);
}

static bool has_failed(void *arg)
{
    int e = 0;
    socklen_t n = sizeof(e);

    return getsockopt(*(int *)arg, SOL_SOCKET, SO_ERROR, &e, &n) == 0 && e == ECONNREFUSED;
}

struct leaving {
    struct edge e;
    size_t inside;
};

static void close_and_count(int fd, short what, void *arg)
{
    struct leaving *l = arg;

    (void)fd;
    (void)what;
    http_stop_listening(l->e.h);
    l->inside = edge_stats(&l->e).connections;
}

TEST(B22_who_comes_on_the_turn_on_which_the_door_is_closed_is_inside)
{
    struct timeval now = {0, 0};
    struct leaving l = {.inside = 0};
    struct event *last_look;
    struct raw last;

    edge_start(&l.e, NULL);
    raw_open(&last, &l.e);
    last_look = evtimer_new(l.e.base, close_and_count, &l);
    (void)evtimer_add(last_look, &now); /* both are due on the first turn: the client before it */
    turn_for(l.e.base, 50);
    CHECK(l.inside == 1);
    raw_send(&last, ECHO);
    CHECK(raw_sees(&last, "GET /echo"));
    event_free(last_look);
    raw_close(&last);
    edge_stop(&l.e);
}

TEST(B22_who_has_knocked_when_the_door_is_shut_is_served_and_who_knocks_then_is_refused)
{
    struct edge e;
    struct raw early;
    int late;

    edge_start(&e, NULL);
    raw_open(&early, &e); /* waits in the queue: the loop has not turned */
    raw_send(&early, ECHO);
    http_shut(e.h);
    late = connect_soon(&e);
    CHECK(late == -1 ? errno == ECONNREFUSED : turn_until(e.base, 10000, has_failed, &late));
    CHECK(raw_sees(&early, "GET /echo"));
    CHECK(raw_count(&early, "Connection: close\r\n") == 1);
    http_stop_listening(e.h);
    if (late != -1)
        (void)close(late);
    raw_close(&early);
    edge_stop(&e);
}

TEST(descriptors_are_raised_to_the_hard_limit)
{
    struct rlimit before;
    struct rlimit low;
    struct rlimit after;
    struct edge e;

    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    low = (struct rlimit){.rlim_cur = 256, .rlim_max = before.rlim_max};
    (void)setrlimit(RLIMIT_NOFILE, &low);
    edge_start(&e, NULL);
    CHECK(getrlimit(RLIMIT_NOFILE, &after) == 0 && after.rlim_cur == before.rlim_max);
    edge_stop(&e);
}

/* --- out of descriptors: in a child, since limits and clients are its own --------------------- */

static uint64_t cpu_ms(void)
{
    struct rusage u;

    (void)getrusage(RUSAGE_SELF, &u);
    return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 +
           (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000;
}

/* False where the limit is not the kernel's to keep, as under valgrind. */
static bool limit_descriptors(rlim_t n)
{
    struct rlimit r = {n, n};

    (void)setrlimit(RLIMIT_NOFILE, &r);
    return fcntl(0, F_DUPFD_CLOEXEC, (int)n) == -1;
}

/* The server in a process of its own with 64 descriptors; its port comes through a pipe. What it
 * answers to /cpu is the CPU time it has used, in ms. */
static void answer_cpu(struct edge *e, struct http_req *r)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "cpu=%llu;", (unsigned long long)cpu_ms());

    if (strcmp(http_path(r), "/hold") == 0)
        http_hold(r, edge_on_gone, e);
    else
        http_reply(r, 200, "text/plain", (struct span){text, (size_t)n});
}

static int serve_few(int report)
{
    bool limited = limit_descriptors(64);
    struct edge e;
    uint16_t port;

    edge_start(&e, NULL);
    e.fn = answer_cpu;
    port = limited ? http_port(e.h) : 0;
    if (write(report, &port, sizeof(port)) != sizeof(port))
        return 1;
    return event_base_dispatch(e.base);
}

struct server {
    int pid;
    uint16_t port;
};

static struct server start_few(void)
{
    struct server s = {0};
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        abort();
    s.pid = fork();
    if (s.pid == 0)
        _exit(serve_few(ends[1]));
    if (read(ends[0], &s.port, sizeof(s.port)) != sizeof(s.port))
        abort();
    (void)close(ends[0]);
    (void)close(ends[1]);
    return s;
}

static int in_child(int (*run)(struct server s))
{
    struct server s = start_few();
    int status = -1;
    int pid;

    if (s.port == 0)
        printf("no limit on descriptors here: not shown\n");
    pid = fork();
    if (pid == 0)
        _exit(s.port == 0 ? 0 : run(s));
    (void)waitpid(pid, &status, 0);
    (void)kill(s.pid, SIGKILL);
    (void)waitpid(s.pid, NULL, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int dial(uint16_t port, const char *text)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct timeval t = {.tv_sec = 10};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
    if (connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0)
        abort();
    (void)send(fd, text, strlen(text), MSG_NOSIGNAL);
    return fd;
}

/* What comes first on a connection, or "" within 10 s. */
static const char *first_of(int fd)
{
    static char text[1024];
    ssize_t n;

    do
        n = recv(fd, text, sizeof(text) - 1, 0);
    while (n == -1 && errno == EINTR);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static long cpu_of(uint16_t port)
{
    int fd = dial(port, "GET /cpu HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const char *at = strstr(first_of(fd), "cpu=");

    (void)close(fd);
    return at != NULL ? strtol(at + 4, NULL, 10) : -1;
}

static int shed_idle(struct server s)
{
    int ok = 1;

    /* Idle clients take every descriptor, and are sent away for those who ask. */
    for (int i = 0; i < 200; i++)
        (void)dial(s.port, "");
    for (int i = 0; i < 5; i++) {
        int fd = dial(s.port, ECHO);

        ok = ok && strstr(first_of(fd), "HTTP/1.1 200") != NULL;
        (void)close(fd);
    }
    return ok ? 0 : 1;
}

TEST(L22_idle_connections_make_room_for_new_ones)
{
    CHECK(in_child(shed_idle) == 0);
}

static bool has_time_passed(void *arg)
{
    return clock_mono_ms() >= *(uint64_t *)arg;
}

static int wait_it_out(struct server s)
{
    enum { HELD = 62 };
    uint64_t until;
    long before = cpu_of(s.port);
    long after;
    int held[HELD];
    int late;

    /* Held requests take every descriptor: nobody can be sent away. */
    for (int i = 0; i < HELD; i++)
        held[i] = dial(s.port, "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
    late = dial(s.port, ECHO);
    until = clock_mono_ms() + 1000;
    (void)wait_for(2000, has_time_passed, &until);
    for (int i = 0; i < HELD; i++)
        (void)close(held[i]);
    (void)first_of(late); /* 503, or 200 when it was lucky: not silence */
    after = cpu_of(s.port);
    printf("out of descriptors for a second: %ld ms of CPU\n", after - before);
    return before >= 0 && after >= before && after - before < 200 ? 0 : 1;
}

TEST(L22_without_descriptors_the_loop_does_not_spin_and_recovers)
{
    CHECK(in_child(wait_it_out) == 0);
}

static int refuse_at_the_door(struct server s)
{
    enum { LATE = 10 };
    int late[LATE];
    bool refused = false;

    for (int i = 0; i < 80; i++)
        (void)dial(s.port, "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
    for (int i = 0; i < LATE; i++)
        late[i] = dial(s.port, "");
    for (int i = 0; i < LATE && !refused; i++)
        refused = strstr(first_of(late[i]), "HTTP/1.1 503") != NULL;
    return refused ? 0 : 1;
}

TEST(L22_a_client_for_whom_there_is_no_descriptor_is_told_503)
{
    CHECK(in_child(refuse_at_the_door) == 0);
}
