#include "deploy/cli/mcp.h"

#include "common/clock.h"
#include "common/json.h"
#include "common/mem.h"
#include "deploy/cli/mcp_inside.h"

#include <stdio.h>
#include <stdlib.h>

enum { BODY_MAX = 64 << 20, ANSWER_MAX = 300 << 20, NOTIFY_MS = 5000, RESEND_MS = 500 };

struct outgoing {
    struct list node;
    struct exchange *x; /* NULL: not sent yet, or to be sent again */
    uint64_t due_ms;
    struct buf body;
};

void mcp_reply_init(struct mcp_reply *r)
{
    *r = (struct mcp_reply){.retry_s = 0};
    buf_init(&r->text, ANSWER_MAX);
}

void mcp_reply_fini(struct mcp_reply *r)
{
    buf_fini(&r->text);
    r->value = (struct span){NULL, 0};
}

struct wire_head mcp_head(const struct mcp *m)
{
    return (struct wire_head){m->session, m->version[0] != '\0' ? m->version : NULL, false};
}

/* --- what the broker says --- */

void mcp_answer(struct mcp *m, struct span id, const char *member, struct span value)
{
    struct outgoing *o = mem_zalloc(sizeof(*o));

    buf_init(&o->body, BODY_MAX);
    buf_adds(&o->body, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_add_span(&o->body, id);
    buf_addf(&o->body, ",\"%s\":", member);
    buf_add_span(&o->body, value);
    buf_addc(&o->body, '}');
    list_add_tail(&m->outbox, &o->node);
}

bool mcp_is_answering(const struct mcp *m)
{
    return !list_empty(&m->outbox);
}

static void answer_request(struct mcp *m, struct span method, struct span id, struct span params)
{
    if (json_is(method, "ping"))
        mcp_answer(m, id, "result", SPAN("{}"));
    else if (m->peer.request == NULL || !m->peer.request(m->peer.arg, id, method, params))
        mcp_answer(m, id, "error", SPAN("{\"code\":-32601,\"message\":\"not supported\"}"));
}

static void outgoing_free(struct outgoing *o)
{
    exchange_end(o->x);
    buf_fini(&o->body);
    free(o);
}

void mcp_drop_outbox(struct mcp *m)
{
    struct list all;

    list_init(&all);
    list_splice(&all, &m->outbox);
    LIST_EACH(&all, it)
    {
        outgoing_free(LIST_OF(it, struct outgoing, node));
    }
}

static bool is_away(const struct exchange *x)
{
    long status = exchange_status(x);

    return status == 0 || status == 429 || (status >= 502 && status <= 504);
}

/* False: it has arrived, or was refused for good. */
static bool move_outgoing(struct mcp *m, struct outgoing *o)
{
    struct wire_head head = mcp_head(m);

    if (o->x == NULL && clock_mono_ms() >= o->due_ms)
        o->x = wire_start(m->wire, &head, buf_span(&o->body), NULL, NULL);
    if (o->x == NULL || !exchange_done(o->x))
        return true;
    if (!is_away(o->x))
        return false;
    exchange_end(o->x);
    o->x = NULL;
    o->due_ms = clock_mono_ms() + RESEND_MS;
    return true;
}

static void move_outbox(struct mcp *m)
{
    LIST_EACH(&m->outbox, it)
    {
        struct outgoing *o = LIST_OF(it, struct outgoing, node);

        if (move_outgoing(m, o))
            continue;
        list_del(it);
        outgoing_free(o);
    }
}

static void keep_answer(struct mcp_request *r, enum mcp_end end, struct span value)
{
    if (r->has_answer)
        return;
    r->has_answer = true;
    r->end = end;
    buf_add_span(&r->reply.text, value);
    r->reply.value = buf_span(&r->reply.text);
}

static void on_message(void *arg, struct span text)
{
    struct mcp_request *r = arg;
    struct json_want w[] = {{.name = "method"},
                            {.name = "id"},
                            {.name = "params"},
                            {.name = "result"},
                            {.name = "error"}};

    if (json_check_limits(text, JSON_DEPTH_MAX * 2, 0, NULL, NULL) != ERR_OK ||
        json_get_many(text, w, 5) != ERR_OK) {
        r->broken = true;
    } else if (w[0].value.p != NULL && w[1].value.p != NULL) {
        answer_request(r->m, w[0].value, w[1].value, w[2].value);
    } else if (w[0].value.p != NULL) {
        if (r->note != NULL)
            r->note(r->arg, w[0].value, w[2].value);
    } else if (w[3].value.p != NULL && span_is(w[1].value, r->id)) {
        keep_answer(r, MCP_RESULT, w[3].value);
    } else if (w[4].value.p != NULL && (w[1].value.p == NULL || span_is(w[1].value, r->id))) {
        keep_answer(r, MCP_ERROR, w[4].value);
    }
}

/* --- requests --- */

static struct exchange *post(struct mcp *m, const char *id, const char *method, struct span params,
                             wire_fn *fn, void *arg)
{
    struct wire_head head = mcp_head(m);
    struct exchange *x;
    struct buf body;

    buf_init(&body, BODY_MAX);
    buf_adds(&body, "{\"jsonrpc\":\"2.0\",");
    if (id != NULL)
        buf_addf(&body, "\"id\":%s,", id);
    buf_addf(&body, "\"method\":\"%s\"", method);
    if (params.p != NULL) {
        buf_adds(&body, ",\"params\":");
        buf_add_span(&body, params);
    }
    buf_addc(&body, '}');
    x = buf_ok(&body) ? wire_start(m->wire, &head, buf_span(&body), fn, arg) : NULL;
    buf_fini(&body);
    return x;
}

static struct mcp_request *new_request(struct mcp *m, mcp_note_fn *note, void *arg)
{
    struct mcp_request *r = mem_zalloc(sizeof(*r));

    r->m = m;
    r->opened = m->opened;
    r->note = note;
    r->arg = arg;
    mcp_reply_init(&r->reply);
    return r;
}

struct mcp_request *mcp_begin(struct mcp *m, const char *method, struct span params,
                              mcp_note_fn *note, void *arg)
{
    struct mcp_request *r = new_request(m, note, arg);

    (void)snprintf(r->id, sizeof(r->id), "%llu", (unsigned long long)++m->next_id);
    r->x = post(m, r->id, method, params, on_message, r);
    return r;
}

struct mcp_request *mcp_begin_get(struct mcp *m, mcp_note_fn *note, void *arg)
{
    struct mcp_request *r = new_request(m, note, arg);
    struct wire_head head = mcp_head(m);

    head.is_get = true;
    r->x = wire_start(m->wire, &head, (struct span){NULL, 0}, on_message, r);
    return r;
}

void mcp_turn(struct mcp *m, unsigned ms)
{
    wire_turn(m->wire, ms);
    move_outbox(m);
    mcp_move_ear(m);
    if (m->peer.turn != NULL)
        m->peer.turn(m->peer.arg);
}

void mcp_listen(struct mcp *m, int fd)
{
    wire_listen(m->wire, fd);
}

bool mcp_is_done(const struct mcp_request *r)
{
    return r->x == NULL || r->has_answer || exchange_done(r->x);
}

/* What an HTTP status without an answer in it means. */
static enum mcp_end end_of_status(const struct mcp_request *r, struct buf *why)
{
    long status = exchange_status(r->x);

    switch (status) {
    case 0:
        buf_addf(why, "no answer: %s", exchange_error(r->x));
        return MCP_LOST;
    case 401:
        buf_adds(why, "the broker wants a valid API key: --key or ERRAND_KEY");
        return MCP_DENIED;
    case 403:
        buf_adds(why, "the broker does not allow that");
        return MCP_DENIED;
    case 404:
        if (r->m->session == NULL) {
            buf_adds(why, "there is no MCP there: the address of a broker ends in /mcp");
            return MCP_BROKEN;
        }
        buf_adds(why, "the session has ended");
        return r->opened == r->m->opened ? MCP_GONE : MCP_LOST; /* there is another one already */
    case 429:
    case 502:
    case 503:
    case 504:
        buf_addf(why, "the broker cannot now (HTTP %ld)", status);
        return MCP_BUSY;
    default:
        if (status >= 200 && status <= 299) {
            buf_adds(why, "the answer ended before it was whole");
            return MCP_LOST;
        }
        buf_addf(why, "the broker answered HTTP %ld", status);
        return MCP_BROKEN;
    }
}

/* An error object in the body of a refusal says more than its status. */
static void read_refusal(struct mcp_request *r)
{
    long status = exchange_status(r->x);

    if (!r->has_answer && status >= 400 && status != 401 && status != 404)
        on_message(r, exchange_body(r->x));
    r->broken = false;
    if (r->has_answer && (status == 429 || status >= 502))
        r->end = MCP_BUSY;
    else if (r->has_answer && status == 403)
        r->end = MCP_DENIED;
}

static void say_error(struct buf *why, struct span error)
{
    char text[512];
    long n = json_string(json_get(error, "message"), text, sizeof(text));

    if (n <= 0) /* of an endpoint that is not MCP's */
        n = json_string(error, text, sizeof(text));
    buf_adds(why, n > 0 ? text : "the broker answered with an error");
}

static enum mcp_end end_of(struct mcp_request *r, struct buf *why)
{
    if (r->x == NULL) {
        buf_adds(why, "the request is too large");
        return MCP_BROKEN;
    }
    if (!mcp_is_done(r))
        return MCP_STOPPED;
    if (exchange_done(r->x) && exchange_status(r->x) >= 400)
        read_refusal(r);
    if (r->has_answer && buf_ok(&r->reply.text)) {
        r->m->answered = true;
        if (r->end != MCP_RESULT)
            say_error(why, r->reply.value);
        return r->end;
    }
    if (r->broken) {
        buf_adds(why, "an answer that is no JSON-RPC");
        return MCP_BROKEN;
    }
    return end_of_status(r, why);
}

enum mcp_end mcp_end(struct mcp_request *r, struct mcp_reply *reply, struct buf *why)
{
    struct buf unread;
    enum mcp_end end;

    buf_init(&unread, 4096);
    end = end_of(r, why != NULL ? why : &unread);
    buf_fini(&unread);
    if (reply != NULL) {
        mcp_reply_fini(reply);
        *reply = r->reply;
        reply->retry_s = r->x != NULL ? exchange_retry_s(r->x) : 0;
        reply->begun = r->x != NULL && exchange_status(r->x) / 100 == 2;
    } else {
        mcp_reply_fini(&r->reply);
    }
    exchange_end(r->x);
    free(r);
    return end;
}

void mcp_notify(struct mcp *m, const char *method, struct span params)
{
    struct exchange *x = post(m, NULL, method, params, NULL, NULL);
    uint64_t end = clock_mono_ms() + NOTIFY_MS;

    while (x != NULL && !exchange_done(x) && clock_mono_ms() < end)
        wire_turn(m->wire, MCP_TURN_MS);
    exchange_end(x);
}
