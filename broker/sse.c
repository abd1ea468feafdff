#include "broker/sse.h"

#include "broker/http_internal.h"

#include <assert.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <stdio.h>
#include <string.h>

enum { MOVE_FROM = 16 * 1024 }; /* smaller data is copied, so that frames share chunks */

static struct evbuffer *output_of(struct conn *c)
{
    return bufferevent_get_output(c->bev);
}

struct sse *sse_start(struct http_req *r, http_gone_fn *on_gone, void *arg)
{
    struct conn *c = conn_of(r);

    r->on_gone = on_gone;
    r->arg = arg;
    c->sse = (struct sse){.c = c};
    reply_common(r, "text/event-stream");
    reply_header(r, "X-Accel-Buffering", "no");
    conn_move(c, CONN_STREAMING);
    evhttp_send_reply_start(r->ev, 200, "OK");
    reply_watch(c, HTTP_STREAM_IN_MAX);
    conn_answered(c);
    conn_quiet(c);
    return &c->sse;
}

/* A frame that does not fit behind a slow reader ends its stream: it can resume elsewhere. */
static bool has_room(struct sse *s)
{
    struct conn *c = s->c;

    if (s->fallen)
        return false;
    if (evbuffer_get_length(output_of(c)) <= c->h->conf.stream_max)
        return true;
    s->fallen = true;
    conn_doom(c);
    return false;
}

/* HTTP/1.1 gets n bytes as a chunk, HTTP/1.0 as they are. Adding to the output starts the writing:
 * evhttp left it enabled. */
static void open_chunk(struct conn *c, size_t n)
{
    char head[24];
    int len = snprintf(head, sizeof(head), "%zx\r\n", n);

    c->sse.before = evbuffer_get_length(output_of(c));
    if (c->req.ev->chunked)
        (void)evbuffer_add(output_of(c), head, (size_t)len);
}

static void close_chunk(struct conn *c)
{
    if (c->req.ev->chunked)
        (void)evbuffer_add(output_of(c), "\r\n", 2);
    conn_queued(c, evbuffer_get_length(output_of(c)) - c->sse.before);
    conn_quiet(c);
}

static void add(struct conn *c, const char *p, size_t n)
{
    (void)evbuffer_add(output_of(c), p, n);
}

/* The next line of text, which keeps the rest: CR LF, CR and LF end one. False after the last. */
static bool next_line(struct span *text, struct span *line)
{
    const char *lf;
    const char *cr;
    size_t n;

    if (text->p == NULL)
        return false;
    lf = memchr(text->p, '\n', text->n);
    n = lf != NULL ? (size_t)(lf - text->p) : text->n;
    cr = memchr(text->p, '\r', n);
    if (cr != NULL)
        n = (size_t)(cr - text->p);
    *line = (struct span){text->p, n};
    if (n == text->n) {
        text->p = NULL;
        return true;
    }
    n += cr != NULL && lf == cr + 1 ? 2 : 1;
    *text = (struct span){text->p + n, text->n - n};
    return true;
}

static size_t frame_size(const char *id, struct span data)
{
    struct span line;
    size_t n = 1 + (id != NULL ? strlen(id) + 5 : 0);

    while (next_line(&data, &line))
        n += line.n + 7;
    return n;
}

static void add_id(struct conn *c, const char *id)
{
    if (id == NULL)
        return;
    assert(strpbrk(id, "\r\n") == NULL);
    add(c, "id: ", 4);
    add(c, id, strlen(id));
    add(c, "\n", 1);
}

void sse_send(struct sse *s, const char *id, struct span data)
{
    struct conn *c = s->c;
    struct span line;
    size_t n;

    if (!has_room(s))
        return;
    if (data.p == NULL)
        data = SPAN("");
    n = frame_size(id, data);
    open_chunk(c, n);
    add_id(c, id);
    while (next_line(&data, &line)) {
        add(c, "data: ", 6);
        add(c, line.p, line.n);
        add(c, "\n", 1);
    }
    add(c, "\n", 1);
    close_chunk(c);
}

static bool has_line_break(struct evbuffer *data)
{
    return evbuffer_search_eol(data, NULL, NULL, EVBUFFER_EOL_ANY).pos != -1;
}

void sse_send_buffer(struct sse *s, const char *id, struct evbuffer *data)
{
    struct conn *c = s->c;
    size_t n = evbuffer_get_length(data);

    if (n < MOVE_FROM || has_line_break(data)) {
        sse_send(s, id, (struct span){n != 0 ? (char *)evbuffer_pullup(data, -1) : "", n});
    } else if (has_room(s)) {
        n += 8 + (id != NULL ? strlen(id) + 5 : 0);
        open_chunk(c, n);
        add_id(c, id);
        add(c, "data: ", 6);
        (void)evbuffer_add_buffer(output_of(c), data);
        add(c, "\n\n", 2);
        close_chunk(c);
    }
    (void)evbuffer_drain(data, evbuffer_get_length(data));
}

static void add_text(struct sse *s, const char *text, size_t n)
{
    struct conn *c = s->c;

    open_chunk(c, n);
    add(c, text, n);
    close_chunk(c);
}

void sse_retry(struct sse *s, uint64_t ms)
{
    char text[40];
    int n = snprintf(text, sizeof(text), "retry: %llu\n\n", (unsigned long long)ms);

    if (has_room(s))
        add_text(s, text, (size_t)n);
}

/* Bytes that still wait keep a proxy awake as well as a comment would. A client that has filled
 * what it may send while it reads cannot be seen leaving any more. */
void sse_comment(struct conn *c)
{
    if (evbuffer_get_length(bufferevent_get_input(c->bev)) >= HTTP_STREAM_IN_MAX) {
        c->sse.fallen = true;
        conn_doom(c);
    }
    if (evbuffer_get_length(output_of(c)) == 0)
        add_text(&c->sse, ":\n\n", 3);
    else
        conn_quiet(c);
}

size_t sse_backlog(const struct sse *s)
{
    return s->fallen ? 0 : evbuffer_get_length(output_of(s->c));
}

void sse_end(struct sse *s)
{
    struct conn *c = s->c;
    struct evhttp_request *ev = c->req.ev;

    c->req.on_gone = NULL;
    if (s->fallen)
        return;
    conn_move(c, CONN_WRITING);
    evhttp_request_set_on_complete_cb(ev, conn_sent, c);
    conn_answered(c);
    evhttp_send_reply_end(ev); /* for HTTP/1.0 it may close at once: c is not ours any more */
}
