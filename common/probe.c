#include "common/probe.h"

#include "common/clock.h"
#include "common/span.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DEADLINE_MS = 4000, ANSWER_MAX = 4096 };

/* Waits until the socket can do that, or the deadline. */
static bool await(int fd, short events, uint64_t deadline_ms)
{
    struct pollfd p = {.fd = fd, .events = events};
    uint64_t now = clock_mono_ms();
    int n;

    if (now >= deadline_ms)
        return false;
    do
        n = poll(&p, 1, (int)(deadline_ms - now));
    while (n == -1 && errno == EINTR);
    return n == 1;
}

/* 0, or an errno. */
static int finish_connect(int fd, uint64_t deadline_ms)
{
    int error = 0;
    socklen_t n = sizeof(error);

    if (!await(fd, POLLOUT, deadline_ms))
        return ETIMEDOUT;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 ? error : errno;
}

/* The first address that takes the connection; -1 and an errno in error. */
static int dial(const struct addrinfo *list, uint64_t deadline_ms, int *error)
{
    for (const struct addrinfo *a = list; a != NULL; a = a->ai_next) {
        int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd == -1) {
            *error = errno;
            continue;
        }
        *error = connect(fd, a->ai_addr, a->ai_addrlen) == 0 ? 0 : errno;
        if (*error == EINPROGRESS)
            *error = finish_connect(fd, deadline_ms);
        if (*error == 0)
            return fd;
        (void)close(fd);
    }
    return -1;
}

static int connect_to(const char *host, uint16_t port, uint64_t deadline_ms, struct buf *why)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    char service[8];
    int error = 0;
    int fd = -1;
    int e;

    (void)snprintf(service, sizeof(service), "%u", (unsigned)port);
    e = getaddrinfo(host, service, &hints, &list);
    if (e != 0) {
        buf_addf(why, "%s: %s", host, gai_strerror(e));
        return -1;
    }
    fd = dial(list, deadline_ms, &error);
    freeaddrinfo(list);
    if (fd == -1)
        buf_addf(why, "nothing answers at %s port %s: %s", host, service, strerror(error));
    return fd;
}

static void read_answer(int fd, uint64_t deadline_ms, struct buf *answer)
{
    char part[1024];
    ssize_t n;

    while (buf_ok(answer) && await(fd, POLLIN, deadline_ms)) {
        n = recv(fd, part, sizeof(part), 0);
        if (n <= 0)
            return;
        buf_add(answer, part, (size_t)n);
    }
}

static bool judge(const struct buf *answer, const char *path, struct buf *why)
{
    const char *end;

    if (answer->n >= 13 && strncmp(answer->p, "HTTP/1.", 7) == 0 &&
        strncmp(answer->p + 8, " 200 ", 5) == 0)
        return true;
    if (answer->n == 0) {
        buf_addf(why, "%s is not answered", path);
        return false;
    }
    end = memchr(answer->p, '\r', answer->n);
    buf_addf(why, "%s is answered ", path);
    buf_add(why, answer->p, end != NULL ? (size_t)(end - answer->p) : answer->n);
    end = memmem(answer->p, answer->n, "\r\n\r\n", 4);
    if (end != NULL) {
        buf_adds(why, ": ");
        buf_add(why, end + 4, (size_t)(answer->p + answer->n - end - 4));
    }
    return false;
}

/* HTTP/1.0: the end of the connection is the end of the answer. */
static bool ask(int fd, const char *path, uint64_t deadline_ms, struct buf *why)
{
    struct buf request;
    struct buf answer;
    bool ok;

    buf_init(&request, ANSWER_MAX);
    buf_init(&answer, ANSWER_MAX);
    buf_addf(&request, "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", path);
    if (send(fd, request.p, request.n, MSG_NOSIGNAL) == (ssize_t)request.n)
        read_answer(fd, deadline_ms, &answer);
    ok = judge(&answer, path, why);
    buf_fini(&request);
    buf_fini(&answer);
    return ok;
}

bool probe_http(const char *host, uint16_t port, const char *path, struct buf *why)
{
    uint64_t deadline_ms = clock_mono_ms() + DEADLINE_MS;
    int fd;
    bool ok;

    if (strcmp(host, "0.0.0.0") == 0)
        host = "127.0.0.1";
    else if (strcmp(host, "::") == 0)
        host = "::1";
    fd = connect_to(host, port, deadline_ms, why);
    if (fd == -1)
        return false;
    ok = ask(fd, path, deadline_ms, why);
    (void)close(fd);
    return ok;
}
