#include "worker/slot.h"

#include "common/cfg_unit.h"
#include "common/clock.h"
#include "common/event.h"
#include "common/json.h"
#include "common/mem.h"
#include "common/metric.h"
#include "worker/result.h"
#include "worker/slot_inside.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    LATE_MS = 1000, /* after its grace a job that is stopped gets this long to be gone */
    WHY_MAX = 8192 + 1024,
    HANDLE_MAX = 64 << 10,
};

static const struct sm_row run_rows[] = {
    [SLOT_RUNNING] = {"running", SM_TO(SLOT_STOPPING) | SM_TO(SLOT_STILL)},
    [SLOT_STOPPING] = {"stopping", SM_TO(SLOT_STILL)},
    [SLOT_STILL] = {"still", 0},
};
static const struct sm_row hold_rows[] = {
    [SLOT_HELD] = {"held", SM_TO(SLOT_SETTLING) | SM_TO(SLOT_GONE)},
    [SLOT_SETTLING] = {"settling", SM_TO(SLOT_GONE)},
    [SLOT_GONE] = {"gone", 0},
};

static void set_busy(struct slots *all, int by)
{
    all->busy += (unsigned)by;
    metric_set(METRIC_WORKER_BUSY, NULL, all->busy);
}

/* --- the end of a slot --- */

static void slot_free(struct slot *s)
{
    slot_hush(s);
    list_del(&s->node);
    list_del(&s->out);
    map_del(&s->all->by_id, &s->by_id);
    s->all->n--;
    buf_fini(&s->outcome);
    buf_fini(&s->message);
    buf_fini(&s->progress);
    buf_fini(&s->handle);
    tool_let_go(s->tool);
    free(s->text);
    free(s);
}

static bool is_over(const struct slot *s)
{
    return s->run.state == SLOT_STILL && s->hold.state == SLOT_GONE;
}

static void settle(struct slot *s, enum slot_verb verb)
{
    s->verb = verb;
    sm_move(&s->hold, SLOT_SETTLING);
    s->all->conf.on_settling(s->all->conf.arg, s);
}

static void settle_timed_out(struct slot *s)
{
    struct buf text;

    buf_init(&text, WHY_MAX);
    buf_adds(&text, "the tool ran longer than its timeout of ");
    cfg_add_number(&text, CFG_UNIT_TIME, s->job.tool->timeout_ms);
    buf_adds(&text, " and was stopped");
    buf_reset(&s->outcome);
    s->is_rpc_error = tool_is_door(s->job.tool);
    s->is_error = !s->is_rpc_error;
    result_failure(&s->outcome, buf_span(&text), s->is_rpc_error);
    buf_fini(&text);
    settle(s, SLOT_FINISH);
}

static void settle_as_said(struct slot *s, const struct run_end *end)
{
    buf_reset(&s->outcome);
    s->is_error = end->is_error;
    s->is_rpc_error = end->rpc_error;
    if (end->passing) {
        buf_add_span(&s->outcome, result_cut(span_of(end->why), WHY_MAX - 1));
        settle(s, SLOT_RETRY);
        return;
    }
    buf_fini(&s->outcome);
    s->outcome = (struct buf){.p = end->result, .n = end->n, .room = end->n + 1, .max = RESULT_MAX};
    settle(s, SLOT_FINISH);
}

static const char *word_of(const struct slot *s, const struct run_end *end)
{
    if (s->fate != SLOT_COUNTS)
        return s->fate == SLOT_TIMED_OUT ? "timeout" : "stopped";
    if (end->passing)
        return "passing";
    return end->is_error || end->rpc_error ? "error" : "result";
}

static void count_end(const struct slot *s, const struct run_end *end)
{
    uint64_t ms = clock_mono_ms() - s->began_ms;
    const char *word = word_of(s, end);

    metric_add(METRIC_WORKER_JOBS, word, 1);
    metric_observe(METRIC_WORKER_JOB_SECONDS, NULL, ms * 1000);
    LOG(JOB_ENDED, S("tool", s->job.tool->name), S("task", s->job.id), N("attempt", s->job.attempt),
        S("outcome", word), N("ms", ms), S("principal", s->job.principal), S("trace", s->trace.id));
    slot_tell_execution(s, word, ms);
}

/* A result that its tool's outputSchema does not allow is an error that says so (W-06). */
static struct run_end as_promised(const struct slot *s, const struct run_end *end)
{
    struct run_end checked = *end;
    struct buf result;
    struct buf why;

    if (end->passing || end->is_error || end->rpc_error || s->fate != SLOT_COUNTS ||
        s->job.tool->output_schema == NULL)
        return checked;
    buf_init(&why, WHY_MAX);
    if (!result_fits((struct span){end->result, end->n}, s->job.tool->output_schema, &why)) {
        free(end->result);
        buf_init(&result, RESULT_MAX);
        result_text(&result, buf_span(&why), true);
        checked = (struct run_end){.is_error = true, .n = result.n};
        checked.result = buf_take(&result);
    }
    buf_fini(&why);
    return checked;
}

void slot_on_ended(struct run_job *job, const struct run_end *said)
{
    struct slot *s = (struct slot *)(void *)((char *)job - offsetof(struct slot, job));
    const struct run_end checked = as_promised(s, said);
    const struct run_end *end = &checked;
    struct slots *all = s->all;
    bool is_used = false;

    count_end(s, end);
    slot_hush(s);
    sm_move(&s->run, SLOT_STILL);
    set_busy(all, -1);
    if (s->hold.state == SLOT_GONE) {
        slot_free(s);
    } else if (s->hold.state == SLOT_HELD && s->fate == SLOT_COUNTS) {
        is_used = true;
        settle_as_said(s, end);
    } else if (s->hold.state == SLOT_HELD && s->fate == SLOT_TIMED_OUT) {
        settle_timed_out(s);
    } else if (s->hold.state == SLOT_HELD) {
        settle(s, SLOT_RELEASE);
    }
    if (!is_used)
        free(end->result);
    all->conf.on_free(all->conf.arg);
}

void slot_settled(struct slot *s)
{
    sm_move(&s->hold, SLOT_GONE);
    list_del(&s->out);
    if (is_over(s))
        slot_free(s);
}

void slot_stop(struct slot *s, enum slot_fate fate, uint64_t grace_ms)
{
    uint64_t still_ms = clock_mono_ms() + grace_ms + LATE_MS;

    if (s->hold.state != SLOT_HELD)
        return; /* told, or about to be: Redis's verdict decides */
    if (fate == SLOT_HANDED_BACK && !tool_may_run_again(s->job.tool))
        fate = SLOT_COUNTS;
    if (s->fate == SLOT_COUNTS || fate == SLOT_DROPPED)
        s->fate = fate;
    if (fate == SLOT_DROPPED)
        sm_move(&s->hold, SLOT_GONE);
    slot_hush(s);
    s->job.stop = slot_why_stopped(s);
    if (s->run.state == SLOT_RUNNING) {
        sm_move(&s->run, SLOT_STOPPING);
        s->stopped_ms = still_ms;
    }
    s->stopped_ms = still_ms < s->stopped_ms ? still_ms : s->stopped_ms;
    s->all->runners[s->job.tool->run]->stop(s->all->runners[s->job.tool->run], &s->job, grace_ms);
}

void slot_is_late(struct slot *s)
{
    if (s->is_deaf || s->run.state != SLOT_STOPPING)
        return;
    s->is_deaf = true;
    metric_add(METRIC_WORKER_DEAF, NULL, 1);
    LOG(HANDLER_DEAF, S("tool", s->job.tool->name), S("task", s->job.id),
        N("attempt", s->job.attempt), N("ms", clock_mono_ms() - s->began_ms));
    if (s->hold.state == SLOT_HELD && s->fate == SLOT_TIMED_OUT)
        settle_timed_out(s);
}

/* --- the beginning of a slot --- */

static const char *keep(char **at, struct span s)
{
    char *p = *at;

    if (s.n > 0)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    *at += s.n + 1;
    return p;
}

static struct span arguments_of(const struct store_job *job)
{
    struct span a = json_get(job->params, "arguments");

    if (job->tool.n > 0 && job->tool.p[0] == '@')
        return job->params;
    return json_type(a) == JSON_OBJECT ? a : SPAN("{}");
}

static void describe(struct slot *s, const struct store_job *job, const struct tool *tool)
{
    struct span arguments = arguments_of(job);
    struct span name = json_get(job->caller, "name");
    char *principal = tool_text(name);
    struct span meta = tool->run == TOOL_MCP ? json_get(job->params, "_meta") : SPAN("");
    char *at;

    s->text =
        mem_alloc(job->id.n + arguments.n + meta.n + name.n + job->caps.n + job->handle.n + 6);
    at = s->text;
    s->job = (struct run_job){.tool = tool, .attempt = job->attempt};
    s->job.id = keep(&at, job->id);
    s->job.arguments = (struct span){keep(&at, arguments), arguments.n};
    s->job.meta = (struct span){keep(&at, meta), meta.n};
    s->job.principal = keep(&at, span_of(principal != NULL ? principal : ""));
    s->job.handle = (struct span){keep(&at, job->handle), job->handle.n};
    s->caps = (struct span){keep(&at, job->caps), job->caps.n};
    slot_begin_trace(s, job->trace);
    s->is_hidden = job->hidden;
    s->dialect = job->dialect;
    s->ask_ms = job->ask_ms;
    free(principal);
}

/* A job for a tool that is served here no more, or never was: it goes back as it came. */
static const struct tool no_tool = {.name = (char[]){"?"}};

void slots_take(struct slots *all, const struct store_job *job, unsigned partition,
                uint64_t sent_ms)
{
    struct tool *tool = tools_find(all->conf.tools, job->tool);
    struct slot *s = mem_zalloc(sizeof(*s));
    uint64_t now = clock_mono_ms();

    s->all = all;
    sm_init(&s->run, "run", run_rows, SLOT_RUNNING);
    sm_init(&s->hold, "hold", hold_rows, SLOT_HELD);
    list_init(&s->out);
    buf_init(&s->outcome, RESULT_MAX);
    buf_init(&s->message, RESULT_MESSAGE_MAX + 1);
    buf_init(&s->progress, WHY_MAX);
    buf_init(&s->handle, HANDLE_MAX);
    s->keeping = job->handle.n > 0 ? SLOT_KEPT : SLOT_NONE;
    describe(s, job, tool != NULL ? tool : &no_tool);
    s->tool = tool != NULL ? tool_hold(tool) : NULL;
    s->fate = tool != NULL ? SLOT_COUNTS : SLOT_HANDED_BACK;
    s->partition = partition;
    s->fence = job->fence;
    s->attempts = job->attempts;
    s->began_ms = now;
    s->leased_ms = sent_ms;
    s->expires_ms = now + job->ttl_ms;
    s->timeout_ms = s->job.tool->timeout_ms != 0 ? now + s->job.tool->timeout_ms : 0;
    list_add_tail(&all->list, &s->node);
    map_add(&all->by_id, &s->by_id, span_of(s->job.id));
    all->n++;
    set_busy(all, 1);
    if (job->attempt == 1) {
        metric_observe(METRIC_PICKUP_SECONDS, NULL, job->age_ms * 1000);
        slot_tell_queue(s, job->age_ms);
    }
    all->conf.on_taken(all->conf.arg);
    LOG(JOB_STARTED, S("tool", s->job.tool->name), S("task", s->job.id),
        N("attempt", s->job.attempt), S("trace", s->trace.id));
    if (tool == NULL || all->runners[tool->run] == NULL)
        slot_on_ended(&s->job, &(struct run_end){.passing = true, .why = "no such tool here"});
    else
        all->runners[tool->run]->start(all->runners[tool->run], &s->job);
}

/* --- looking --- */

struct slot *slots_find_id(const struct slots *all, struct span id)
{
    struct slot *any = NULL;

    for (struct map_node *node = map_find(&all->by_id, id); node != NULL;
         node = map_find_next(node)) {
        struct slot *s = MAP_OF(node, struct slot, by_id);

        if (any == NULL || s->hold.state < any->hold.state)
            any = s;
    }
    return any;
}

struct slot *slots_find(const struct slots *all, struct span id, uint64_t fence)
{
    for (struct map_node *node = map_find(&all->by_id, id); node != NULL;
         node = map_find_next(node))
        if (MAP_OF(node, struct slot, by_id)->fence == fence)
            return MAP_OF(node, struct slot, by_id);
    return NULL;
}

struct store_held slot_held(const struct slot *s)
{
    return (struct store_held){span_of(s->job.id), s->fence};
}

bool slot_is_ours(const struct slot *s)
{
    return s->hold.state != SLOT_GONE;
}

void slot_renewed(struct slot *s, uint64_t sent_ms)
{
    s->leased_ms = sent_ms > s->leased_ms ? sent_ms : s->leased_ms;
}

static unsigned less(unsigned a, unsigned b)
{
    return a > b ? a - b : 0;
}

unsigned slots_room(const struct slots *all)
{
    unsigned room = less(all->conf.count, all->busy - all->waiting);
    unsigned most = less(all->conf.count * RUN_WAITING_FACTOR, all->busy);

    return room < most ? room : most;
}

unsigned slots_busy(const struct slots *all)
{
    return all->busy;
}

unsigned slots_count(const struct slots *all)
{
    return all->n;
}

struct list *slots_list(struct slots *all)
{
    return &all->list;
}

void slots_runner(struct slots *all, enum tool_run kind, struct runner *r)
{
    all->runners[kind] = r;
}

struct slots *slots_new(const struct slots_conf *conf)
{
    struct slots *all = mem_zalloc(sizeof(*all));

    all->conf = *conf;
    list_init(&all->list);
    map_init(&all->by_id);
    return all;
}

void slots_free(struct slots *all)
{
    LIST_EACH(&all->list, it)
    slot_free(LIST_OF(it, struct slot, node));
    map_fini(&all->by_id);
    free(all);
}
