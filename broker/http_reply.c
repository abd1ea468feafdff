#include "broker/http_internal.h"

#include "common/buf.h"

#include <assert.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/uio.h>
#include <time.h>

enum { HEAD_MAX = 512 };

void reply_header(struct http_req *r, const char *name, const char *value)
{
    int added = evhttp_add_header(evhttp_request_get_output_headers(r->ev), name, value);

    assert(added == 0);
    (void)added;
}

void http_set_header(struct http_req *r, const char *name, const char *value)
{
    reply_header(r, name, value);
}

void http_close_after(struct http_req *r)
{
    struct evkeyvalq *out = evhttp_request_get_output_headers(r->ev);

    if (evhttp_find_header(out, "Connection") == NULL)
        reply_header(r, "Connection", "close");
}

/* evhttp would format the same date for every answer of a second. */
static const char *date_of(struct http *h)
{
    time_t now = time(NULL);
    struct tm tm;

    if (now != h->date_s) {
        h->date_s = now;
        (void)evutil_date_rfc1123(h->date, sizeof(h->date), gmtime_r(&now, &tm));
    }
    return h->date;
}

void reply_common(struct http_req *r, const char *type)
{
    struct http *h = conn_of(r)->h;

    if (type != NULL)
        reply_header(r, "Content-Type", type);
    reply_header(r, "Cache-Control", "no-store");
    reply_header(r, "Date", date_of(h));
    if (h->leaving)
        http_close_after(r);
}

/* evhttp's own phrases end at 417. */
static const char *phrase_of(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 422:
        return "Unprocessable Content";
    case 429:
        return "Too Many Requests";
    default:
        return NULL;
    }
}

/* evhttp sends the body of an answer that has none. */
static void leave_out_body(struct http_req *r, int status)
{
    struct evbuffer *out = evhttp_request_get_output_buffer(r->ev);
    char length[24];

    if (r->ev->type == EVHTTP_REQ_HEAD) {
        (void)snprintf(length, sizeof(length), "%zu", evbuffer_get_length(out));
        reply_header(r, "Content-Length", length);
    } else if (status != 204 && status != 304) {
        return;
    }
    (void)evbuffer_drain(out, evbuffer_get_length(out));
}

/* Most answers fit the socket's buffer: written here, they cost no turn of the loop and no change
 * of what the loop waits for. Write events must be off then, or the end would be told twice. */
static void write_now(struct conn *c)
{
    struct evbuffer *out = bufferevent_get_output(c->bev);

    (void)evbuffer_unfreeze(out, 1);
    (void)evbuffer_write(out, c->fd);
    (void)evbuffer_freeze(out, 1);
    if (evbuffer_get_length(out) != 0)
        return;
    (void)bufferevent_disable(c->bev, EV_WRITE);
    conn_written(c);
}

static void send_reply(struct http_req *r, int status, const char *type)
{
    struct conn *c = conn_of(r);
    struct evhttp_request *ev = r->ev;

    reply_common(r, type);
    leave_out_body(r, status);
    conn_move(c, CONN_WRITING);
    evhttp_request_set_on_complete_cb(ev, conn_sent, c);
    evhttp_send_reply(ev, status, phrase_of(status), NULL);
    conn_answered(c);
    write_now(c);
}

/* Nearly every answer: 200 to a request that was held, on a connection that stays open, with no
 * header that others have not. */
static bool is_plain(struct http_req *r, int status, const char *type, struct span body)
{
    const struct conn *c = conn_of(r);
    const struct evhttp_request *ev = r->ev;
    const char *connection;

    if (c->sm.state != CONN_HELD || status != 200 || type == NULL || body.n == 0 || c->h->leaving ||
        ev->major != 1 || ev->minor != 1 || ev->type == EVHTTP_REQ_HEAD ||
        ev->output_headers->tqh_first != NULL ||
        evbuffer_get_length(bufferevent_get_output(c->bev)) != 0)
        return false;
    connection = http_header(r, "Connection");
    return connection == NULL || strcasecmp(connection, "keep-alive") == 0;
}

/* Head and body go to the socket as they are, past evhttp's list of headers and its printing of
 * them; only what the socket does not take is given to the bufferevent. */
static void send_plain(struct http_req *r, const char *type, struct span body)
{
    struct conn *c = conn_of(r);
    struct evbuffer *out = bufferevent_get_output(c->bev);
    char head[HEAD_MAX];
    int n = snprintf(head, sizeof(head),
                     "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nCache-Control: no-store\r\n"
                     "Date: %s\r\nContent-Length: %zu\r\n\r\n",
                     type, date_of(c->h), body.n);
    struct iovec v[] = {{head, (size_t)n}, {(void *)(uintptr_t)body.p, body.n}};
    ssize_t written;

    assert(n > 0 && n < HEAD_MAX);
    conn_move(c, CONN_WRITING);
    evhttp_request_set_on_complete_cb(r->ev, conn_sent, c);
    r->ev->userdone = 1;
    written = writev(c->fd, v, 2);
    written = written > 0 ? written : 0;
    if ((size_t)written == v[0].iov_len + body.n) {
        list_del(&c->link);
        conn_written(c);
        return;
    }
    if (written < n)
        (void)evbuffer_add(out, head + written, (size_t)(n - written));
    written = written > n ? written - n : 0;
    (void)evbuffer_add(out, body.p + written, body.n - (size_t)written);
    conn_answered(c);
    evhttp_send_reply_end(r->ev);
    (void)bufferevent_enable(c->bev, EV_WRITE);
}

void http_reply(struct http_req *r, int status, const char *type, struct span body)
{
    if (is_plain(r, status, type, body)) {
        send_plain(r, type, body);
        return;
    }
    /* A HEAD is told about a body, and gets none. */
    if (body.n != 0 && r->ev->type != EVHTTP_REQ_HEAD)
        (void)evbuffer_add(evhttp_request_get_output_buffer(r->ev), body.p, body.n);
    send_reply(r, status, type);
}

void http_reply_buffer(struct http_req *r, int status, const char *type, struct evbuffer *body)
{
    (void)evbuffer_add_buffer(evhttp_request_get_output_buffer(r->ev), body);
    send_reply(r, status, type);
}

/* For what never reaches the handler: an error without an id, as the protocol allows. */
void reply_refuse(struct http_req *r, int status, const char *why)
{
    struct conn *c = conn_of(r);
    struct buf body;

    c->h->stats.refused++;
    if (r->ev->major != 1 || r->ev->minor > 1)
        r->ev->major = r->ev->minor = 1;
    buf_init(&body, 512);
    buf_adds(&body, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":");
    buf_add_json(&body, span_of(why));
    buf_adds(&body, "}}");
    /* A body that was read to its end leaves the connection in order. */
    c->linger = status != 413;
    if (c->linger)
        http_close_after(r);
    http_reply(r, status, "application/json", buf_span(&body));
    buf_fini(&body);
}

/* evhttp's read callback ends the process when bytes arrive while a request is out. None is better
 * than one that does nothing: with the input full, a bufferevent calls that again and again. */
void reply_watch(struct conn *c, size_t input_max)
{
    bufferevent_data_cb on_write;
    bufferevent_event_cb on_event;
    void *arg;

    bufferevent_getcb(c->bev, NULL, &on_write, &on_event, &arg);
    bufferevent_setcb(c->bev, NULL, on_write, on_event, arg);
    bufferevent_setwatermark(c->bev, EV_READ, 0, input_max);
    (void)bufferevent_enable(c->bev, EV_READ);
}

void http_bind(struct http_req *r, struct list *bound)
{
    list_del(&r->bound);
    list_add_tail(bound, &r->bound);
}

size_t http_cut(struct list *bound)
{
    size_t n = 0;

    while (!list_empty(bound)) {
        struct http_req *r = LIST_OF(bound->next, struct http_req, bound);
        struct conn *c = conn_of(r);

        list_del(&r->bound);
        c->sse.fallen = c->sm.state == CONN_STREAMING;
        conn_doom(c);
        n++;
    }
    return n;
}

void http_hold(struct http_req *r, http_gone_fn *fn, void *arg)
{
    struct conn *c = conn_of(r);

    r->on_gone = fn;
    r->arg = arg;
    if (c->sm.state == CONN_HELD)
        return;
    conn_move(c, CONN_HELD);
    reply_watch(c, HTTP_HELD_MAX);
}
