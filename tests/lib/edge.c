#include "tests/lib/edge.h"

#include "common/buf.h"
#include "common/mem.h"
#include "tests/lib/proc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void edge_on_gone(void *arg)
{
    struct edge *e = arg;

    e->gone++;
}

static const char *const methods[] = {"GET", "POST", "DELETE", "OTHER"};

static void echo(struct http_req *r)
{
    struct span body = http_body(r);
    struct buf out;

    buf_init(&out, 4 * 1024 * 1024);
    buf_addf(&out, "%s %s %s ", methods[http_method(r)], http_path(r),
             http_query(r) != NULL ? http_query(r) : "-");
    buf_add_span(&out, body);
    http_reply(r, 200, "text/plain", buf_span(&out));
    buf_fini(&out);
}

static void on_request(void *arg, struct http_req *r)
{
    struct edge *e = arg;

    e->asked++;
    if (e->fn != NULL) {
        e->fn(e, r);
    } else if (strcmp(http_path(r), "/hold") == 0) {
        e->held[e->held_count++] = r;
        http_hold(r, edge_on_gone, e);
    } else if (strcmp(http_path(r), "/sse") == 0) {
        e->streams[e->stream_count++] = sse_start(r, edge_on_gone, e);
    } else {
        echo(r);
    }
}

void edge_start(struct edge *e, const struct http_conf *conf)
{
    struct event_config *config = event_config_new();
    struct http_conf mine = conf != NULL ? *conf : (struct http_conf){0};
    struct buf why;

    *e = (struct edge){0};
    e->held = mem_zalloc(EDGE_MAX * sizeof(struct http_req *));
    e->streams = mem_zalloc(EDGE_MAX * sizeof(struct sse *));
    if (mine.host == NULL)
        mine.host = "127.0.0.1";
    if (mine.body_max == 0)
        mine.body_max = 1024 * 1024;
    /* As the broker does. */
    (void)event_config_set_flag(config,
                                EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST);
    e->base = event_base_new_with_config(config);
    event_config_free(config);
    buf_init(&why, 256);
    e->h = http_new(e->base, &mine, on_request, e, &why);
    if (e->h == NULL) {
        (void)fprintf(stderr, "%s\n", why.p);
        abort();
    }
    buf_fini(&why);
}

void edge_stop(struct edge *e)
{
    http_free(e->h);
    event_base_free(e->base);
    free(e->held);
    free(e->streams);
}

struct http_stats edge_stats(const struct edge *e)
{
    struct http_stats s;

    http_stats(e->h, &s);
    return s;
}

void raw_open(struct raw *c, struct edge *e)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(http_port(e->h))};

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *c = (struct raw){.e = e, .fd = socket(AF_INET, SOCK_STREAM, 0)};
    c->text = mem_zalloc(1);
    if (c->fd == -1 || connect(c->fd, (struct sockaddr *)&a, sizeof(a)) != 0) {
        perror("connect");
        abort();
    }
}

void raw_close(struct raw *c)
{
    if (c->fd != -1)
        (void)close(c->fd);
    free(c->text);
    *c = (struct raw){.fd = -1};
}

void raw_send_bytes(struct raw *c, const char *p, size_t n)
{
    while (n != 0) {
        ssize_t sent = send(c->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent > 0) {
            p += sent;
            n -= (size_t)sent;
        } else if (errno == EAGAIN) {
            turn_for(c->e->base, 1);
        } else {
            return;
        }
    }
}

void raw_send(struct raw *c, const char *text)
{
    raw_send_bytes(c, text, strlen(text));
}

static void read_more(struct raw *c)
{
    char part[65536];
    ssize_t n = recv(c->fd, part, sizeof(part), MSG_DONTWAIT);

    if (n > 0) {
        c->text = mem_grow(c->text, c->n + (size_t)n + 1);
        memcpy(c->text + c->n, part, (size_t)n);
        c->n += (size_t)n;
        c->text[c->n] = '\0';
    } else if (n == 0) {
        c->eof = true;
    } else if (errno != EAGAIN) {
        c->reset = true;
    }
}

struct wanted {
    struct raw *c;
    const char *text;
};

static bool has_come(void *arg)
{
    struct wanted *w = arg;

    read_more(w->c);
    return w->text != NULL ? strstr(w->c->text, w->text) != NULL : w->c->eof || w->c->reset;
}

bool raw_sees(struct raw *c, const char *text)
{
    return turn_until(c->e->base, 10000, has_come, &(struct wanted){c, text});
}

bool raw_sees_eof(struct raw *c, unsigned ms)
{
    return turn_until(c->e->base, ms, has_come, &(struct wanted){c, NULL}) && c->eof;
}

size_t raw_count(const struct raw *c, const char *text)
{
    size_t n = 0;

    for (const char *p = c->text; (p = strstr(p, text)) != NULL; p += strlen(text))
        n++;
    return n;
}

void raw_forget(struct raw *c)
{
    c->n = 0;
    c->text[0] = '\0';
}
