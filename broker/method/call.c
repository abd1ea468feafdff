#include "broker/method/call.h"

#include "broker/inflight.h"
#include "broker/l/session.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/mem.h"
#include "common/metric.h"
#include "common/schema.h"

#include <stdio.h>
#include <stdlib.h>

#define IDEMPOTENCY "dev.errand/idempotency-key"

enum { IDEM_MAX = 512, CALLER_MAX = 1024 };

enum { NAME, ARGUMENTS, TASK, META, MEMBERS };

static bool read_task(struct req *q, struct call *c, struct span task)
{
    struct span ttl = json_get(task, "ttl");
    int64_t ms;

    if (task.p == NULL || !l_has_tasks(q->version))
        return true; /* T-20, L-11: metadata of a utility this session does not have */
    if (json_type(task) != JSON_OBJECT) {
        req_fail_why(q, ERR_INVALID_PARAMS, "params.task must be an object");
        return false;
    }
    c->as_task = true;
    if (ttl.p == NULL)
        return true;
    if (json_type(ttl) == JSON_NULL) {
        c->ttl_ms = UINT64_MAX; /* T-99: for ever, as far as --max-ttl allows */
        return true;
    }
    if (!json_int(ttl, &ms) || ms <= 0) {
        req_fail_why(q, ERR_INVALID_PARAMS,
                     "params.task.ttl must be a positive whole number of milliseconds, or null");
        return false;
    }
    c->ttl_ms = (uint64_t)ms;
    return true;
}

static bool read_members(struct req *q, struct call *c, struct span meta)
{
    char key[IDEM_MAX + 1];
    struct span value;
    long n;

    if (meta.p == NULL)
        return true;
    c->token = json_get(meta, "progressToken");
    if (c->token.p != NULL && !json_is_id(c->token)) {
        req_fail_why(q, ERR_INVALID_PARAMS,
                     "params._meta.progressToken must be a string or an integer");
        return false;
    }
    req_trace(q, json_get(meta, "traceparent"));
    value = json_get(meta, IDEMPOTENCY);
    if (value.p == NULL)
        return true;
    n = json_string(value, key, sizeof(key));
    if (n <= 0) {
        req_fail_why(q, ERR_INVALID_PARAMS,
                     "params._meta[\"" IDEMPOTENCY "\"] must be a string of 1 to 512 bytes");
        return false;
    }
    id_digest(c->idem, (struct span[]){{key, (size_t)n}}, 1);
    id_digest(c->idem_args, (struct span[]){span_of(c->name), c->arguments}, 2);
    return true;
}

static bool read_meta(struct req *q, struct call *c, struct span meta)
{
    if (!read_members(q, c, meta))
        return false;
    req_begin_trace(q);
    trace_text(c->trace, &q->trace);
    return true;
}

bool call_read(struct req *q, struct call *c)
{
    struct json_want got[MEMBERS] = {[NAME] = {.name = "name"},
                                     [ARGUMENTS] = {.name = "arguments"},
                                     [TASK] = {.name = "task"},
                                     [META] = {.name = "_meta"}};

    *c = (struct call){0};
    if (q->rpc.params.p == NULL || json_get_many(q->rpc.params, got, MEMBERS) != ERR_OK) {
        req_fail_why(q, ERR_INVALID_PARAMS, "params must be an object that names each member once");
        return false;
    }
    if (json_type(got[NAME].value) != JSON_STRING) {
        req_fail_why(q, ERR_INVALID_PARAMS, "params.name must be a string");
        return false;
    }
    if (json_string(got[NAME].value, c->name, sizeof(c->name)) < 0)
        c->name[0] = '\0'; /* longer than any tool's */
    c->arguments = got[ARGUMENTS].value;
    if (c->arguments.p != NULL && json_type(c->arguments) != JSON_OBJECT) {
        req_fail_why(q, ERR_INVALID_PARAMS, "params.arguments must be an object");
        return false;
    }
    if (got[META].value.p != NULL && json_type(got[META].value) != JSON_OBJECT) {
        req_fail_why(q, ERR_INVALID_PARAMS, "params._meta must be an object");
        return false;
    }
    return read_task(q, c, got[TASK].value) && read_meta(q, c, got[META].value);
}

bool call_read_meta(struct req *q, struct call *c)
{
    struct span meta = json_get(q->rpc.params, "_meta");

    if (meta.p != NULL && json_type(meta) != JSON_OBJECT) {
        req_fail_why(q, ERR_INVALID_PARAMS, "params._meta must be an object");
        return false;
    }
    return read_meta(q, c, meta);
}

bool call_is_capable(const struct tool *t, struct span caps)
{
    struct span needed = span_of(t->needs);
    struct span name;
    struct span value;
    size_t cursor = 0;

    while (needed.p != NULL && json_next(needed, &cursor, &name, &value)) {
        char text[64];

        (void)snprintf(text, sizeof(text), "%.*s", (int)name.n, name.p);
        if (json_get(caps, text).p == NULL)
            return false;
    }
    return true;
}

bool call_fits(const struct call *c, const struct tool *t, struct buf *why)
{
    const size_t from = why->n;

    if (t->input != NULL && schema_is_open(t->input))
        return true; /* that they are an object is known */
    buf_addf(why, "Invalid arguments for tool %s: ", t->name);
    if (t->input == NULL) {
        buf_addf(why, "its inputSchema is not understood here: %s", t->input_why);
        return false;
    }
    if (!schema_check(t->input, c->arguments.p != NULL ? c->arguments : SPAN("{}"), why))
        return false;
    why->n = from;
    return true;
}

void call_refusal(struct buf *result, struct span why)
{
    buf_adds(result, "{\"content\":[{\"type\":\"text\",\"text\":");
    buf_add_json(result, why);
    buf_adds(result, "}],\"isError\":true}");
}

static uint64_t ttl_of(const struct conf *conf, const struct tool *t, const struct call *c)
{
    uint64_t ttl = conf->default_ttl;

    if (c->ttl_ms != 0)
        ttl = c->ttl_ms;
    else if (t->ttl_ms != 0)
        ttl = t->ttl_ms;
    return ttl < conf->max_ttl ? ttl : conf->max_ttl;
}

static void add_caller(struct buf *out, const struct principal *who)
{
    bool more = false;

    buf_adds(out, "{\"name\":");
    buf_add_json(out, span_of(who->name));
    buf_adds(out, ",\"scopes\":[");
    for (unsigned s = SCOPE_TOOLS_CALL; s <= SCOPE_ADMIN; s *= 2) {
        if ((who->scopes & s) == 0)
            continue;
        buf_adds(out, more ? ",\"" : "\"");
        buf_adds(out, scope_name((enum scope)s));
        buf_addc(out, '"');
        more = true;
    }
    buf_adds(out, "]}");
}

/* What the client, the tool and the broker say together. id and caller are the caller's. */
static struct store_create request_of(const struct req *q, const struct call *c,
                                      const struct tool *t, const char *id)
{
    const struct conf *conf = q->b->conf;
    const struct session_copy *session =
        sessions_admitted(q->b->sessions, span_of(q->session), span_of(q->who.owner));

    return (struct store_create){
        .id = span_of(id),
        .owner = span_of(q->who.owner),
        .tool = span_of(t->name),
        .priority = t->priority,
        .ttl_ms = ttl_of(conf, t, c),
        .poll_ms = t->poll_ms != 0 ? t->poll_ms : conf->poll_interval,
        .max_active = conf->max_active,
        .max_running = conf->max_running,
        .attempts = t->attempts,
        .limit = conf->rate,
        .hidden = q->hidden,
        .dialect = q->dialect,
        .wait = q->hidden,
        .session = span_of(q->session),
        .params = c->params.p != NULL ? c->params : q->rpc.params,
        .idem = span_of(c->idem),
        .idem_args = span_of(c->idem_args),
        .token = c->token,
        .trace = span_of(c->trace),
        .outcome = c->outcome,
        .outcome_is_error = c->outcome.p != NULL,
        .message = c->message,
        .caps = q->dialect == 'M' ? q->m.capabilities
                : session != NULL ? span_of(session->capabilities)
                                  : (struct span){NULL, 0},
        .level = span_of(q->m.level),
        .ask_ms = conf->ask_timeout,
        .request = q->hidden ? q->rpc.id : (struct span){NULL, 0},
    };
}

void call_create(struct req *q, const struct call *c, const struct tool *t, store_task_fn *fn)
{
    char id[ID_LEN + 1];
    struct buf caller;
    struct store_create s;

    id_new(id, q->who.partition);
    q->has_key = c->idem[0] != '\0';
    s = request_of(q, c, t, id);
    buf_init(&caller, CALLER_MAX);
    add_caller(&caller, &q->who);
    s.caller = buf_span(&caller);
    if (s.hidden) {
        wait_add(q->b->waits, &q->wait, s.id, s.owner);
        s.stream = inflight_reserve(q);
    }
    req_step(q);
    store_create(q->b->store, &s, fn, q);
    buf_fini(&caller);
}

static void count_created(const struct req *q)
{
    metric_add(METRIC_TASKS_CREATED, q->hidden ? "call" : "task", 1);
    metric_observe(METRIC_CREATE_SECONDS, NULL, clock_mono_us() - q->began_us);
}

bool call_created(struct req *q, enum err e, const struct store_result *r)
{
    if (e == ERR_OK && !r->repeated)
        count_created(q);
    if (!req_back(q))
        return false;
    if (e == ERR_OK)
        return true;
    if (e == ERR_RATE || e == ERR_LIMIT) {
        metric_add(METRIC_LIMITED, err_name(e), 1);
        req_fail_retry(q, e, r->retry_ms);
    } else {
        req_fail(q, e);
    }
    return false;
}

/* --- durability --- */

struct settling {
    struct req *q;
    call_durable_fn *fn;
    struct store_result result; /* its texts are ours */
    char *texts[4];
};

static struct span keep(struct settling *s, unsigned i, struct span text)
{
    if (text.p == NULL)
        return text;
    s->texts[i] = mem_dup(text.p, text.n);
    return (struct span){s->texts[i], text.n};
}

static struct settling *settling_new(struct req *q, const struct store_result *r,
                                     call_durable_fn *fn)
{
    struct settling *s = mem_zalloc(sizeof(*s));
    struct task *t = &s->result.task;

    s->q = q;
    s->fn = fn;
    s->result = *r;
    t->id = keep(s, 0, t->id);
    t->tool = keep(s, 1, t->tool);
    t->message = keep(s, 2, t->message);
    t->session = keep(s, 3, t->session);
    t->progress = (struct span){NULL, 0};
    t->outcome = (struct span){NULL, 0};
    return s;
}

static void settling_free(struct settling *s)
{
    for (size_t i = 0; i < sizeof(s->texts) / sizeof(s->texts[0]); i++)
        free(s->texts[i]);
    free(s);
}

static void on_withdrawn(void *arg, enum err e, const struct store_result *r)
{
    (void)arg;
    (void)e;
    (void)r;
}

static void on_settled(void *arg, enum err e)
{
    struct settling *s = arg;
    struct req *q = s->q;

    if (e != ERR_OK && !q->has_key)
        store_cancel(q->b->store, s->result.task.id, span_of(q->who.owner), 0, true, on_withdrawn,
                     NULL);
    if (!req_back(q))
        goto out;
    if (e == ERR_OK)
        s->fn(q, &s->result);
    else
        req_fail_why(q, e, "the task did not reach enough replicas of Redis in time; try again");
out:
    settling_free(s);
}

void call_durable(struct req *q, const struct store_result *r, call_durable_fn *fn)
{
    if (q->b->conf->replicas == 0) {
        fn(q, r);
        return;
    }
    req_step(q);
    store_settle(q->b->store, on_settled, settling_new(q, r, fn));
}
