#include "broker/http_internal.h"

#include "common/clock.h"
#include "common/mem.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <stdlib.h>
#include <string.h>

static const struct sm_row rows[] = {
    [CONN_IDLE] = {"idle", SM_TO(CONN_READING) | SM_TO(CONN_CLOSED)},
    [CONN_READING] = {"reading", SM_TO(CONN_ASKED) | SM_TO(CONN_CLOSED)},
    [CONN_ASKED] = {"asked", SM_TO(CONN_HELD) | SM_TO(CONN_STREAMING) | SM_TO(CONN_WRITING)},
    [CONN_HELD] = {"held", SM_TO(CONN_STREAMING) | SM_TO(CONN_WRITING) | SM_TO(CONN_CLOSED)},
    [CONN_STREAMING] = {"streaming", SM_TO(CONN_WRITING) | SM_TO(CONN_CLOSED)},
    [CONN_WRITING] = {"writing", SM_TO(CONN_IDLE) | SM_TO(CONN_READING) | SM_TO(CONN_CLOSED)},
    [CONN_CLOSED] = {"closed", 0},
};

void conn_move(struct conn *c, enum conn_state to)
{
    c->h->stats.reading -= c->sm.state == CONN_READING;
    c->h->stats.held -= c->sm.state == CONN_HELD;
    c->h->stats.streams -= c->sm.state == CONN_STREAMING;
    sm_move(&c->sm, to);
    if (to == CONN_WRITING || to == CONN_CLOSED)
        list_del(&c->req.bound);
    c->h->stats.reading += to == CONN_READING;
    c->h->stats.held += to == CONN_HELD;
    c->h->stats.streams += to == CONN_STREAMING;
}

static void join(struct conn *c, struct list *list)
{
    list_del(&c->link);
    list_add_tail(list, &c->link);
    c->since_ms = clock_mono_ms();
}

/* The input from its `from`th byte on, to the scanner. */
static void scan_input(struct conn *c, struct evbuffer *in, size_t from)
{
    struct evbuffer_iovec v[16];
    struct evbuffer_ptr at;
    int n;

    while (!c->scan.body && from < evbuffer_get_length(in)) {
        if (evbuffer_ptr_set(in, &at, from, EVBUFFER_PTR_SET) != 0)
            return;
        n = evbuffer_peek(in, -1, &at, v, 16);
        for (int i = 0; i < n && i < 16; i++) {
            http_scan_bytes(&c->scan, v[i].iov_base, v[i].iov_len);
            from += v[i].iov_len;
        }
    }
}

static void on_input(struct evbuffer *in, const struct evbuffer_cb_info *info, void *arg)
{
    struct conn *c = arg;

    if (info->n_added == 0)
        return;
    if (c->sm.state == CONN_IDLE) {
        conn_move(c, CONN_READING);
        join(c, &c->h->reading);
    }
    scan_input(c, in, evbuffer_get_length(in) - info->n_added);
}

/* What evhttp may need to have in its hands at once: a head and a body. */
static size_t input_max(const struct http *h)
{
    return (size_t)h->conf.body_max + HTTP_BODY_SLACK + 2 * HTTP_HEAD_MAX;
}

/* evhttp asks for a bufferevent before it has a connection: conn_adopt() brings the two together
 * before the loop looks at the socket again. */
struct bufferevent *conn_new(struct event_base *base, void *arg)
{
    struct http *h = arg;
    struct bufferevent *bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    struct conn *c;

    if (bev == NULL)
        return NULL;
    c = mem_zalloc(sizeof(*c));
    c->h = h;
    c->bev = bev;
    c->fd = -1;
    list_init(&c->link);
    list_init(&c->unsent);
    list_init(&c->doomed);
    list_init(&c->req.bound);
    sm_init(&c->sm, "connection", rows, CONN_IDLE);
    http_scan_start(&c->scan);
    bufferevent_incref(bev);
    list_add_tail(&h->fresh, &c->link);
    event_active(h->turn, EV_TIMEOUT, 1);
    listen_accepted(h);
    return bev;
}

struct conn *conn_find(struct http *h, struct evhttp_request *ev)
{
    struct bufferevent *bev = evhttp_connection_get_bufferevent(evhttp_request_get_connection(ev));

    return h->by_fd[bufferevent_getfd(bev)];
}

static void note_fd(struct conn *c)
{
    struct http *h = c->h;
    size_t n = h->by_fd_count;

    c->fd = bufferevent_getfd(c->bev);
    while ((size_t)c->fd >= n)
        n = n != 0 ? 2 * n : 64;
    if (n != h->by_fd_count) {
        h->by_fd = mem_grow(h->by_fd, n * sizeof(struct conn *));
        memset(h->by_fd + h->by_fd_count, 0, (n - h->by_fd_count) * sizeof(struct conn *));
        h->by_fd_count = n;
    }
    h->by_fd[c->fd] = c;
}

static void on_closed(struct evhttp_connection *evcon, void *arg)
{
    struct conn *c = arg;
    bool owed = c->sm.state == CONN_HELD || c->sm.state == CONN_STREAMING;
    bool refused = c->linger || c->sm.state == CONN_READING;

    (void)evcon;
    evbuffer_remove_cb_entry(bufferevent_get_input(c->bev), c->tap);
    list_del(&c->link);
    list_del(&c->unsent);
    list_del(&c->doomed);
    c->h->by_fd[c->fd] = NULL;
    c->h->stats.connections--;
    conn_move(c, CONN_CLOSED);
    if (refused && !c->cut)
        linger_start(c);
    if (owed && c->req.on_gone != NULL)
        c->req.on_gone(c->req.arg);
    /* A request that evhttp has let go of is ours to free. */
    if (owed && evhttp_request_get_connection(c->req.ev) == NULL)
        evhttp_request_free(c->req.ev);
    free(c);
}

static void adopt(struct conn *c)
{
    struct bufferevent *bev = c->bev;
    void *evcon;

    bufferevent_getcb(bev, NULL, NULL, NULL, &evcon);
    if (evcon == NULL) { /* evhttp could not use it */
        list_del(&c->link);
        free(c);
    } else {
        struct evbuffer *in = bufferevent_get_input(bev);

        c->evcon = evcon;
        note_fd(c);
        c->h->stats.connections++;
        c->tap = evbuffer_add_cb(in, on_input, c);
        bufferevent_setwatermark(bev, EV_READ, 0, input_max(c->h));
        evhttp_connection_set_closecb(evcon, on_closed, c);
        join(c, &c->h->idle);
    }
    bufferevent_decref(bev);
}

void conn_adopt(struct http *h)
{
    LIST_EACH(&h->fresh, it)
    {
        adopt(LIST_OF(it, struct conn, link));
    }
}

unsigned conn_asked(struct conn *c, struct evhttp_request *ev)
{
    unsigned flaws = c->scan.flaws;

    list_del(&c->link);
    conn_move(c, CONN_ASKED);
    c->h->stats.requests++;
    c->req = (struct http_req){.ev = ev};
    list_init(&c->req.bound);
    http_scan_start(&c->scan);
    scan_input(c, bufferevent_get_input(c->bev), 0);
    return flaws;
}

void conn_queued(struct conn *c, size_t n)
{
    c->queued += n;
    if (!list_empty(&c->unsent))
        return;
    c->looked_ms = clock_mono_ms();
    c->taken = c->queued - evbuffer_get_length(bufferevent_get_output(c->bev));
    c->idle_looks = 0;
    list_add_tail(&c->h->unsent, &c->unsent);
}

void conn_answered(struct conn *c)
{
    list_del(&c->link);
    c->queued = evbuffer_get_length(bufferevent_get_output(c->bev));
    conn_queued(c, 0);
}

void conn_written(struct conn *c)
{
    list_add_tail(&c->h->written, &c->link);
    event_active(c->h->turn, EV_TIMEOUT, 1);
}

void conn_quiet(struct conn *c)
{
    join(c, &c->h->quiet);
}

/* evhttp has handed the whole answer to the socket. It goes on with the next request, or closes. */
void conn_sent(struct evhttp_request *ev, void *arg)
{
    struct conn *c = arg;
    bool more = evbuffer_get_length(bufferevent_get_input(c->bev)) != 0;

    list_del(&c->unsent);
    bufferevent_setwatermark(c->bev, EV_READ, 0, input_max(c->h));
    conn_move(c, more ? CONN_READING : CONN_IDLE);
    join(c, more ? &c->h->reading : &c->h->idle);
    c->req.ev = NULL;
    if (ev->type == EVHTTP_REQ_CONNECT) /* which evhttp would keep open, whatever we said */
        conn_doom(c);
}

void conn_doom(struct conn *c)
{
    if (!list_empty(&c->doomed))
        return;
    list_add_tail(&c->h->doomed, &c->doomed);
    event_active(c->h->turn, EV_TIMEOUT, 1);
}

void conn_close(struct conn *c)
{
    c->cut = true;
    evhttp_connection_free(c->evcon);
}

/* A last try, past the bufferevent, which would wait for the loop. */
static void write_out(struct conn *c)
{
    struct evbuffer *out = bufferevent_get_output(c->bev);
    int n;

    evbuffer_unfreeze(out, 1);
    do {
        n = evbuffer_write(out, c->fd);
    } while (n > 0 && evbuffer_get_length(out) != 0);
    evbuffer_freeze(out, 1);
}

void conn_cut_all(struct http *h)
{
    LIST_EACH(&h->unsent, it)
    {
        write_out(LIST_OF(it, struct conn, unsent));
    }
    for (size_t i = 0; i < h->by_fd_count; i++) {
        if (h->by_fd[i] != NULL)
            h->by_fd[i]->cut = true;
    }
}

static void tell_written(struct conn *c)
{
    list_del(&c->link);
    evhttp_send_reply_end(c->req.ev);
}

void conn_turn(int fd, short what, void *arg)
{
    struct http *h = arg;

    (void)fd;
    (void)what;
    conn_adopt(h);
    while (!list_empty(&h->written))
        tell_written(LIST_OF(h->written.next, struct conn, link));
    while (!list_empty(&h->doomed))
        conn_close(LIST_OF(h->doomed.next, struct conn, doomed));
}
