#include "broker/req.h"

#include "broker/stream.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/metric.h"
#include "common/otlp.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCRATCH_KEEP = 1 << 20, /* a scratch buffer that grew past this is given back */
    RETRY_SOON_MS = 1000, /* when nobody can say how long it takes */
};

/* --- its life --- */

struct req *req_new(struct broker *b, struct http_req *http)
{
    struct req *q = mem_zalloc(sizeof(*q));

    q->b = b;
    q->http = http;
    q->dialect = 'L';
    q->began_us = clock_mono_us();
    list_init(&q->soon);
    return q;
}

static void req_free(struct req *q)
{
    wait_del(q->b->waits, &q->wait);
    if (q->leave != NULL)
        q->leave(q);
    if (q->stream != NULL)
        stream_cancel(q->stream);
    if (q->timer != NULL)
        event_free(q->timer);
    free(q->id);
    free(q->about);
    free(q);
}

void req_on_gone(void *arg)
{
    struct req *q = arg;

    q->http = NULL;
    q->gone = true;
    if (q->abandon != NULL)
        q->abandon(q);
    /* A client that leaves cancels nothing (H-17): the job goes on, only the answer is dropped. */
    if (!q->stepping)
        req_free(q);
}

void req_on_stream_gone(void *arg)
{
    struct req *q = arg;

    q->stream = NULL;
    req_on_gone(q);
}

void req_hold(struct req *q)
{
    if (q->held)
        return;
    q->held = true;
    http_hold(q->http, req_on_gone, q);
}

void req_step(struct req *q)
{
    req_hold(q);
    q->stepping = true;
}

bool req_back(struct req *q)
{
    q->stepping = false;
    if (!q->gone)
        return true;
    req_free(q);
    return false;
}

struct span req_id(const struct req *q)
{
    return q->id != NULL ? span_of(q->id) : q->rpc.id;
}

/* --- traces and the audit log --- */

static void take_trace(struct req *q, struct span traceparent)
{
    struct trace given;

    if (!trace_parse(&given, traceparent))
        return;
    memcpy(q->parent, given.span, sizeof(q->parent));
    trace_child(&q->trace, &given);
}

void req_trace(struct req *q, struct span raw)
{
    const char *header = http_header(q->http, "traceparent");

    if (raw.p == NULL && header != NULL)
        take_trace(q, span_of(header));
    else if (raw.p != NULL && raw.n > 2 && raw.p[0] == '"')
        take_trace(q, (struct span){raw.p + 1, raw.n - 2});
}

void req_begin_trace(struct req *q)
{
    if (q->trace.id[0] == '\0')
        trace_root(&q->trace, otlp_is_on());
}

void req_log(const struct req *q, enum event_kind e, const struct task *t)
{
    event_log(e, (struct event_field[]){SP("task", t->id),
                                        SP("tool", t->tool),
                                        S("principal", q->who.name),
                                        SP("request", req_id(q)),
                                        S("trace", q->trace.id),
                                        {.key = NULL}});
}

/* --- answers --- */

static void tell_end(const struct req *q, uint64_t took_us, int status)
{
    metric_observe(METRIC_REQUEST_SECONDS, q->name, took_us);
    otlp_span(&(struct otlp_span){.trace = &q->trace,
                                  .parent = q->parent,
                                  .name = q->name,
                                  .kind = OTLP_SERVER,
                                  .took_us = took_us,
                                  .is_error = q->failed || status >= 400,
                                  .attributes = {{"mcp.method.name", q->name},
                                                 {"errand.dialect", q->dialect == 'M' ? "M" : "L"},
                                                 {"errand.task", q->wait.id}}});
}

void req_end_with(struct req *q, int status, struct buf *out)
{
    if (q->stream != NULL && stream_is_started(q->stream)) {
        stream_answer(q->stream, buf_span(out));
        q->stream = NULL;
    } else {
        http_reply(q->http, status, "application/json", buf_span(out));
    }
    if (out->room > SCRATCH_KEEP)
        buf_fini(out);
    if (q->name != NULL)
        tell_end(q, clock_mono_us() - q->began_us, status);
    req_free(q);
}

struct buf *req_scratch(struct req *q)
{
    buf_reset(&q->b->out);
    return &q->b->out;
}

void req_result(struct req *q, struct span result)
{
    struct buf *out = req_scratch(q);

    rpc_write_result(out, req_id(q), result);
    if (!buf_ok(out)) {
        req_fail_why(q, ERR_INTERNAL, "the result is too large to be sent");
        return;
    }
    req_end_with(q, 200, out);
}

void req_error_raw(struct req *q, struct span error)
{
    struct buf *out = req_scratch(q);

    rpc_write_error_raw(out, req_id(q), error);
    req_end_with(q, 200, out);
}

void req_fail_data(struct req *q, enum err e, struct span why, struct span data)
{
    struct buf *out = req_scratch(q);

    metric_add(METRIC_REFUSED, err_name(e), 1);
    q->failed = true;
    rpc_write_error(out, req_id(q), err_rpc(e), why, data);
    req_end_with(q, err_http(e), out);
}

void req_fail_why(struct req *q, enum err e, const char *why)
{
    req_fail_data(q, e, span_of(why), (struct span){NULL, 0});
}

void req_fail(struct req *q, enum err e)
{
    req_fail_why(q, e, err_text(e));
}

void req_fail_retry(struct req *q, enum err e, uint64_t retry_ms)
{
    char seconds[24];
    char data[64];

    retry_ms = retry_ms != 0 ? retry_ms : RETRY_SOON_MS;
    (void)snprintf(seconds, sizeof(seconds), "%llu", (unsigned long long)((retry_ms + 999) / 1000));
    (void)snprintf(data, sizeof(data), "{\"retryAfterMs\":%llu}", (unsigned long long)retry_ms);
    if (q->http != NULL)
        http_set_header(q->http, "Retry-After", seconds);
    req_fail_data(q, e, span_of(err_text(e)), span_of(data));
}

void req_quiet(struct req *q)
{
    if (q->stream != NULL && stream_is_started(q->stream)) {
        stream_end(q->stream);
        q->stream = NULL;
    } else {
        http_reply(q->http, 202, NULL, SPAN(""));
    }
    req_free(q);
}

void req_release(struct req *q)
{
    req_free(q);
}

void req_suspend(struct req *q)
{
    stream_suspend(q->stream);
    q->stream = NULL;
    req_free(q);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct req *q = arg;

    (void)fd;
    (void)what;
    q->on_timer(q);
}

void req_timer(struct req *q, uint64_t ms, void (*fn)(void *arg))
{
    struct timeval t = clock_timeval(ms);

    if (q->timer == NULL)
        q->timer = evtimer_new(q->b->base, on_timer, q);
    q->on_timer = fn;
    (void)evtimer_add(q->timer, &t);
}
