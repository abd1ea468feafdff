#include "worker/run/mcp.h"

#include "common/json.h"
#include "common/mem.h"
#include "worker/result.h"
#include "worker/run/say.h"
#include "worker/upstream/message.h"

#include <stdlib.h>
#include <string.h>

enum { WHY_MAX = 64 << 10, PARAMS_MAX = 32 << 20, METHOD_ROOM = 64, NO_METHOD = -32601 };

struct mcp {
    struct runner runner;
    struct servers *servers;
    struct list running;
};

struct one {
    struct list node;
    struct mcp *all;
    struct run_job *job;
    struct call *call;
};

/* --- ends --- */

static void end_text(const struct mcp *all, struct run_job *job, struct span text)
{
    struct run_end end = {.rpc_error = tool_is_door(job->tool)};
    struct buf result;

    end.is_error = !end.rpc_error;
    buf_init(&result, RESULT_MAX);
    result_failure(&result, text, end.rpc_error);
    end.n = result.n;
    end.result = buf_take(&result);
    all->runner.sink->ended(job, &end);
}

static bool is_error(struct span error)
{
    int64_t code;

    return json_int(json_get(error, "code"), &code) &&
           json_type(json_get(error, "message")) == JSON_STRING;
}

static void end_error(const struct mcp *all, struct run_job *job, struct span error)
{
    struct run_end end = {.rpc_error = true, .n = error.n};

    if (error.n > RESULT_MAX) {
        end_text(all, job, SPAN("the error is larger than 16 MiB as JSON"));
    } else if (!is_error(error)) {
        end_text(all, job,
                 SPAN("the MCP server answers with an error that has no code or no message"));
    } else {
        end.result = mem_dup(error.p, error.n);
        all->runner.sink->ended(job, &end);
    }
}

static void end_passing(const struct mcp *all, struct run_job *job, const char *what,
                        const char *why)
{
    struct buf text;

    buf_init(&text, WHY_MAX);
    buf_addf(&text, "the MCP server \"%s\" %s", job->tool->server->name, what);
    if (why != NULL) {
        buf_adds(&text, ": ");
        buf_adds(&text, why);
    }
    all->runner.sink->ended(job, &(struct run_end){.passing = true, .why = buf_span(&text).p});
    buf_fini(&text);
}

static void end_result(const struct mcp *all, struct run_job *job, struct span result)
{
    struct run_end end = {.n = result.n};
    bool is_tool = !tool_is_door(job->tool);
    const char *why = "";
    struct buf text;

    if (result.n > RESULT_MAX) {
        end_text(all, job, SPAN("the result is larger than 16 MiB as JSON"));
    } else if (is_tool && !result_check(result, &end.is_error, &why)) {
        buf_init(&text, WHY_MAX);
        buf_addf(&text, "the answer of the MCP server is not what MCP promises: %s", why);
        end_text(all, job, buf_span(&text));
        buf_fini(&text);
    } else {
        end.result = mem_dup(result.p, result.n);
        all->runner.sink->ended(job, &end);
    }
}

static void on_done(void *arg, const struct peer_reply *r)
{
    struct one *t = arg;
    const struct mcp *all = t->all;
    struct run_job *job = t->job;

    list_del(&t->node);
    call_free(t->call);
    free(t);
    if (r->outcome == PEER_RESULT)
        end_result(all, job, r->value);
    else if (r->outcome == PEER_ERROR)
        end_error(all, job, r->value);
    else if (r->outcome == PEER_TOO_LONG)
        end_text(all, job, SPAN("the answer is larger than 24 MiB"));
    else if (r->outcome == PEER_LOST)
        end_passing(all, job, "went away during the call", r->why);
    else
        end_passing(all, job, "is not there", r->why);
}

/* --- what is said meanwhile --- */

static void on_progressed(void *arg, struct span params)
{
    const struct one *t = arg;

    say_progress(t->all->runner.sink, t->job, params);
}

/* Over HTTP there may be line ends between the tokens. */
static struct span flat(struct buf *room, struct span json)
{
    buf_init(room, PARAMS_MAX);
    if (json.p == NULL)
        return json;
    message_add_flat(room, json);
    return buf_span(room);
}

static void on_logged(void *arg, struct span params)
{
    const struct one *t = arg;
    struct buf room;

    say_log(t->all->runner.sink, t->job, flat(&room, params));
    buf_fini(&room);
}

static void on_asked(void *arg, struct span id, struct span method, struct span params)
{
    const struct one *t = arg;
    struct buf room;

    t->all->runner.sink->asked(t->job, id, method, flat(&room, params));
    buf_fini(&room);
}

static void on_withdrew(void *arg, struct span id)
{
    const struct one *t = arg;

    t->all->runner.sink->withdrew(t->job, id);
}

static const struct call_sink call_sink = {.progressed = on_progressed,
                                           .logged = on_logged,
                                           .asked = on_asked,
                                           .withdrew = on_withdrew,
                                           .done = on_done};

/* --- beginnings --- */

static bool is_offered(const char *method)
{
    return strcmp(method, "resources/read") == 0 || strcmp(method, "prompts/get") == 0 ||
           strcmp(method, "completion/complete") == 0;
}

static void begin(struct mcp *all, struct run_job *job, struct server *server,
                  const struct call_conf *said)
{
    struct call_conf conf = *said;
    struct one *t = mem_zalloc(sizeof(*t));

    t->all = all;
    t->job = job;
    job->own = t;
    list_add_tail(&all->running, &t->node);
    conf.job = job;
    conf.tells_who = job->tool->server->url == NULL;
    conf.sink = &call_sink;
    conf.arg = t;
    t->call = call_new(servers_base(all->servers), &conf);
    server_call(server, t->call, job->tool->isolate, job->tool->asks);
}

static void begin_tool(struct mcp *all, struct run_job *job, struct server *server)
{
    struct call_conf conf = {.method = "tools/call",
                             .meta = job->meta,
                             .tool = job->tool->upstream,
                             .is_tasked = job->tool->is_tasked};
    struct buf params;

    buf_init(&params, PARAMS_MAX);
    buf_adds(&params, "{\"name\":");
    buf_add_json(&params, span_of(job->tool->upstream));
    buf_adds(&params, ",\"arguments\":");
    buf_add_span(&params, job->arguments);
    buf_addc(&params, '}');
    conf.params = buf_span(&params);
    begin(all, job, server, &conf);
    buf_fini(&params);
}

/* What is no tool: the params of the job are the request that is meant. */
static void begin_other(struct mcp *all, struct run_job *job, struct server *server)
{
    struct span params = json_get(job->arguments, "params");
    struct call_conf conf = {.params = params, .meta = json_get(params, "_meta")};
    char method[METHOD_ROOM];
    struct buf error;

    if (json_string(json_get(job->arguments, "method"), method, sizeof(method)) <= 0 ||
        !is_offered(method) || json_type(params) != JSON_OBJECT) {
        buf_init(&error, WHY_MAX);
        result_rpc_error(&error, NO_METHOD,
                         SPAN("a server is asked resources/read, prompts/get "
                              "and completion/complete"));
        end_error(all, job, buf_span(&error));
        buf_fini(&error);
        return;
    }
    conf.method = strcmp(method, "resources/read") == 0 ? "resources/read"
                  : strcmp(method, "prompts/get") == 0  ? "prompts/get"
                                                        : "completion/complete";
    begin(all, job, server, &conf);
}

static void start(struct runner *r, struct run_job *job)
{
    struct mcp *all = (struct mcp *)(void *)r;
    struct server *server = servers_find(all->servers, job->tool->server);

    if (server == NULL)
        end_passing(all, job, "is not served any more", NULL);
    else if (tool_is_door(job->tool))
        begin_other(all, job, server);
    else
        begin_tool(all, job, server);
}

static void stop(struct runner *r, struct run_job *job, uint64_t grace_ms)
{
    const struct one *t = job->own;

    (void)r;
    call_cancel(t->call, grace_ms);
}

static void answered(struct runner *r, struct run_job *job, struct span id, struct span answer)
{
    const struct one *t = job->own;

    (void)r;
    call_answer(t->call, id, answer);
}

static void mcp_free(struct runner *r)
{
    struct mcp *all = (struct mcp *)(void *)r;

    LIST_EACH(&all->running, it)
    {
        struct one *t = LIST_OF(it, struct one, node);

        call_free(t->call);
        free(t);
    }
    free(all);
}

struct runner *mcp_runner_new(struct servers *servers, const struct run_sink *sink)
{
    struct mcp *all = mem_zalloc(sizeof(*all));

    all->runner = (struct runner){
        .sink = sink, .start = start, .stop = stop, .answered = answered, .free = mcp_free};
    all->servers = servers;
    list_init(&all->running);
    return &all->runner;
}
