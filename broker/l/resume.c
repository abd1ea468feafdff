#include "broker/l/resume.h"

#include "broker/l/last_event.h"
#include "broker/method/outcome.h"
#include "broker/req.h"
#include "broker/stream.h"
#include "common/mem.h"

#include <stdlib.h>

struct resume {
    struct broker *b;
    struct http_req *http;
    struct principal who;
    struct stream_expected *expected;
    char session[ID_LEN + 1];
    char stream[STREAM_ID_LEN + 1];
    bool tasks;
    bool gone;
};

static void on_gone(void *arg)
{
    ((struct resume *)arg)->gone = true;
}

static void open_fresh(struct resume *r)
{
    struct stream_use use = {.kind = STREAM_GET,
                             .session = r->session,
                             .owner = r->who.owner,
                             .partition = r->who.partition,
                             .task = "",
                             .request = {"", 0},
                             .tasks = r->tasks};

    (void)stream_open(r->b->streams, &use, r->http, NULL, NULL);
}

/* The request that the stream answers, anew at this broker. */
static struct req *request_of(const struct resume *r, const struct store_stream *record)
{
    struct req *q = req_new(r->b, NULL);

    q->who = r->who;
    q->version = L_2025_11_25;
    q->held = true;
    q->hidden = record->kind == STREAM_CALL;
    q->id = mem_dup(record->request.p, record->request.n);
    q->rpc.kind = RPC_REQUEST;
    memcpy(q->session, r->session, sizeof(q->session));
    return q;
}

static void go_on(struct resume *r, const struct store_stream *record,
                  const struct store_stream_event *events, size_t count)
{
    struct req *q = NULL;
    struct stream *st;

    /* Another visit may have come back here for it meanwhile: the last one has it. */
    streams_supersede(r->b->streams, span_of(r->stream), r->session, r->who.owner);
    if (record->kind != STREAM_GET)
        q = request_of(r, record);
    st = stream_resume(r->b->streams, record, r->who.owner, r->who.partition, r->tasks, r->http,
                       q != NULL ? req_on_stream_gone : NULL, q);
    stream_replay(st, r->expected, events, count);
    r->expected = NULL;
    if (q == NULL)
        return;
    q->stream = st;
    outcome_read(q, record->task, 0);
}

static void on_resumed(void *arg, enum err e, const struct store_stream *record, bool gap,
                       const struct store_stream_event *events, size_t count)
{
    struct resume *r = arg;

    (void)gap; /* the oldest were trimmed: what is left is still in order */
    if (!r->gone) {
        if (e == ERR_OK)
            go_on(r, record, events, count);
        else if (e == ERR_NOT_FOUND)
            open_fresh(r);
        else
            http_reply(r->http, err_http(e), NULL, SPAN(""));
    }
    if (r->expected != NULL)
        stream_unexpect(r->expected);
    free(r);
}

void l_resume(struct broker *b, struct http_req *http, const struct principal *who,
              const char *session, bool tasks, const char *last)
{
    struct resume *r = mem_zalloc(sizeof(*r));
    struct span entry;

    *r = (struct resume){.b = b, .http = http, .who = *who, .tasks = tasks};
    memcpy(r->session, session, sizeof(r->session));
    if (!last_event_parse(last, r->stream, &entry)) {
        open_fresh(r);
        free(r);
        return;
    }
    if (span_is(entry, "end")) {
        http_reply(http, 204, NULL, SPAN("")); /* it had its answer: nothing follows */
        free(r);
        return;
    }
    http_hold(http, on_gone, r);
    streams_supersede(b->streams, span_of(r->stream), r->session, r->who.owner);
    r->expected = stream_expect(b->streams, span_of(r->stream), tasks);
    store_stream_resume(b->store, span_of(r->stream), entry, span_of(r->session),
                        span_of(r->who.owner), on_resumed, r);
}
