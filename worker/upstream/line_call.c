#include "worker/upstream/line_call.h"

#include "common/clock.h"
#include "common/json.h"
#include "common/mem.h"
#include "worker/upstream/line.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMS_MAX = 32 << 20 };

static void add_member(struct buf *out, struct span name, struct span value)
{
    if (out->n > 0)
        buf_addc(out, ',');
    buf_addc(out, '"');
    buf_add_span(out, name);
    buf_adds(out, "\":");
    buf_add_span(out, value);
}

static char *members_of(struct span params)
{
    struct buf out;
    size_t cursor = 0;
    struct span name;
    struct span value;

    buf_init(&out, PARAMS_MAX);
    while (json_next(params, &cursor, &name, &value))
        if (!json_name_is(name, "_meta"))
            add_member(&out, name, value);
    return buf_take(&out);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* What passed between the client and the broker only, or would pass for ours: however the client
 * has written it, for the server reads what is meant. */
static bool is_brokers(struct span name)
{
    char *text = tool_text((struct span){name.p - 1, name.n + 2}); /* with its quotes */
    bool is = text == NULL || strcmp(text, "progressToken") == 0 ||
              strcmp(text, "traceparent") == 0 || begins(text, "io.modelcontextprotocol/") ||
              begins(text, "dev.errand/");

    free(text);
    return is;
}

static void add_text(struct buf *out, const char *name, const char *text)
{
    struct buf value;

    buf_init(&value, PARAMS_MAX);
    buf_add_json(&value, span_of(text));
    add_member(out, span_of(name), buf_span(&value));
    buf_fini(&value);
}

static char *meta_of(const struct call_conf *conf)
{
    struct buf out;
    size_t cursor = 0;
    struct span name;
    struct span value;

    buf_init(&out, PARAMS_MAX);
    while (json_type(conf->meta) == JSON_OBJECT && json_next(conf->meta, &cursor, &name, &value))
        if (!is_brokers(name))
            add_member(&out, name, value);
    if (conf->job->trace[0] != '\0')
        add_text(&out, "traceparent", conf->job->trace);
    add_text(&out, "dev.errand/task", conf->job->id);
    buf_addf(&out, ",\"dev.errand/attempt\":%u", conf->job->attempt);
    if (conf->tells_who && conf->job->principal[0] != '\0')
        add_text(&out, "dev.errand/principal", conf->job->principal);
    return buf_take(&out);
}

void call_params(struct buf *out, const struct call *c)
{
    buf_addc(out, '{');
    buf_adds(out, c->members);
    if (c->conf.is_tasked)
        buf_adds(out, c->members[0] != '\0' ? ",\"task\":{}" : "\"task\":{}");
    buf_adds(out, c->members[0] != '\0' || c->conf.is_tasked ? "," : "");
    buf_adds(out, "\"_meta\":{\"progressToken\":");
    buf_add_u64(out, c->token);
    if (c->meta[0] != '\0')
        buf_addc(out, ',');
    buf_adds(out, c->meta);
    buf_adds(out, "}}");
}

/* --- cancelling --- */

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct call *c = arg;

    (void)fd;
    (void)what;
    if (c->line != NULL) {
        line_end_call(c);
        return;
    }
    list_del(&c->node);
    c->conf.sink->done(c->conf.arg, &(struct peer_reply){.outcome = PEER_UNSENT,
                                                         .why = "it was cancelled before"});
}

void call_cancel(struct call *c, uint64_t grace_ms)
{
    uint64_t now = clock_mono_ms();
    uint64_t due = c->line != NULL ? now + grace_ms : now;
    struct timeval in;

    if (c->is_cancelled && c->due_ms <= due)
        return;
    if (c->line == NULL)
        list_del(&c->node);
    else if (!c->is_cancelled)
        line_cancel_call(c);
    c->is_cancelled = true;
    c->due_ms = due;
    in = clock_timeval(due - now);
    (void)event_add(c->timer, &in);
}

void call_answer(struct call *c, struct span id, struct span answer)
{
    if (c->line != NULL)
        line_answer(c, id, answer);
}

/* --- its life --- */

struct call *call_new(struct event_base *base, const struct call_conf *conf)
{
    struct call *c = mem_zalloc(sizeof(*c));

    c->conf = *conf;
    c->base = base;
    c->members = members_of(conf->params);
    c->meta = meta_of(conf);
    list_init(&c->node);
    c->timer = evtimer_new(base, on_timer, c);
    if (c->timer == NULL)
        abort();
    return c;
}

void call_free(struct call *c)
{
    list_del(&c->node);
    event_free(c->timer);
    free(c->members);
    free(c->meta);
    free(c->task);
    free(c);
}
