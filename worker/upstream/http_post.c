#include "common/clock.h"
#include "common/json.h"
#include "common/mem.h"
#include "worker/upstream/http_inside.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHY_MAX = 512,
    TOO_MANY = 429,
    NOTE_MS = 30 * 1000, /* for what is not answered: it is only taken */
    NOTES_MAX = 256, /* of that, at a time */
};

struct post {
    struct list node;
    struct http *all;
    uint64_t number; /* 0: no request, no answer is waited for: a note */
    struct buf note; /* of those: to be sent again when it was not taken */
    struct fetch *fetch;
    struct sse sse;
    struct event *again;
    unsigned failures;
    bool was_stream; /* its answer began as a stream: it can be taken up again */
    bool is_heard; /* inside of what hears it */
    bool is_done; /* answered, or forgotten */
};

static void post_free(struct post *p)
{
    list_del(&p->node);
    if (p->fetch != NULL)
        fetch_cancel(p->fetch);
    event_free(p->again);
    sse_fini(&p->sse);
    buf_fini(&p->note);
    p->all->notes -= p->number == 0 ? 1 : 0;
    free(p);
}

static void fail(struct post *p, bool sent, const char *why)
{
    const struct http *h = p->all;
    uint64_t number = p->number;

    post_free(p);
    if (number != 0)
        h->transport.sink->failed(h->transport.arg, number, sent, why);
}

/* --- an answer --- */

static void on_event(void *arg, struct span data)
{
    const struct post *p = arg;
    const struct transport *t = &p->all->transport;
    char id[24];

    if (data.p != NULL) {
        t->sink->heard(t->arg, data, p->number);
        return;
    }
    (void)snprintf(id, sizeof(id), "%llu", (unsigned long long)p->number);
    t->sink->missed(t->arg, span_of(id));
}

static bool on_head(void *arg, struct fetch *f)
{
    struct post *p = arg;
    struct span session = fetch_header(f, "mcp-session-id");
    struct http *h = p->all;

    if (h->version[0] == '\0' && session.n > 0 && session.n < HTTP_SESSION_MAX) {
        free(h->session);
        h->session = mem_dup(session.p, session.n);
    }
    if (!http_is_stream(f))
        return false;
    p->was_stream = true;
    p->failures = 0;
    return true;
}

static void on_bytes(void *arg, struct fetch *f, struct span bytes)
{
    struct post *p = arg;

    (void)f;
    p->is_heard = true;
    sse_feed(&p->sse, bytes);
    p->is_heard = false;
    if (p->is_done)
        post_free(p);
}

/* A message is told; true when p is gone by that. */
static bool tell_body(struct post *p, struct span body)
{
    bool is_done;

    p->is_heard = true;
    on_event(p, body);
    p->is_heard = false;
    is_done = p->is_done;
    if (is_done)
        post_free(p);
    return is_done;
}

static bool is_message(struct span body)
{
    return body.n > 0 && json_check_limits(body, 0, 0, NULL, NULL) == ERR_OK &&
           json_type(body) == JSON_OBJECT && json_is(json_get(body, "jsonrpc"), "2.0") &&
           json_get(body, "id").p != NULL;
}

static void rest(struct post *p)
{
    struct timeval in = clock_timeval(http_retry_ms(&p->sse, p->failures++));

    (void)event_add(p->again, &in);
}

/* An answer to a question that gets lost would be waited for until the call is given up. */
static void on_noted(struct post *p, unsigned status)
{
    bool is_passing = status == 0 || status == TOO_MANY || status >= 500;

    if (!http_is_over(p->all, status) && is_passing && p->failures < HTTP_TRIES)
        rest(p);
    else
        post_free(p);
}

static void on_refused(struct post *p, const struct fetch_answer *answer)
{
    char why[WHY_MAX];

    if (is_message(answer->body) && tell_body(p, answer->body))
        return;
    (void)snprintf(why, sizeof(why), "it answers with HTTP status %u", answer->status);
    fail(p, answer->status >= 500, why);
}

static void on_done(void *arg, struct fetch *f, const struct fetch_answer *answer)
{
    struct post *p = arg;

    (void)f;
    p->fetch = NULL;
    if (p->number == 0) {
        on_noted(p, answer->status);
    } else if (http_is_over(p->all, answer->status)) {
        fail(p, false, "the server does not know the session any more");
    } else if (p->was_stream && p->sse.id.n > 0 && p->failures < HTTP_TRIES) {
        rest(p);
    } else if (p->was_stream) {
        fail(p, true, "the stream of its answer broke off");
    } else if (answer->too_large) {
        on_event(p, (struct span){NULL, 0});
        post_free(p);
    } else if (!answer->came) {
        fail(p, true, answer->why);
    } else if (answer->status != 200) {
        on_refused(p, answer);
    } else if (!tell_body(p, answer->body)) {
        fail(p, true, "its answer holds no answer");
    }
}

/* --- a request --- */

static void take_up(struct post *p)
{
    struct fetch_request request = {.method = "GET",
                                    .body_max = LINES_MAX,
                                    .on_head = on_head,
                                    .on_bytes = on_bytes,
                                    .on_done = on_done,
                                    .arg = p};
    const char *const more[] = {"Accept", "text/event-stream", "Last-Event-ID",
                                buf_span(&p->sse.id).p, NULL};

    sse_cut(&p->sse);
    p->fetch = http_begin(p->all, &request, more);
}

static void transmit(struct post *p, struct span message)
{
    struct fetch_request request = {.method = "POST",
                                    .body = message,
                                    .body_max = LINES_MAX,
                                    .timeout_ms = p->number == 0 ? NOTE_MS : 0,
                                    .on_head = on_head,
                                    .on_bytes = on_bytes,
                                    .on_done = on_done,
                                    .arg = p};
    static const char *const more[] = {"Content-Type", "application/json", "Accept",
                                       "application/json, text/event-stream", NULL};

    p->fetch = http_begin(p->all, &request, more);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    struct post *p = arg;

    (void)fd;
    (void)what;
    if (p->number == 0)
        transmit(p, buf_span(&p->note));
    else
        take_up(p);
}

void http_post(struct http *h, struct span message, uint64_t number)
{
    struct post *p;

    if (number == 0 && h->notes >= NOTES_MAX) {
        http_end(h, "it does not take what it is told");
        return;
    }
    p = mem_zalloc(sizeof(*p));
    p->all = h;
    p->number = number;
    sse_init(&p->sse, LINES_MAX, on_event, p);
    buf_init(&p->note, message.n);
    p->again = evtimer_new(h->base, on_again, p);
    if (p->again == NULL)
        abort();
    list_add_tail(&h->posts, &p->node);
    if (number == 0) {
        buf_add_span(&p->note, message);
        h->notes++;
    }
    transmit(p, message);
}

void http_post_forget(struct http *h, uint64_t number)
{
    LIST_EACH(&h->posts, it)
    {
        struct post *p = LIST_OF(it, struct post, node);

        if (p->number != number || number == 0)
            continue;
        p->is_done = true;
        if (!p->is_heard)
            post_free(p);
    }
}

void http_post_free_all(struct http *h)
{
    LIST_EACH(&h->posts, it)
    post_free(LIST_OF(it, struct post, node));
}
