#include "worker/worker_inside.h"

#include "common/metric.h"

static void on_settling(void *arg, struct slot *s)
{
    struct worker *w = arg;

    report_flush(w->report, s);
    logs_flush(w->logs, s);
    if (s->verb == SLOT_FINISH)
        lanes_finish(w->lanes, s);
    else
        report_settle(w->report, s);
}

static void on_free(void *arg)
{
    const struct worker *w = arg;

    lanes_kick(w->lanes);
}

static void on_taken(void *arg)
{
    const struct worker *w = arg;

    watch_begin(w->watch);
    early_taken(w->early);
}

static void on_said(void *arg, struct slot *s, struct span message, struct span progress)
{
    const struct worker *w = arg;

    report_said(w->report, s, message, progress);
}

static void on_logged(void *arg, struct slot *s, struct span level, struct span logger,
                      struct span data)
{
    const struct worker *w = arg;

    logs_logged(w->logs, s, level, logger, data);
}

static void on_asked(void *arg, struct slot *s, struct span id, struct span method,
                     struct span params)
{
    const struct worker *w = arg;

    asks_asked(w->asks, s, id, method, params);
}

static void on_withdrew(void *arg, struct slot *s, struct span id)
{
    const struct worker *w = arg;

    asks_withdrew(w->asks, s, id);
}

static void on_hushed(void *arg, struct slot *s)
{
    const struct worker *w = arg;

    asks_hushed(w->asks, s);
}

static void on_keep(void *arg, struct slot *s, struct span handle)
{
    const struct worker *w = arg;

    outside_keep(w->outside, s, handle);
}

static void on_listen(void *arg, struct slot *s)
{
    const struct worker *w = arg;

    outside_listen(w->outside, s);
}

struct slots *worker_slots(struct worker *w)
{
    const struct slots_conf conf = {.count = w->conf->slots,
                                    .lease_ms = w->conf->lease_ms,
                                    .tools = &w->roster.tools,
                                    .on_settling = on_settling,
                                    .on_free = on_free,
                                    .on_taken = on_taken,
                                    .on_said = on_said,
                                    .on_logged = on_logged,
                                    .on_asked = on_asked,
                                    .on_withdrew = on_withdrew,
                                    .on_hushed = on_hushed,
                                    .on_keep = on_keep,
                                    .on_listen = on_listen,
                                    .arg = w};

    metric_set(METRIC_WORKER_SLOTS, NULL, conf.count);
    metric_set(METRIC_WORKER_BUSY, NULL, 0);
    return slots_new(&conf);
}
