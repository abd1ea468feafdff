#include "broker/http_internal.h"

#include "common/mem.h"

#include <assert.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <stdlib.h>
#include <string.h>

/* HTTP/1.0 gets one request a connection: evhttp frames neither streams nor held answers of kept
 * ones right. */
static void settle_version(struct evhttp_request *ev)
{
    if (ev->minor == 0)
        (void)evhttp_remove_header(evhttp_request_get_input_headers(ev), "Connection");
}

static bool refused(struct http *h, struct http_req *r, unsigned flaws)
{
    struct evhttp_request *ev = r->ev;
    int status;
    const char *why = valid_request(ev, flaws, &status);

    if (why == NULL && ev->body_size > h->conf.body_max) {
        why = "the message is larger than this server accepts";
        status = 413;
    }
    if (why == NULL)
        return false;
    reply_refuse(r, status, why);
    return true;
}

static void on_request(struct evhttp_request *ev, void *arg)
{
    struct http *h = arg;
    struct conn *c = conn_find(h, ev);
    struct http_req *r = &c->req;
    unsigned flaws = conn_asked(c, ev);

    if (refused(h, r, flaws))
        return;
    settle_version(ev);
    r->query = strchr(ev->uri, '?');
    if (r->query != NULL)
        *r->query++ = '\0';
    h->fn(h->arg, r);
    /* Whoever returns without having done one of the three would lose the request. */
    assert(c->sm.state != CONN_ASKED);
}

static uint64_t or_default(uint64_t given, uint64_t otherwise)
{
    return given != 0 ? given : otherwise;
}

static void fill_conf(struct http_conf *c)
{
    c->read_timeout_ms = or_default(c->read_timeout_ms, 15000);
    c->idle_timeout_ms = or_default(c->idle_timeout_ms, 75000);
    c->keepalive_ms = or_default(c->keepalive_ms, 15000);
    c->stall_timeout_ms = or_default(c->stall_timeout_ms, 30000);
    c->stream_max = or_default(c->stream_max, 1024 * 1024);
}

static void init_lists(struct http *h)
{
    struct list *lists[] = {&h->fresh,  &h->written,   &h->idle,   &h->reading, &h->quiet,
                            &h->unsent, &h->lingering, &h->doomed, &h->all};

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        list_init(lists[i]);
}

static void init_evhttp(struct http *h)
{
    h->ev = evhttp_new(h->base);
    evhttp_set_max_headers_size(h->ev, HTTP_HEAD_MAX);
    evhttp_set_max_body_size(h->ev, (ev_ssize_t)(h->conf.body_max + HTTP_BODY_SLACK));
    evhttp_set_allowed_methods(h->ev, 0xffff);
    evhttp_set_default_content_type(h->ev, NULL);
    evhttp_set_bevcb(h->ev, conn_new, h);
    evhttp_set_gencb(h->ev, on_request, h);
}

struct http *http_new(struct event_base *base, const struct http_conf *conf, http_fn *fn, void *arg,
                      struct buf *why)
{
    struct http *h = mem_zalloc(sizeof(*h));

    h->base = base;
    h->conf = *conf;
    h->fn = fn;
    h->arg = arg;
    h->spare_fd = -1;
    fill_conf(&h->conf);
    init_lists(h);
    init_evhttp(h);
    h->turn = event_new(base, -1, 0, conn_turn, h);
    h->sweep = event_new(base, -1, 0, sweep_run, h);
    if (!listen_open(h, why)) {
        http_free(h);
        return NULL;
    }
    sweep_in(h, 0);
    return h;
}

uint16_t http_port(const struct http *h)
{
    return h->port;
}

void http_pause(struct http *h)
{
    listen_pause(h);
}

void http_resume(struct http *h)
{
    listen_resume(h);
}

void http_shut(struct http *h)
{
    listen_shut(h);
}

void http_stop_listening(struct http *h)
{
    conn_adopt(h); /* who came on this turn of the loop is counted */
    listen_close(h);
}

void http_free(struct http *h)
{
    listen_close(h);
    conn_adopt(h);
    conn_cut_all(h);
    evhttp_free(h->ev);
    linger_end_all(h);
    event_free(h->turn);
    event_free(h->sweep);
    free(h->by_fd);
    free(h);
}

void http_stats(const struct http *h, struct http_stats *out)
{
    *out = h->stats;
}

uint64_t http_unsent(const struct http *h)
{
    uint64_t n = 0;

    LIST_EACH(&h->unsent, it)
    {
        n += evbuffer_get_length(bufferevent_get_output(LIST_OF(it, struct conn, unsent)->bev));
    }
    return n;
}
