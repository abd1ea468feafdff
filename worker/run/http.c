#include "worker/run/http.h"

#include "common/clock.h"
#include "common/event.h"
#include "common/json.h"
#include "common/mem.h"
#include "worker/run/http_inside.h"

#include <event2/event.h>
#include <stdlib.h>

enum {
    HANDLE_MAX = 64 << 10,
    WHY_MAX = 8192,
    LAST_WORD_MS = 500, /* more than its grace, so that a request gets out even without any */
};

#define STOPPED (SM_TO(HTTP_CANCELLING) | SM_TO(HTTP_LEAVING) | SM_TO(HTTP_ENDING))

static const struct sm_row rows[] = {
    [HTTP_SUBMITTING] = {"submitting", SM_TO(HTTP_KEEPING) | STOPPED},
    [HTTP_KEEPING] = {"keeping", SM_TO(HTTP_POLLING) | STOPPED},
    [HTTP_POLLING] = {"polling", SM_TO(HTTP_FETCHING) | STOPPED},
    [HTTP_FETCHING] = {"fetching", STOPPED},
    [HTTP_CANCELLING] = {"cancelling", SM_TO(HTTP_ENDING)},
    [HTTP_LEAVING] = {"leaving", SM_TO(HTTP_CANCELLING) | SM_TO(HTTP_ENDING)},
    [HTTP_ENDING] = {"ending", 0},
};

/* --- time --- */

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct http_one *o = arg;

    (void)fd;
    (void)what;
    switch ((enum http_step)o->sm.state) {
    case HTTP_SUBMITTING:
        http_submit(o);
        break;
    case HTTP_POLLING:
        http_poll(o);
        break;
    case HTTP_FETCHING:
        http_fetch_result(o);
        break;
    case HTTP_CANCELLING:
        http_cancel(o);
        break;
    case HTTP_KEEPING:
    case HTTP_LEAVING:
    case HTTP_ENDING:
        http_end_stopped(o);
        break;
    }
}

/* The grace is over, whatever is under way. */
static void on_limit(evutil_socket_t fd, short what, void *arg)
{
    struct http_one *o = arg;

    (void)fd;
    (void)what;
    if (o->sm.state == HTTP_CANCELLING)
        LOG(WORK_NOT_STOPPED, S("tool", o->job->tool->name), S("task", o->job->id),
            N("attempt", o->job->attempt), S("why", "it was not answered in time"));
    http_end_stopped(o);
}

/* --- starting --- */

static struct event *must(struct event *ev)
{
    if (ev == NULL)
        abort();
    return ev;
}

static struct http_one *one_new(struct http_runner *all, struct run_job *job)
{
    struct http_one *o = mem_zalloc(sizeof(*o));

    o->all = all;
    o->job = job;
    o->tool = job->tool->http;
    o->every_ms = o->tool->every_ms;
    o->timer = must(evtimer_new(all->base, on_timer, o));
    o->limit = must(evtimer_new(all->base, on_limit, o));
    buf_init(&o->handle, HANDLE_MAX);
    sm_init(&o->sm, "work", rows, HTTP_SUBMITTING);
    list_add_tail(&all->running, &o->node);
    job->own = o;
    return o;
}

static void begin_polling(struct http_one *o, uint64_t in_ms)
{
    sm_move(&o->sm, HTTP_POLLING);
    http_in(o, in_ms);
    o->all->runner.sink->listen(o->job);
}

static void start(struct runner *r, struct run_job *job)
{
    struct http_one *o = one_new((struct http_runner *)(void *)r, job);

    if (job->handle.n == 0) {
        http_submit(o);
        return;
    }
    if (json_check(job->handle, NULL, NULL) != ERR_OK) {
        http_end_error(o, SPAN("the handle of the job, as it was kept, cannot be read"));
        return;
    }
    LOG(WORK_RESUMED, S("tool", job->tool->name), S("task", job->id), N("attempt", job->attempt));
    buf_add_span(&o->handle, job->handle);
    sm_move(&o->sm, HTTP_KEEPING);
    begin_polling(o, 0);
}

static void kept(struct runner *r, struct run_job *job)
{
    struct http_one *o = job->own;

    (void)r;
    if (o->sm.state != HTTP_KEEPING)
        return;
    if (o->is_stopping)
        http_end_stopped(o);
    else
        begin_polling(o, clock_jitter(o->every_ms, 10));
}

/* Neither a request nor the next one. */
static void let_go(struct http_one *o)
{
    if (o->fetch != NULL)
        fetch_cancel(o->fetch);
    o->fetch = NULL;
    (void)event_del(o->timer);
}

static bool called(struct runner *r, struct run_job *job, struct span body)
{
    struct http_one *o = job->own;
    bool is_decided;
    struct buf why;

    (void)r;
    if (o->sm.state != HTTP_POLLING)
        return true;
    let_go(o);
    buf_init(&why, WHY_MAX);
    is_decided = http_look(o, body, &why);
    if (!is_decided)
        http_in(o, why.n > 0 ? 0 : clock_jitter(o->every_ms, 10)); /* unusable: ask instead */
    buf_fini(&why);
    return is_decided;
}

/* --- stopping --- */

static void end_soon(struct http_one *o, enum http_step how)
{
    let_go(o);
    sm_move(&o->sm, how);
    http_in(o, 0);
}

static void stop_unwanted(struct http_one *o)
{
    if (o->sm.state == HTTP_SUBMITTING && o->fetch != NULL)
        return; /* its answer says what is to be cancelled */
    if (o->handle.n == 0) {
        end_soon(o, HTTP_ENDING);
        return;
    }
    let_go(o);
    sm_move(&o->sm, HTTP_CANCELLING);
    o->tries = 0;
    http_cancel(o);
}

static void stop_passed_on(struct http_one *o)
{
    if (o->sm.state == HTTP_KEEPING || (o->sm.state == HTTP_SUBMITTING && o->fetch != NULL))
        return; /* who goes on with it needs the handle */
    if (o->sm.state != HTTP_LEAVING)
        end_soon(o, HTTP_LEAVING);
}

static void set_limit(struct http_one *o, uint64_t grace_ms)
{
    struct timeval in = clock_timeval(grace_ms + LAST_WORD_MS);
    uint64_t at = clock_mono_ms() + grace_ms + LAST_WORD_MS;

    if (o->is_stopping && at >= o->limit_ms)
        return;
    o->limit_ms = at;
    (void)event_add(o->limit, &in);
}

static void stop(struct runner *r, struct run_job *job, uint64_t grace_ms)
{
    struct http_one *o = job->own;

    (void)r;
    if (o->sm.state == HTTP_ENDING)
        return;
    set_limit(o, grace_ms);
    o->is_stopping = true;
    if (o->sm.state == HTTP_CANCELLING)
        return;
    if (job->stop == RUN_UNWANTED)
        stop_unwanted(o);
    else
        stop_passed_on(o);
}

static void answered(struct runner *r, struct run_job *job, struct span id, struct span answer)
{
    (void)r; /* it asks nothing */
    (void)job;
    (void)id;
    (void)answer;
}

/* --- life --- */

static void http_runner_free(struct runner *r)
{
    struct http_runner *all = (struct http_runner *)(void *)r;

    LIST_EACH(&all->running, it)
    http_forget(LIST_OF(it, struct http_one, node));
    fetcher_free(all->fetcher);
    free(all);
}

struct runner *http_runner_new(struct event_base *base, const struct run_sink *sink,
                               const struct http_conf *conf)
{
    struct http_runner *all = mem_zalloc(sizeof(*all));

    all->runner = (struct runner){.sink = sink,
                                  .start = start,
                                  .stop = stop,
                                  .answered = answered,
                                  .kept = kept,
                                  .called = called,
                                  .free = http_runner_free};
    all->base = base;
    all->conf = *conf;
    all->fetcher = fetcher_new(base);
    list_init(&all->running);
    return &all->runner;
}
