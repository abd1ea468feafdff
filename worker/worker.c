#include "common/cfg.h"
#include "common/clock.h"
#include "common/event.h"
#include "common/mem.h"
#include "common/metric.h"
#include "common/otlp.h"
#include "worker/worker_inside.h"

#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { AWAIT_MS = 3000, WHY_MAX = 8192, LEAVE_MS = 1500 };

static const struct sm_row rows[] = {
    [STARTING] = {"starting", SM_TO(SERVING) | SM_TO(DRAINING)},
    [SERVING] = {"serving", SM_TO(DRAINING)},
    [DRAINING] = {"draining", 0},
};

/* --- what operators ask --- */

static bool is_ready(void *arg)
{
    const struct worker *w = arg;

    metric_set(METRIC_REDIS_UP, "commands", store_is_ready(w->store));
    metric_set(METRIC_REDIS_UP, "messages", store_is_listening(w->store));
    metric_set(METRIC_REDIS_PENDING, NULL, (int64_t)store_in_flight(w->store));
    return w->sm.state == SERVING && store_is_ready(w->store);
}

static const unsigned char *secret_of(void *arg)
{
    const struct worker *w = arg;

    return store_secret(w->store);
}

/* --- what the store says --- */

static void ready(struct worker *w)
{
    if (w->sm.state == STARTING) {
        sm_move(&w->sm, SERVING);
        (void)event_del(w->awaiting);
        LOG(TOOLS_SERVED, N("tools", w->roster.tools.n), N("slots", w->conf->slots));
    }
    announce_ready(w->announce);
    lease_ready(w->lease);
    report_ready(w->report);
    asks_look(w->asks);
    outside_look(w->outside);
    lanes_ready(w->lanes);
}

static void on_news(void *arg, enum store_news news, const char *why)
{
    struct worker *w = arg;

    (void)why; /* the store has logged it */
    if (news == STORE_READY) {
        ready(w);
    } else if (news == STORE_GAP) {
        lease_ready(w->lease); /* a cancellation may have been missed */
        asks_look(w->asks);
        outside_look(w->outside);
        lanes_look(w->lanes);
    } else if (news == STORE_REFUSED) {
        w->code = CFG_EXIT_USAGE;
        (void)event_base_loopbreak(w->base);
    }
}

static bool on_cancelled(void *arg, struct span id)
{
    const struct worker *w = arg;
    struct slot *s = slots_find_id(w->slots, id);

    if (s == NULL || s->hold.state != SLOT_HELD)
        return false;
    LOG(JOB_CANCELLED, S("tool", s->job.tool->name), S("task", s->job.id),
        N("attempt", s->job.attempt));
    slot_drop(s, RUN_UNWANTED);
    return true;
}

static void on_event(void *arg, const struct store_event *ev)
{
    struct worker *w = arg;

    if (ev->kind == STORE_EV_WAKE)
        lanes_wake(w->lanes, ev->partition);
    else if (ev->kind == STORE_EV_CANCEL)
        early_cancelled(w->early, ev->task.id);
    else if (ev->kind == STORE_EV_INPUT)
        asks_input(w->asks, ev->task.id, ev->key);
    else if (ev->kind == STORE_EV_WANTED)
        announce_ready(w->announce);
    else if (ev->kind == STORE_EV_CALLED)
        outside_called(w->outside, ev->task.id);
}

static void on_awaiting(evutil_socket_t fd, short what, void *arg)
{
    const struct worker *w = arg;

    (void)fd;
    (void)what;
    LOG(REDIS_AWAITED, S("redis", w->conf->redis_shown));
}

/* --- signals --- */

static void end_loop(void *arg)
{
    const struct worker *w = arg;

    (void)event_base_loopbreak(w->base);
}

static void on_left(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    end_loop(arg);
}

static void on_drained(void *arg)
{
    struct worker *w = arg;
    struct timeval in = clock_timeval(LEAVE_MS);

    if (w->runners.servers == NULL) {
        end_loop(w);
        return;
    }
    servers_close(w->runners.servers, end_loop, w);
    w->left = evtimer_new(w->base, on_left, w);
    if (w->left == NULL)
        abort();
    (void)event_add(w->left, &in);
}

static void on_signal(evutil_socket_t sig, short what, void *arg)
{
    struct worker *w = arg;
    const struct drain_conf conf = {.store = w->store,
                                    .slots = w->slots,
                                    .lanes = w->lanes,
                                    .announce = w->announce,
                                    .self = &w->roster.self,
                                    .grace_ms = w->conf->grace_ms,
                                    .on_done = on_drained,
                                    .arg = w};

    (void)what;
    if (w->sm.state == DRAINING) {
        w->code = CFG_EXIT_FAILURE;
        (void)event_base_loopbreak(w->base);
        return;
    }
    sm_move(&w->sm, DRAINING);
    LOG(STOPPING, S("reason", sig == SIGINT ? "SIGINT" : "SIGTERM"));
    w->drain = drain_begin(w->base, &conf);
}

/* --- life --- */

static struct event *must(struct event *ev)
{
    if (ev == NULL)
        abort();
    return ev;
}

static void take_signals(struct worker *w)
{
    static const int numbers[WORKER_SIGNALS] = {SIGTERM, SIGINT};

    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    if (w->conf->reread != NULL) {
        w->hangup = must(evsignal_new(w->base, SIGHUP, worker_on_hangup, w));
        (void)event_add(w->hangup, NULL);
    }
    for (int i = 0; i < WORKER_SIGNALS; i++) {
        w->signals[i] = must(evsignal_new(w->base, numbers[i], on_signal, w));
        (void)event_add(w->signals[i], NULL);
    }
}

static void open_all(struct worker *w)
{
    const struct store_conf store = {.url = w->conf->url,
                                     .prefix = w->conf->prefix,
                                     .self = w->roster.wid,
                                     .role = "worker",
                                     .partitions = w->conf->partitions,
                                     .secret = w->conf->secret,
                                     .subscribe = true};
    struct timeval every = clock_timeval(AWAIT_MS);
    struct tools tools;

    roster_init(&w->roster, w->conf->lease_ms);
    w->runners.on_servers = &worker_on_servers;
    w->runners.arg = w;
    w->runners.http = (struct http_conf){w->conf->public_url, secret_of, w};
    worker_declare(w, w->conf->tools);
    tools = worker_tools(w);
    (void)roster_take(&w->roster, &tools);
    w->early = early_new(w->base, on_cancelled, w);
    w->slots = worker_slots(w);
    w->watch = watch_new(w->base, w->slots, w->conf->lease_ms);
    runners_open(&w->runners, w->base, w->slots, &w->roster, w->conf->slots);
    w->store = store_new(w->base, &store, on_news, on_event, w);
    w->lanes = lanes_new(w->base, w->store, w->slots, &w->roster.self);
    w->report = report_new(w->base, w->store, w->slots);
    w->logs = logs_new(w->base, w->store, w->slots);
    w->asks = asks_new(w->base, w->store, w->slots);
    w->outside = outside_new(w->base, w->store, w->slots);
    w->leftovers = leftovers_new(w->base, w->store, &w->roster);
    w->lease = lease_new(w->base, w->store, w->slots, &w->roster.self);
    w->announce = announce_new(w->base, w->store, w->slots, &w->roster.self, &w->roster.tools);
    announce_on_wanted(w->announce, worker_on_wanted, w);
    w->awaiting = must(event_new(w->base, -1, EV_PERSIST, on_awaiting, w));
    (void)event_add(w->awaiting, &every);
    if (w->conf->otlp != NULL)
        otlp_start(w->base, w->conf->otlp, "errand-worker", w->roster.wid);
    if (w->conf->metrics_fd >= 0)
        w->health = health_new(w->base, w->conf->metrics_fd, is_ready, w);
    take_signals(w);
}

static void close_all(struct worker *w)
{
    store_free(w->store);
    for (int i = 0; i < WORKER_SIGNALS; i++)
        event_free(w->signals[i]);
    runners_close(&w->runners);
    slots_free(w->slots);
    if (w->drain != NULL)
        drain_free(w->drain);
    if (w->hangup != NULL)
        event_free(w->hangup);
    if (w->left != NULL)
        event_free(w->left);
    event_free(w->awaiting);
    health_free(w->health);
    announce_free(w->announce);
    lease_free(w->lease);
    report_free(w->report);
    logs_free(w->logs);
    asks_free(w->asks);
    outside_free(w->outside);
    leftovers_free(w->leftovers);
    lanes_free(w->lanes);
    watch_free(w->watch);
    early_free(w->early);
    otlp_stop();
    event_base_free(w->base);
    roster_fini(&w->roster);
    tools_fini(&w->declared);
}

int worker_serve(const struct worker_conf *conf)
{
    struct worker w = {.conf = conf, .base = event_base_new(), .code = CFG_EXIT_OK};

    if (w.base == NULL)
        abort();
    sm_init(&w.sm, "worker", rows, STARTING);
    LOG(STARTED, S("program", conf->program), S("version", ERRAND_VERSION),
        S("redis", conf->redis_shown));
    open_all(&w);
    if (event_base_dispatch(w.base) == -1)
        w.code = CFG_EXIT_FAILURE;
    LOG(STOPPED, S("reason", w.code == CFG_EXIT_OK ? "drained" : "not in good order"));
    if (runners_are_deaf(&w.runners))
        _exit(w.code);
    close_all(&w);
    return w.code;
}
