#include "load/wire.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { READ_SIZE = 16 * 1024, HEAD_MAX = 1024, REQUEST_MAX = 8 * 1024 };

uint64_t wire_now_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

void wire_die(const char *what, struct span detail)
{
    (void)fprintf(stderr, "load: %s: %.*s\n", what, (int)(detail.n < 600 ? detail.n : 600),
                  detail.n != 0 ? detail.p : "");
    exit(1);
}

/* --- an answer, once all of it is here --- */

struct answer {
    int status;
    struct span head;
    char *body;
    size_t n;
    size_t total; /* bytes of the whole answer */
};

/* The value of a header; names are compared without case. */
static struct span header(struct span head, const char *name)
{
    const char *p = strcasestr(head.p, name);
    const char *end;

    if (p == NULL || p >= head.p + head.n)
        return (struct span){NULL, 0};
    p += strlen(name);
    while (*p == ' ')
        p++;
    end = strchr(p, '\r');
    return (struct span){p, end != NULL ? (size_t)(end - p) : 0};
}

/* Joins the chunks in place; false: not all of them are here. */
static bool dechunk(struct answer *a, char *p, const char *end)
{
    char *to = a->body;

    for (;;) {
        char *line = memchr(p, '\n', (size_t)(end - p));
        size_t size;

        if (line == NULL)
            return false;
        size = strtoul(p, NULL, 16);
        if ((size_t)(end - line) < size + 3)
            return false;
        if (size == 0)
            break;
        (void)memmove(to, line + 1, size);
        to += size;
        p = line + 1 + size + 2;
    }
    a->n = (size_t)(to - a->body);
    return true;
}

/* Is the last chunk here? Asked before the chunks are joined, which cannot be done twice. */
static bool chunks_end(const char *p, const char *end)
{
    return end - p >= 5 && memcmp(end - 5, "0\r\n\r\n", 5) == 0;
}

/* Of an event stream only the last message counts: the answer. */
static void unframe(struct answer *a)
{
    char *last = NULL;
    char *end;

    a->body[a->n] = '\0';
    for (char *p = a->body; (p = strstr(p, "data:")) != NULL; p += 5)
        last = p == a->body || p[-1] == '\n' ? p : last;
    if (last == NULL)
        wire_die("an event stream without a message", (struct span){a->body, a->n});
    last += last[5] == ' ' ? 6 : 5;
    end = strchr(last, '\n');
    a->body = last;
    a->n = end != NULL ? (size_t)(end - last) : strlen(last);
}

static bool parse(struct wire *w, struct answer *a)
{
    char *end = w->in + w->n;
    char *body = strstr(w->in, "\r\n\r\n");
    struct span length;

    if (body == NULL)
        return false;
    a->head = (struct span){w->in, (size_t)(body - w->in) + 2};
    a->body = body += 4;
    a->status = w->n > 12 ? atoi(w->in + 9) : 0;
    length = header(a->head, "\r\ncontent-length:");
    if (length.p != NULL) {
        a->n = strtoul(length.p, NULL, 10);
        return (size_t)(end - body) >= a->n;
    }
    if (header(a->head, "\r\ntransfer-encoding:").p == NULL)
        return true; /* 202 and the like: no body */
    return chunks_end(body, end) && dechunk(a, body, end);
}

static void take(struct wire *w)
{
    struct answer a = {0};
    struct span session;

    if (!parse(w, &a))
        return;
    session = header(a.head, "\r\nmcp-session-id:");
    if (session.n != 0 && session.n < sizeof(w->session)) {
        memcpy(w->session, session.p, session.n);
        w->session[session.n] = '\0';
    }
    if (header(a.head, "\r\ncontent-type: text/event-stream").p != NULL)
        unframe(&a);
    w->n = 0;
    w->fn(w->arg, a.status, (struct span){a.body, a.n});
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct wire *w = arg;
    ssize_t got;

    (void)what;
    if (w->room - w->n < READ_SIZE) {
        w->room = w->room * 2 + READ_SIZE;
        w->in = realloc(w->in, w->room + 1);
    }
    got = read(fd, w->in + w->n, w->room - w->n);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0)
        wire_die("the peer closed a connection", (struct span){w->in, w->n});
    w->n += (size_t)got;
    w->in[w->n] = '\0';
    take(w);
}

/* --- its life --- */

void wire_open(struct wire *w, struct event_base *base, uint16_t port, wire_fn *fn, void *arg)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    int on = 1;

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *w = (struct wire){.fn = fn, .arg = arg};
    w->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (w->fd < 0 || connect(w->fd, (struct sockaddr *)&to, sizeof(to)) != 0)
        wire_die("connect", SPAN("refused"));
    (void)setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    (void)evutil_make_socket_nonblocking(w->fd);
    w->ev = event_new(base, w->fd, EV_READ | EV_PERSIST, on_readable, w);
    (void)event_add(w->ev, NULL);
}

void wire_close(struct wire *w)
{
    event_free(w->ev);
    (void)close(w->fd);
    free(w->in);
}

/* A request fits the socket's buffer: there is never more than one. */
void wire_post(struct wire *w, struct span body)
{
    char request[REQUEST_MAX];
    int n =
        snprintf(request, HEAD_MAX,
                 "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                 "Content-Type: application/json\r\n"
                 "Accept: application/json, text/event-stream\r\n"
                 "%s%s%sContent-Length: %zu\r\n\r\n",
                 w->session[0] != '\0' ? "Mcp-Session-Id: " : "", w->session,
                 w->session[0] != '\0' ? "\r\nMCP-Protocol-Version: 2025-11-25\r\n" : "", body.n);

    if (n < 0 || n >= HEAD_MAX || (size_t)n + body.n > sizeof(request))
        wire_die("a request is too long", body);
    memcpy(request + n, body.p, body.n);
    w->sent_us = wire_now_us();
    if (write(w->fd, request, (size_t)n + body.n) != n + (ssize_t)body.n)
        wire_die("write", SPAN("a connection takes no more"));
}
