#include "broker/l/get.h"

#include "broker/l/resume.h"
#include "broker/l/session.h"
#include "broker/rpc.h"
#include "broker/stream.h"
#include "broker/watching.h"
#include "common/clock.h"
#include "common/mem.h"

#include <event2/event.h>
#include <stdlib.h>

/* The client of an ended session is told a moment later: other brokers, which it may meet next,
 * have heard of the end by then (H-28). */
enum { HEARD_MS = 100 };

/* One GET or DELETE while it looks its session up. */
struct visit {
    struct broker *b;
    struct http_req *http;
    struct principal who;
    char session[ID_LEN + 1];
    struct event *timer; /* DELETE, done: until the answer */
    bool gone;
};

static void visit_free(struct visit *v)
{
    if (v->timer != NULL)
        event_free(v->timer);
    free(v);
}

static void on_gone(void *arg)
{
    struct visit *v = arg;

    v->gone = true;
    if (v->timer != NULL)
        visit_free(v);
}

static void refuse(struct visit *v, int status, const char *why)
{
    struct buf out;

    buf_init(&out, 512);
    rpc_write_error(&out, (struct span){NULL, 0}, err_rpc(ERR_INVALID_REQUEST), span_of(why),
                    (struct span){NULL, 0});
    http_reply(v->http, status, "application/json", buf_span(&out));
    buf_fini(&out);
    free(v);
}

static void refuse_err(struct visit *v, enum err e)
{
    if (e == ERR_NOT_FOUND)
        refuse(v, 404, "Session not found: initialize again");
    else
        refuse(v, err_http(e), err_text(e));
}

/* The session that the request names, in form; refused here when there is none. */
static bool name_session(struct visit *v)
{
    const char *id = http_header(v->http, "Mcp-Session-Id");
    const char *version = http_header(v->http, "MCP-Protocol-Version");
    unsigned partition;

    if (id == NULL) {
        refuse(v, 400, "a session is required: initialize first and send its Mcp-Session-Id");
        return false;
    }
    if (version != NULL && l_version_of(span_of(version)) == L_UNKNOWN) {
        refuse(v, 400, "Unsupported protocol version");
        return false;
    }
    if (!id_parse(span_of(id), store_partitions(v->b->store), &partition) ||
        partition != v->who.partition) {
        refuse_err(v, ERR_NOT_FOUND);
        return false;
    }
    memcpy(v->session, id, ID_LEN);
    return true;
}

static struct visit *visit_new(struct broker *b, struct http_req *http, const struct principal *who)
{
    struct visit *v = mem_zalloc(sizeof(*v));

    v->b = b;
    v->http = http;
    v->who = *who;
    return v;
}

static void open_stream(struct visit *v, bool tasks)
{
    const char *last = http_header(v->http, "Last-Event-ID");
    struct stream_use use = {.kind = STREAM_GET,
                             .session = v->session,
                             .owner = v->who.owner,
                             .partition = v->who.partition,
                             .task = "",
                             .request = {"", 0},
                             .tasks = tasks};

    watching_session(v->b->watching, v->who.partition, v->session);
    if (last != NULL)
        l_resume(v->b, v->http, &v->who, v->session, tasks, last);
    else
        (void)stream_open(v->b->streams, &use, v->http, NULL, NULL);
    free(v);
}

static void on_session(void *arg, enum err e, const struct session *read)
{
    struct visit *v = arg;

    if (v->gone)
        free(v);
    else if (e != ERR_OK)
        refuse_err(v, e);
    else
        open_stream(v, l_has_tasks(sessions_keep(v->b->sessions, read)->version));
}

void l_get(struct broker *b, struct http_req *http, const struct principal *who)
{
    struct visit *v = visit_new(b, http, who);
    const struct session_copy *known;

    if (!http_accepts(http, "text/event-stream") || !http_streams(http)) {
        refuse(v, 406, "GET needs HTTP/1.1 and an Accept that lists text/event-stream");
        return;
    }
    if (!name_session(v))
        return;
    known = sessions_find(b->sessions, span_of(v->session), span_of(v->who.owner));
    if (known != NULL) {
        open_stream(v, l_has_tasks(known->version));
        return;
    }
    http_hold(http, on_gone, v);
    session_read(b->store, span_of(v->session), span_of(v->who.owner), SESSION_TTL_MS, on_session,
                 v);
}

static void on_told(evutil_socket_t fd, short what, void *arg)
{
    struct visit *v = arg;

    (void)fd;
    (void)what;
    http_reply(v->http, 204, NULL, SPAN(""));
    visit_free(v);
}

static void on_ended(void *arg, enum err e)
{
    struct timeval t = clock_timeval(HEARD_MS);
    struct visit *v = arg;

    if (v->gone) {
        free(v);
        return;
    }
    if (e != ERR_OK) {
        refuse_err(v, e);
        return;
    }
    sessions_drop(v->b->sessions, span_of(v->session));
    v->timer = evtimer_new(v->b->base, on_told, v);
    (void)evtimer_add(v->timer, &t);
}

void l_delete(struct broker *b, struct http_req *http, const struct principal *who)
{
    struct visit *v = visit_new(b, http, who);

    if (!name_session(v))
        return;
    http_hold(http, on_gone, v);
    session_end(b->store, span_of(v->session), span_of(v->who.owner), on_ended, v);
}
