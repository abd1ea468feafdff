#include "worker/upstream/line.h"

#include "common/json.h"
#include "common/mem.h"
#include "worker/upstream/line_inside.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMS_MAX = 64 << 20, GRACE_MS = 5000, ID_MAX = 1024 };

/* --- the end of a call --- */

static void end_if_idle(struct line *l)
{
    if (l->is_closing && l->calls_n == 0)
        peer_close(l->peer, l->ghosts > 0 ? 0 : GRACE_MS);
}

static void take_off(struct call *c)
{
    list_del(&c->node);
    c->line->calls_n--;
    c->line = NULL;
    c->number = 0;
    (void)event_del(c->timer);
}

/* The line is free for others before who waits is told. */
static void end(struct call *c, const struct peer_reply *r)
{
    struct line *l = c->line;
    bool is_gone = r->outcome == PEER_LOST && !peer_is_up(l->peer);

    line_forget_questions(c);
    take_off(c);
    c->conf.sink->done(c->conf.arg, r);
    if (is_gone)
        return; /* and so is the line, in a moment */
    line_look_again(l);
    end_if_idle(l);
    l->sink->freed(l->arg, l);
}

/* --- a call that the server makes a task of --- */

static void on_reply(void *arg, const struct peer_reply *r);

static void request(struct call *c, const char *method, struct span params)
{
    c->number = peer_next(c->line->peer);
    peer_request(c->line->peer, method, params, on_reply, c);
}

static void task_params(struct buf *out, const struct call *c)
{
    buf_init(out, ID_MAX + 64);
    buf_adds(out, "{\"taskId\":");
    buf_adds(out, c->task);
    buf_addc(out, '}');
}

/* The answer is a task: what became of it is the answer that is meant. */
static bool follow_task(struct call *c, const struct peer_reply *r)
{
    struct span id = json_get(json_get(r->value, "task"), "taskId");
    struct buf params;

    if (r->outcome != PEER_RESULT || !c->conf.is_tasked || c->task != NULL ||
        json_type(id) != JSON_STRING || id.n > ID_MAX)
        return false;
    c->task = mem_dup(id.p, id.n);
    task_params(&params, c);
    request(c, "tasks/result", buf_span(&params));
    if (c->is_cancelled)
        peer_request(c->line->peer, "tasks/cancel", buf_span(&params), line_heard_nothing, NULL);
    buf_fini(&params);
    return true;
}

static void on_reply(void *arg, const struct peer_reply *r)
{
    struct call *c = arg;

    if (!follow_task(c, r))
        end(c, r);
}

/* --- what is sent --- */

bool line_is_open(const struct line *l)
{
    return peer_is_up(l->peer) && !l->is_closing && list_empty(&l->unclear);
}

void line_send(struct line *l, struct call *c)
{
    struct buf params;

    list_del(&c->node);
    list_add_tail(&l->calls, &c->node);
    l->calls_n++;
    c->line = l;
    c->token = peer_next(l->peer);
    buf_init(&params, PARAMS_MAX);
    call_params(&params, c);
    request(c, c->conf.method, buf_span(&params));
    buf_fini(&params);
}

void line_heard_nothing(void *arg, const struct peer_reply *r)
{
    (void)arg;
    (void)r;
}

void line_cancel_call(const struct call *c)
{
    struct buf params;

    if (c->task != NULL) {
        task_params(&params, c);
        peer_request(c->line->peer, "tasks/cancel", buf_span(&params), line_heard_nothing, NULL);
    } else {
        buf_init(&params, 256);
        buf_adds(&params, "{\"requestId\":");
        buf_add_u64(&params, c->number);
        buf_adds(&params, ",\"reason\":\"the task was cancelled\"}");
        peer_notify(c->line->peer, "notifications/cancelled", buf_span(&params));
    }
    buf_fini(&params);
}

/* --- a call that goes on after its grace --- */

static void on_ghost(void *arg, const struct peer_reply *r)
{
    struct line *l = arg;

    l->ghosts--;
    if (r->outcome == PEER_LOST && !peer_is_up(l->peer))
        return;
    line_look_again(l);
    l->sink->freed(l->arg, l);
}

static bool is_child(const struct line *l)
{
    return l->server->url == NULL;
}

void line_end_call(struct call *c)
{
    struct line *l = c->line;
    const struct peer_reply r = {.outcome = PEER_LOST, .why = "it did not stop"};

    if (!is_child(l)) {
        peer_forget(l->peer, c->number);
        end(c, &r);
        return;
    }
    if (l->calls_n == 1 && l->ghosts == 0) {
        l->is_closing = true;
        l->sink->spoilt(l->arg, l);
        peer_close(l->peer, 0); /* the end comes with the connection's */
        return;
    }
    peer_pass_on(l->peer, c->number, on_ghost, l);
    l->ghosts++;
    l->is_closing = true;
    l->sink->spoilt(l->arg, l);
    end(c, &r);
}

/* --- what the peer tells --- */

static void on_up(void *arg)
{
    struct line *l = arg;

    if (!l->is_closing)
        l->sink->up(l->arg, l);
}

static void on_gone(void *arg, const char *why)
{
    struct line *l = arg;

    l->sink->gone(l->arg, l, why);
}

static struct call *call_of_token(const struct line *l, struct span token)
{
    int64_t n;

    if (json_type(token) != JSON_NUMBER || !json_int(token, &n) || n <= 0)
        return NULL;
    LIST_EACH(&l->calls, it)
    {
        struct call *c = LIST_OF(it, struct call, node);

        if (c->token == (uint64_t)n)
            return c;
    }
    return NULL;
}

static struct call *call_of_task(const struct line *l, struct span meta)
{
    struct span id = json_get(json_get(meta, "io.modelcontextprotocol/related-task"), "taskId");

    LIST_EACH(&l->calls, it)
    {
        struct call *c = LIST_OF(it, struct call, node);

        if (c->task != NULL && id.p != NULL && span_is(id, c->task))
            return c;
    }
    return NULL;
}

static struct call *call_of_request(const struct line *l, uint64_t number)
{
    LIST_EACH(&l->calls, it)
    {
        struct call *c = LIST_OF(it, struct call, node);

        if (c->number == number)
            return c;
    }
    return NULL;
}

struct call *line_whose(const struct line *l, struct span params, uint64_t via)
{
    struct span meta = json_get(params, "_meta");
    struct call *c = NULL;

    if (via != 0)
        return call_of_request(l, via);
    if (json_type(meta) == JSON_OBJECT)
        c = call_of_token(l, json_get(meta, "progressToken"));
    if (c == NULL && json_type(meta) == JSON_OBJECT)
        c = call_of_task(l, meta);
    if (c == NULL && l->calls_n == 1 && l->ghosts == 0)
        c = LIST_OF(l->calls.next, struct call, node);
    return c;
}

static void on_noticed(void *arg, const char *method, struct span params, uint64_t via)
{
    struct line *l = arg;
    struct call *c = NULL;

    if (strcmp(method, "notifications/progress") == 0) {
        c = call_of_token(l, json_get(params, "progressToken"));
        if (c != NULL)
            c->conf.sink->progressed(c->conf.arg, params);
    } else if (strcmp(method, "notifications/message") == 0) {
        c = line_whose(l, params, via);
        if (c != NULL)
            c->conf.sink->logged(c->conf.arg, params);
    } else if (strcmp(method, "notifications/cancelled") == 0) {
        line_withdraw(l, json_get(params, "requestId"));
    } else {
        l->sink->noticed(l->arg, l, method, params);
    }
}

static const struct peer_sink peer_sink = {
    .up = on_up, .noticed = on_noticed, .asked = line_asked, .gone = on_gone};

/* --- its life --- */

struct line *line_open(const struct peer_world *world, struct tool_server *server,
                       const struct run_job *job, const struct line_sink *sink, void *arg)
{
    struct line *l = mem_zalloc(sizeof(*l));

    l->base = world->base;
    l->server = tool_server_hold(server);
    l->sink = sink;
    l->arg = arg;
    list_init(&l->node);
    list_init(&l->calls);
    list_init(&l->pending);
    list_init(&l->questions);
    list_init(&l->unclear);
    l->timer = evtimer_new(world->base, line_on_unclear, l);
    if (l->timer == NULL)
        abort();
    l->peer = peer_open(world, server, job, &peer_sink, l);
    return l;
}

void line_close(struct line *l)
{
    l->is_closing = true;
    end_if_idle(l);
}

void line_free(struct line *l)
{
    LIST_EACH(&l->calls, it)
    {
        struct call *c = LIST_OF(it, struct call, node);

        list_del(&c->node);
        c->line = NULL;
    }
    LIST_EACH(&l->pending, it)
    list_del(it);
    list_del(&l->node);
    peer_free(l->peer);
    line_free_questions(l);
    event_free(l->timer);
    tool_server_let_go(l->server);
    free(l);
}
