#include "worker/ask_host.h"

#include "common/clock.h"
#include "common/event.h"
#include "common/json.h"
#include "common/mem.h"
#include "worker/ask_check.h"
#include "worker/ask_inside.h"

#include <stdio.h>
#include <stdlib.h>

enum { EVERY_MIN_MS = 100, EVERY_DEFAULT_MS = 1000, EVERY_MAX_MS = 60 * 1000, ERROR_CODE = -32603 };

static void rest(struct ask *a, struct span task)
{
    int64_t ms;

    if (json_int(json_get(task, "pollInterval"), &ms))
        a->every_ms = ms < EVERY_MIN_MS   ? EVERY_MIN_MS
                      : ms > EVERY_MAX_MS ? EVERY_MAX_MS
                                          : (uint64_t)ms;
    a->stage = ASK_REST;
    a->due_ms = clock_mono_ms() + a->every_ms;
}

bool ask_host_began(struct ask *a, struct span answer)
{
    struct span task = json_get(json_get(answer, "result"), "task");
    struct span id = json_get(task, "taskId");

    if (json_type(id) != JSON_STRING)
        return false;
    a->task = mem_dup(id.p, id.n);
    a->every_ms = EVERY_DEFAULT_MS;
    LOG(CLIENT_TASK, S("tool", a->slot->job.tool->name), S("task", a->slot->job.id),
        S("key", a->key), SP("client_task", id));
    rest(a, task);
    return true;
}

static void fetch(struct ask *a)
{
    a->stage = ASK_RESULT;
    ask_send(a);
}

static void look(struct ask *a, struct span task)
{
    struct span status = json_get(task, "status");

    if (json_is(status, "working"))
        rest(a, task);
    else if (json_is(status, "cancelled"))
        ask_fail(a, ERROR_CODE, "the client has cancelled its task for this question");
    else if (json_is(status, "input_required") || json_is(status, "completed") ||
             json_is(status, "failed"))
        fetch(a);
    else
        ask_fail(a, ERROR_CODE, "the client has no such task, or not in a state that MCP knows");
}

void ask_host_heard(struct ask *a, struct span answer)
{
    struct span error = json_get(answer, "error");
    char key[ASK_KEY_ROOM];

    ask_key(a, key);
    ask_unask(a, key, (struct span){"", 0}); /* the next look is a question of its own */
    if (a->stage == ASK_RESULT)
        ask_finish(a, answer);
    else if (error.p != NULL)
        ask_fail(a, ERROR_CODE, "the client has lost its task for this question");
    else
        look(a, json_get(answer, "result"));
}

static void on_nothing(void *arg, enum err e, enum store_verdict v, struct span answer)
{
    (void)arg;
    (void)e;
    (void)v;
    (void)answer;
}

/* Asked as one that the client might host, for those are not taken back when they are forgotten
 * unanswered. */
static void cancel(const struct ask *a)
{
    struct store_held held = slot_held(a->slot);
    char key[ASK_KEY_ROOM + 2];
    struct buf params;

    (void)snprintf(key, sizeof(key), "%s-c", a->key);
    buf_init(&params, 64 << 10);
    buf_addf(&params, "{\"taskId\":%s}", a->task);
    store_ask(ask_store(a), &held, span_of(key), SPAN("tasks/cancel"), buf_span(&params), true,
              on_nothing, NULL);
    ask_unask(a, key, (struct span){"", 0});
    buf_fini(&params);
}

void ask_host_give_up(const struct ask *a)
{
    char key[ASK_KEY_ROOM];

    if (a->stage == ASK_GET || a->stage == ASK_RESULT) {
        ask_key(a, key);
        ask_unask(a, key, (struct span){"", 0});
    }
    if (a->task != NULL && ask_can_cancel(a->slot->caps))
        cancel(a);
}
