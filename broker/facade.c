#include "broker/facade.h"

#include "broker/inflight.h"
#include "broker/l/render.h"
#include "broker/l/session.h"
#include "broker/method/params.h"
#include "broker/method/task_read.h"
#include "common/json.h"

enum { WAIT_DEFAULT_MS = 30000, WAIT_MAX_MS = 60000, TEXT_MAX = 64 << 10 };

#define ID_SCHEMA "\"taskId\":{\"type\":\"string\",\"description\":\"The id of the task\"}"

static void task_status(struct req *q, struct span id, struct span arguments);
static void task_wait(struct req *q, struct span id, struct span arguments);
static void task_cancel(struct req *q, struct span id, struct span arguments);

static const struct {
    const char *name;
    void (*begin)(struct req *q, struct span id, struct span arguments);
    enum scope scope;
    const char *definition; /* without its name */
} rows[] = {
    {"task_cancel", task_cancel, SCOPE_TOOLS_CALL,
     "\"title\":\"Cancel a task\",\"description\":\"Stops a task that has not ended yet.\","
     "\"inputSchema\":{\"type\":\"object\",\"properties\":{" ID_SCHEMA "},"
     "\"required\":[\"taskId\"]}"},
    {"task_status", task_status, SCOPE_TASKS_READ,
     "\"title\":\"Look at a task\",\"description\":\"Tells the state of a task.\","
     "\"inputSchema\":{\"type\":\"object\",\"properties\":{" ID_SCHEMA "},"
     "\"required\":[\"taskId\"]},\"annotations\":{\"readOnlyHint\":true}"},
    {"task_wait", task_wait, SCOPE_TASKS_READ,
     "\"title\":\"Wait for a task\",\"description\":\"Waits until a task has ended, and answers "
     "with its result; with its state when the time is over.\","
     "\"inputSchema\":{\"type\":\"object\",\"properties\":{" ID_SCHEMA ",\"timeoutMs\":"
     "{\"type\":\"integer\",\"minimum\":0,\"maximum\":60000,\"description\":\"How long to wait; "
     "30000 when not given\"}},\"required\":[\"taskId\"]},"
     "\"annotations\":{\"readOnlyHint\":true}"},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

bool facade_applies(const struct req *q)
{
    const struct session_copy *s;

    if (!q->b->conf->facade || q->session[0] == '\0')
        return false;
    if (!l_has_tasks(q->version))
        return true;
    s = sessions_admitted(q->b->sessions, span_of(q->session), span_of(q->who.owner));
    return s != NULL && json_get(span_of(s->capabilities), "tasks").p == NULL;
}

bool facade_has(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return true;
    return false;
}

void facade_list(const struct req *q, struct buf *out, size_t count)
{
    for (size_t i = 0; i < ROWS; i++)
        buf_addf(out, "%s{\"name\":\"%s\",%s%s}", count + i != 0 ? "," : "", rows[i].name,
                 rows[i].definition,
                 l_has_tasks(q->version) ? ",\"execution\":{\"taskSupport\":\"forbidden\"}" : "");
}

static void answer_text(struct req *q, struct span text, bool is_error)
{
    struct buf out;

    buf_init(&out, TEXT_MAX * 8);
    buf_adds(&out, "{\"content\":[{\"type\":\"text\",\"text\":");
    buf_add_json(&out, text);
    buf_addf(&out, "}],\"isError\":%s}", is_error ? "true" : "false");
    req_result(q, buf_span(&out));
    buf_fini(&out);
}

static void answer_task(struct req *q, const struct task *t)
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    l_task(&text, t, task_iserror_fails(q));
    answer_text(q, buf_span(&text), false);
    buf_fini(&text);
}

void facade_handle(struct req *q, const struct task *t)
{
    answer_task(q, t);
}

/* For a model an error is something to read. */
static bool read_ok(struct req *q, enum err e, const struct store_result *r)
{
    if (e == ERR_NOT_FOUND || e == ERR_TERMINAL) {
        answer_text(q, span_of(err_text(e)), true);
        return false;
    }
    return task_read_ok(q, e, r);
}

static void on_status(void *arg, enum err e, const struct store_result *r)
{
    struct req *q = arg;

    if (req_back(q) && read_ok(q, e, r))
        answer_task(q, &r->task);
}

static void task_status(struct req *q, struct span id, struct span arguments)
{
    struct store_get get = {.id = id, .owner = span_of(q->who.owner), .limit = q->b->conf->rate};

    (void)arguments;
    req_step(q);
    store_get(q->b->store, &get, on_status, q);
}

static void task_cancel(struct req *q, struct span id, struct span arguments)
{
    (void)arguments;
    req_step(q);
    store_cancel(q->b->store, id, span_of(q->who.owner), q->b->conf->rate, false, on_status, q);
}

/* --- task_wait --- */

static void answer_outcome(struct req *q, const struct task *t)
{
    char text[1024];

    if (t->state == TASK_RESULT) {
        req_result(q, t->outcome);
    } else if (t->state == TASK_ERROR &&
               json_string(json_get(t->outcome, "message"), text, sizeof(text)) >= 0) {
        answer_text(q, span_of(text), true);
    } else {
        answer_text(q,
                    t->state == TASK_CANCELLED ? SPAN("The task was cancelled")
                                               : SPAN("The task failed"),
                    true);
    }
}

static void on_ended(void *arg, enum err e, const struct task *t)
{
    struct req *q = arg;

    if (e == ERR_OK)
        answer_outcome(q, t);
    else
        answer_text(q, span_of(err_text(e)), true);
}

static void on_time_over(void *arg)
{
    struct req *q = arg;
    struct store_get get = {.id = span_of(q->wait.id), .owner = span_of(q->who.owner)};

    inflight_pause(q);
    req_step(q);
    store_get(q->b->store, &get, on_status, q);
}

static void on_wait_read(void *arg, enum err e, const struct store_result *r)
{
    struct req *q = arg;

    if (!req_back(q) || !read_ok(q, e, r))
        return;
    if (task_is_terminal(r->task.state)) {
        answer_outcome(q, &r->task);
        return;
    }
    req_timer(q, q->timeout_ms, on_time_over);
    inflight_wait(q, r->task.expires_ms, on_ended);
}

static void task_wait(struct req *q, struct span id, struct span arguments)
{
    struct store_get get = {.id = id,
                            .owner = span_of(q->who.owner),
                            .limit = q->b->conf->rate,
                            .wait = true,
                            .outcome = true};
    int64_t ms = WAIT_DEFAULT_MS;

    if (json_get(arguments, "timeoutMs").p != NULL &&
        (!json_int(json_get(arguments, "timeoutMs"), &ms) || ms < 0 || ms > WAIT_MAX_MS)) {
        answer_text(q, SPAN("timeoutMs must be a whole number from 0 to 60000"), true);
        return;
    }
    q->timeout_ms = (uint64_t)ms;
    wait_add(q->b->waits, &q->wait, get.id, get.owner);
    req_step(q);
    store_get(q->b->store, &get, on_wait_read, q);
}

bool facade_call(struct req *q, const struct call *c)
{
    char id[ID_LEN + 1];
    unsigned partition;

    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].name, c->name) != 0)
            continue;
        if (!principal_may(&q->who, rows[i].scope))
            answer_text(q, span_of(err_text(ERR_FORBIDDEN)), true);
        else if (json_string(json_get(c->arguments, "taskId"), id, sizeof(id)) != ID_LEN)
            answer_text(q, SPAN("taskId must be the id of a task, a string of 24 characters"),
                        true);
        else if (!id_parse(span_of(id), store_partitions(q->b->store), &partition) ||
                 partition != q->who.partition)
            answer_text(q, span_of(err_text(ERR_NOT_FOUND)), true);
        else
            rows[i].begin(q, span_of(id), c->arguments);
        return true;
    }
    return false;
}
