#include "tests/lib/mcpd.h"

#include "common/json.h"
#include "tests/lib/proc.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REQUEST_MAX = 1 << 20 };

struct peer {
    int fd;
    char text[REQUEST_MAX];
    size_t n;
};

static void say(struct peer *p, const char *text)
{
    size_t n = strlen(text);

    while (n > 0) {
        ssize_t k = write(p->fd, text, n);

        if (k <= 0)
            return;
        text += k;
        n -= (size_t)k;
    }
}

static void say_answer(struct peer *p, const char *status, const char *more, const char *body)
{
    char head[1024];

    (void)snprintf(head, sizeof(head),
                   "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n%s\r\n",
                   status, strlen(body), more);
    say(p, head);
    say(p, body);
}

static void say_events(struct peer *p, const char *body)
{
    char text[MCPD_TEXT * 4];

    (void)snprintf(
        text, sizeof(text),
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        "id: 1\ndata: \n\n: keep\n\n"
        "data: {\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"method\":\"ping\"}\n\n"
        "data: {\"jsonrpc\":\"2.0\",\"id\":\"s2\",\"method\":\"elicitation/create\"}\n\n"
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
        "{\"progressToken\":\"p\",\"progress\":1,\"total\":4,\"message\":\"a \\u0041\"}}\r\n\r\n"
        "event: message\ndata: %s\n\n",
        body);
    say(p, text);
    (void)shutdown(p->fd, SHUT_WR);
}

static int take(unsigned *count)
{
    if (*count == 0)
        return 0;
    --*count;
    return 1;
}

static void say_result(struct mcpd_shared *s, struct peer *p, struct span id)
{
    char body[MCPD_TEXT * 2];

    (void)snprintf(body, sizeof(body), "{\"jsonrpc\":\"2.0\",\"id\":%.*s%s}", (int)id.n, id.p,
                   s->answer);
    if (s->events)
        say_events(p, body);
    else
        say_answer(p, "200 OK", "", s->raw[0] != '\0' ? s->raw : body);
}

static void welcome(struct mcpd_shared *s, struct peer *p, struct span id)
{
    char body[1024];
    char more[64];

    (void)snprintf(more, sizeof(more), "Mcp-Session-Id: session-%u\r\n", ++s->initialized);
    (void)snprintf(body, sizeof(body),
                   "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"protocolVersion\":\"%s\","
                   "\"capabilities\":{\"tools\":{},\"tasks\":{\"list\":{},\"cancel\":{},"
                   "\"requests\":{\"tools\":{\"call\":{}}}}},"
                   "\"serverInfo\":{\"name\":\"d\",\"version\":\"1\"}}}",
                   (int)id.n, id.p, s->version);
    say_answer(p, "200 OK", more, body);
}

static void note_method(struct mcpd_shared *s, struct span body, char *out, size_t room)
{
    if (json_string(json_get(body, "method"), out, room) < 0)
        out[0] = '\0';
    (void)snprintf(s->methods[s->seen++ % MCPD_SEEN], sizeof(s->methods[0]), "%.31s", out);
}

/* False: the connection ends. */
static int serve(struct mcpd_shared *s, struct peer *p, const char *head, struct span body)
{
    struct span id = json_get(body, "id");
    char more[64];
    char method[64];

    (void)snprintf(s->head, sizeof(s->head), "%.4000s", head);
    (void)snprintf(s->body, sizeof(s->body), "%.*s", (int)body.n, body.p);
    if (strncmp(head, "DELETE", 6) == 0) {
        s->deleted++;
        say_answer(p, "200 OK", "", "");
        return 1;
    }
    note_method(s, body, method, sizeof(method));
    if (strcmp(method, "initialize") == 0) {
        welcome(s, p, id);
    } else if (method[0] == '\0') {
        s->pongs += json_get(body, "result").p != NULL;
        s->errors += json_get(body, "error").p != NULL;
        say_answer(p, "202 Accepted", "", "");
    } else if (id.p == NULL) {
        say_answer(p, "202 Accepted", "", "");
    } else if (take(&s->begin)) {
        say(p, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n:\n\n");
        (void)poll(NULL, 0, (int)s->begin_ms);
        return 0;
    } else if (take(&s->cut)) {
        return 0;
    } else if (take(&s->busy)) {
        (void)snprintf(more, sizeof(more), "Retry-After: %u\r\n", s->retry_s);
        say_answer(p, "503 Service Unavailable", more, "");
    } else if (take(&s->forget)) {
        say_answer(p, "404 Not Found", "", "");
    } else if (take(&s->deny)) {
        say_answer(p, "401 Unauthorized", "", "");
    } else {
        say_result(s, p, id);
        return !s->events;
    }
    return 1;
}

static size_t length_of(const char *head)
{
    const char *at = strcasestr(head, "\ncontent-length:");

    return at != NULL ? strtoul(at + 16, NULL, 10) : 0;
}

/* One connection, request after request, until it ends. */
static void serve_peer(struct mcpd_shared *s, int fd)
{
    static struct peer p;

    p = (struct peer){.fd = fd};
    for (;;) {
        char *end = memmem(p.text, p.n, "\r\n\r\n", 4);
        size_t need = 0;
        ssize_t n;

        if (end != NULL) {
            *end = '\0';
            need = (size_t)(end - p.text) + 4 + length_of(p.text);
            if (p.n < need)
                *end = '\r';
        }
        if (end != NULL && p.n >= need) {
            struct span body = {end + 4, need - (size_t)(end + 4 - p.text)};

            if (!serve(s, &p, p.text, body))
                return;
            memmove(p.text, p.text + need, p.n - need);
            p.n -= need;
            continue;
        }
        n = read(fd, p.text + p.n, sizeof(p.text) - p.n);
        if (n <= 0)
            return;
        p.n += (size_t)n;
    }
}

/* A process for each connection, for the client has several at a time. */
static void run(struct mcpd *d)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(d->port)};
    int l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(l, (struct sockaddr *)&a, sizeof(a)) != 0 || listen(l, 64) != 0)
        _exit(2);
    (void)signal(SIGCHLD, SIG_IGN);
    for (;;) {
        int fd = accept(l, NULL, NULL);

        if (fd >= 0 && fork() == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            (void)close(l);
            serve_peer(d->s, fd);
            _exit(0);
        }
        (void)close(fd);
    }
}

static bool is_up(void *arg)
{
    const struct mcpd *d = arg;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(d->port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool up;

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    up = connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0;
    (void)close(fd);
    return up;
}

static bool is_down(void *arg)
{
    return !is_up(arg);
}

void mcpd_again(struct mcpd *d)
{
    d->pid = fork();
    if (d->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        run(d);
    }
    if (!wait_for(10000, is_up, d))
        exit(2);
}

void mcpd_start(struct mcpd *d)
{
    memset(d, 0, sizeof(*d));
    d->s = mmap(NULL, sizeof(*d->s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (d->s == MAP_FAILED)
        exit(2);
    (void)snprintf(d->s->version, sizeof(d->s->version), "2025-11-25");
    (void)snprintf(d->s->answer, sizeof(d->s->answer), ",\"result\":{}");
    d->port = free_port();
    (void)snprintf(d->url, sizeof(d->url), "http://127.0.0.1:%u/mcp", d->port);
    mcpd_again(d);
}

void mcpd_kill(struct mcpd *d)
{
    if (d->pid > 0) {
        (void)kill(d->pid, SIGKILL);
        (void)waitpid(d->pid, NULL, 0);
        if (!wait_for(10000, is_down, d)) /* a child of its that just began still listens */
            exit(2);
    }
    d->pid = 0;
}

void mcpd_stop(struct mcpd *d)
{
    mcpd_kill(d);
    (void)munmap(d->s, sizeof(*d->s));
}

unsigned mcpd_count(const struct mcpd *d, const char *method)
{
    unsigned n = 0;

    for (unsigned i = 0; i < d->s->seen && i < MCPD_SEEN; i++)
        n += strcmp(d->s->methods[i], method) == 0;
    return n;
}
