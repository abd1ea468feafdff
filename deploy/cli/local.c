#include "deploy/cli/local_inside.h"

#include "common/cfg_unit.h"
#include "common/clock.h"
#include "common/event.h"
#include "common/id.h"
#include "common/json.h"
#include "common/mem.h"
#include "deploy/cli/stop.h"
#include "worker/result.h"

#include <event2/event.h>
#include <stdlib.h>

enum {
    TURN_MS = 100,
    LASTS_MS = 24 * 24 * 3600 * 1000, /* no lease lapses, and no task expires */
    CODE_FAILED = -32603,
    START_MORE_MS = 1000, /* beyond what a server may take to start */
    WHY_MAX = 8192,
};

/* --- what becomes of it --- */

static void keep_outcome(struct local *l, const struct slot *s)
{
    buf_add_span(&l->reply->text, buf_span(&s->outcome));
    l->end = s->is_rpc_error ? MCP_ERROR : MCP_RESULT;
    if (s->is_rpc_error)
        result_error_message(l->why, buf_span(&s->outcome));
}

static void keep_failure(struct local *l, const struct slot *s)
{
    buf_adds(l->why, "it failed in passing; ");
    if (s->job.tool->attempts > 1) {
        buf_addf(l->why, "attempt 2 of %u would follow in about ", s->job.tool->attempts);
        cfg_add_number(l->why, CFG_UNIT_TIME, s->job.tool->backoff_ms);
    } else {
        buf_adds(l->why, "it has no other attempt");
    }
    buf_adds(l->why, ": ");
    buf_add_span(l->why, buf_span(&s->outcome));
    result_rpc_error(&l->reply->text, CODE_FAILED, buf_span(l->why));
    l->end = MCP_ERROR;
}

static void on_settling(void *arg, struct slot *s)
{
    struct local *l = arg;

    l->settling = s;
    if (s->verb == SLOT_FINISH)
        keep_outcome(l, s);
    else if (s->verb == SLOT_RETRY)
        keep_failure(l, s);
}

/* The last thing that is told of a job, also of one that was dropped. */
static void on_free(void *arg)
{
    struct local *l = arg;

    if (l->settling != NULL)
        slot_settled(l->settling);
    l->settling = NULL;
    l->over = true;
}

static void on_taken(void *arg)
{
    const struct local *l = arg;

    watch_begin(l->watch);
}

/* --- the person --- */

static bool is_answering(void *arg)
{
    (void)arg;
    return false; /* an answer arrives at once */
}

static void listen_to(void *arg, int fd)
{
    struct local *l = arg;

    if (l->typed == NULL)
        return;
    if (fd != -1)
        (void)event_add(l->typed, NULL);
    else
        (void)event_del(l->typed);
}

static void gone(void *arg)
{
    (void)arg;
}

/* --- the loop --- */

static void stop(struct local *l)
{
    struct slot *s = slots_find_id(l->slots, span_of(l->id));

    l->end = MCP_STOPPED;
    if (l->stops++ > 0 || s == NULL) {
        l->over = true; /* closing the runners kills it */
        return;
    }
    status_show(person_status(l->person), "stopping", (struct span){NULL, 0});
    slot_drop(s, RUN_UNWANTED);
}

/* The tool's server has not come to offer it. */
static void give_up(struct local *l)
{
    buf_addf(l->why, "no MCP server of the file offers a tool \"%.64s\"", l->name);
    result_rpc_error(&l->reply->text, CODE_FAILED, buf_span(l->why));
    l->end = MCP_ERROR;
    l->over = true;
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    struct local *l = arg;

    (void)fd;
    (void)what;
    person_turn(l->person);
    while (!l->over && l->stops < stop_count())
        stop(l);
    if (!l->over && !l->is_taken && clock_mono_ms() >= l->deadline_ms)
        give_up(l);
}

/* --- the tool --- */

/* The broker's part: arguments that do not fit are an error result, and the tool is not run. */
static bool fits(const struct local *l, const struct tool *t)
{
    struct schema *schema;
    struct buf why;
    bool ok;

    buf_init(&why, WHY_MAX);
    buf_addf(&why, "Invalid arguments for tool %s: ", t->name);
    schema = schema_new(json_get(span_of(t->definition), "inputSchema"), &why);
    ok = schema != NULL && schema_check(schema, l->arguments, &why);
    if (!ok)
        result_text(&l->reply->text, buf_span(&why), true);
    schema_free(schema);
    buf_fini(&why);
    return ok;
}

static void take(struct local *l)
{
    struct store_job job = {.id = span_of(l->id),
                            .fence = 1,
                            .attempt = 1,
                            .ttl_ms = LASTS_MS,
                            .tool = span_of(l->name),
                            .caller = SPAN("{\"name\":\"\"}"),
                            .dialect = 'L'};
    struct buf params;

    buf_init(&params, l->arguments.n + 32);
    buf_adds(&params, "{\"arguments\":");
    buf_add_span(&params, l->arguments);
    buf_addc(&params, '}');
    job.params = buf_span(&params);
    slots_take(l->slots, &job, 0, clock_mono_ms());
    buf_fini(&params);
}

static void look(struct local *l)
{
    const struct tool *t = tools_find(&l->roster.tools, span_of(l->name));

    if (l->is_taken || t == NULL)
        return;
    l->is_taken = true;
    if (fits(l, t)) {
        take(l);
        return;
    }
    l->end = MCP_RESULT;
    l->over = true;
}

static void offer(struct local *l)
{
    struct tools all = {0};
    struct tools old;

    tools_join(&all, &l->declared);
    if (l->runners.servers != NULL)
        servers_offer(l->runners.servers, &all);
    old = roster_take(&l->roster, &all);
    runners_open(&l->runners, l->base, l->slots, &l->roster, 1);
    tools_fini(&old);
    look(l);
}

static void on_changed(void *arg)
{
    offer(arg);
}

static void on_updated(void *arg, const char *server, struct span uri)
{
    (void)arg;
    (void)server;
    (void)uri;
}

static const struct servers_sink on_servers = {.changed = on_changed, .updated = on_updated};

/* Servers are started only for a tool that the file does not declare itself. */
static void begin(struct local *l)
{
    uint64_t longest = 0;

    if (tools_find(&l->declared, span_of(l->name)) == NULL) {
        for (size_t i = 0; i < l->declared.server_n; i++)
            if (l->declared.servers[i]->start_ms > longest)
                longest = l->declared.servers[i]->start_ms;
        l->deadline_ms = clock_mono_ms() + longest + START_MORE_MS;
        status_show(person_status(l->person), "starting", (struct span){NULL, 0});
        runners_serve(&l->runners, l->base, &l->declared);
    }
    offer(l);
}

/* --- life --- */

static struct event *must(struct event *ev)
{
    if (ev == NULL)
        abort();
    return ev;
}

static void open_all(struct local *l, const struct conf *c)
{
    const struct slots_conf slots = {.count = 1,
                                     .lease_ms = LASTS_MS,
                                     .tools = &l->roster.tools,
                                     .on_settling = on_settling,
                                     .on_free = on_free,
                                     .on_taken = on_taken,
                                     .on_said = local_said,
                                     .on_logged = local_logged,
                                     .on_asked = local_asked,
                                     .on_withdrew = local_withdrew,
                                     .arg = l};
    const struct person_host host = {.answer = local_answer,
                                     .is_answering = is_answering,
                                     .listen = listen_to,
                                     .gone = gone,
                                     .arg = l};
    struct timeval every = clock_timeval(TURN_MS);

    l->base = event_base_new();
    if (l->base == NULL)
        abort();
    roster_init(&l->roster, LASTS_MS);
    l->slots = slots_new(&slots);
    l->watch = watch_new(l->base, l->slots, LASTS_MS);
    l->runners.on_servers = &on_servers;
    l->runners.arg = l;
    l->person = person_new(&host, c, l->name, true);
    l->typed = must(event_new(l->base, 0, EV_READ | EV_PERSIST, on_turn, l));
    l->turn = must(event_new(l->base, -1, EV_PERSIST, on_turn, l));
    (void)event_add(l->turn, &every);
}

static void close_all(struct local *l)
{
    person_free(l->person);
    runners_close(&l->runners);
    slots_free(l->slots);
    watch_free(l->watch);
    event_free(l->typed);
    event_free(l->turn);
    roster_fini(&l->roster);
    tools_fini(&l->declared);
    event_base_free(l->base);
}

enum mcp_end local_run(const struct conf *c, struct tools *tools, const char *name,
                       struct span arguments, struct mcp_reply *reply, struct buf *why)
{
    struct local l = {.declared = *tools,
                      .name = name,
                      .arguments = arguments,
                      .reply = reply,
                      .why = why,
                      .end = MCP_STOPPED};

    *tools = (struct tools){0};
    stop_init();
    event_setup_named("errand", "logfmt", l.declared.server_n > 0 ? "warn" : "none");
    id_new(l.id, 0);
    open_all(&l, c);
    begin(&l);
    while (!l.over)
        (void)event_base_loop(l.base, EVLOOP_ONCE);
    close_all(&l);
    reply->value = buf_span(&reply->text);
    return l.end;
}
