#include "worker/run/http_inside.h"

#include "common/clock.h"
#include "common/event.h"
#include "common/json.h"
#include "common/mem.h"
#include "worker/pointer.h"
#include "worker/result.h"

#include <stdlib.h>
#include <string.h>

enum {
    WHY_MAX = 8192,
    AGAIN_MS = 250, /* before a second submit, result or cancel */
    CANCELS_MAX = 5,
    REFUSALS_MAX = 3, /* polls in a row: it may not be seen everywhere yet */
    HANDLE_MAX = 4096,
    CONFLICT = 409,
    STATE_SHOWN = 100,
};

#define JOB_FIELDS(o) \
    S("tool", (o)->job->tool->name), S("task", (o)->job->id), N("attempt", (o)->job->attempt)

/* The answer is there: fetch is over. */
static void heard(struct http_one *o)
{
    o->fetch = NULL;
}

/* The step failed in passing: again, or no more. */
static void fail(struct http_one *o, const struct fetch *f, const char *step, struct buf *why,
                 unsigned most)
{
    uint64_t base = o->sm.state == HTTP_POLLING ? o->tool->every_ms : AGAIN_MS;

    o->tries++;
    if (o->tries > most) {
        http_end_passing(o, buf_span(why));
        return;
    }
    if (o->tries == 1)
        LOG(WORK_UNANSWERED, JOB_FIELDS(o), S("step", step), SP("why", buf_span(why)));
    http_again(o, f, base);
}

void http_give_up(struct http_one *o, struct span text)
{
    if (o->tool->cancel.url == NULL || o->handle.n == 0) {
        http_end_error(o, text);
        return;
    }
    o->verdict = mem_dup(text.p, text.n);
    sm_move(&o->sm, HTTP_CANCELLING);
    o->tries = 0;
    http_cancel(o);
}

/* --- submit --- */

static bool is_handle(struct span value)
{
    return (json_type(value) == JSON_NUMBER || (json_type(value) == JSON_STRING && value.n > 2)) &&
           value.n <= HANDLE_MAX;
}

static void have_handle(struct http_one *o, struct span handle)
{
    buf_reset(&o->handle);
    buf_add_span(&o->handle, handle);
    LOG(WORK_BEGUN, JOB_FIELDS(o));
    o->tries = 0;
    if (o->is_stopping && o->job->stop == RUN_UNWANTED) {
        sm_move(&o->sm, HTTP_CANCELLING);
        http_cancel(o);
        return;
    }
    sm_move(&o->sm, HTTP_KEEPING);
    o->all->runner.sink->keep(o->job, buf_span(&o->handle));
}

/* False: it is no JSON, which may be a bad moment. */
static bool read_submitted(struct http_one *o, struct span body, struct buf *why)
{
    const char *what;
    struct span handle;

    if (json_check_limits(body, 0, 0, &what, NULL) != ERR_OK) {
        buf_addf(why, "submit: the answer is no JSON: %s", what);
        return false;
    }
    handle = pointer_at(body, o->tool->job);
    if (is_handle(handle)) {
        have_handle(o, handle);
        return true;
    }
    buf_addf(why, "submit: the answer has no job at %s", o->tool->job);
    http_end_error(o, buf_span(why));
    return true;
}

static void on_submitted(void *arg, struct fetch *f, const struct fetch_answer *a)
{
    struct http_one *o = arg;
    enum http_worth worth = http_worth(a);
    struct buf why;

    heard(o);
    buf_init(&why, WHY_MAX);
    if (worth == HTTP_GOOD) {
        if (read_submitted(o, a->body, &why))
            goto out;
        worth = HTTP_PASSING;
    } else {
        http_describe(&why, o, "submit", a);
    }
    if (o->is_stopping)
        http_end_stopped(o);
    else if (worth == HTTP_PASSING ||
             a->status == CONFLICT) /* the same submit is being worked on */
        fail(o, f, "submit", &why, o->tool->retries);
    else
        http_end_error(o, buf_span(&why));
out:
    buf_fini(&why);
}

void http_submit(struct http_one *o)
{
    const char *bad;

    if (!http_ask(o, &o->tool->submit, on_submitted, &bad))
        http_end_error(o, span_of(bad));
}

/* --- poll --- */

static void say(struct http_one *o, struct span json)
{
    const struct tool_http *t = o->tool;
    struct span progress = t->progress != NULL ? pointer_at(json, t->progress) : (struct span){0};
    struct span total = {NULL, 0};
    char *message = t->message != NULL ? tool_text(pointer_at(json, t->message)) : NULL;
    struct buf number;
    struct buf text;

    buf_init(&number, WHY_MAX);
    buf_init(&text, WHY_MAX);
    if (t->total != NULL)
        total = t->total[0] == '/' ? pointer_at(json, t->total) : span_of(t->total);
    if (json_type(progress) == JSON_NUMBER) {
        buf_addf(&number, "{\"progress\":%.*s", (int)progress.n, progress.p);
        if (json_type(total) == JSON_NUMBER)
            buf_addf(&number, ",\"total\":%.*s", (int)total.n, total.p);
        buf_addc(&number, '}');
    }
    if (message != NULL)
        http_add_said(&text, span_of(message), RESULT_MESSAGE_MAX, t);
    o->all->runner.sink->said(o->job, message != NULL ? buf_span(&text) : (struct span){NULL, 0},
                              number.n > 0 && buf_ok(&number) ? buf_span(&number)
                                                              : (struct span){NULL, 0});
    free(message);
    buf_fini(&number);
    buf_fini(&text);
}

static void end_failed(struct http_one *o, struct span json, struct span state, const char *what)
{
    char *message = o->tool->message != NULL ? tool_text(pointer_at(json, o->tool->message)) : NULL;
    struct buf text;

    buf_init(&text, WHY_MAX);
    if (message != NULL && message[0] != '\0') {
        http_add_said(&text, span_of(message), RESULT_MESSAGE_MAX, o->tool);
        buf_addc(&text, '\n');
    }
    buf_addf(&text, "%s: its state is %.*s", what, (int)(state.n < STATE_SHOWN ? state.n : 0),
             state.p);
    http_hide_secrets(&text, o->tool);
    http_end_error(o, buf_span(&text));
    buf_fini(&text);
    free(message);
}

static void completed(struct http_one *o, struct span json)
{
    struct buf why;

    sm_move(&o->sm, HTTP_FETCHING);
    o->tries = 0;
    if (o->tool->result.url != NULL) {
        http_fetch_result(o);
        return;
    }
    buf_init(&why, WHY_MAX);
    if (!http_end_result(o, json, &why))
        http_end_error(o, buf_span(&why));
    buf_fini(&why);
}

/* Goes on looking, but not for ever. */
static bool is_odd(struct http_one *o, struct span state, struct buf *why)
{
    struct span shown = {state.p, state.n < STATE_SHOWN ? state.n : STATE_SHOWN};

    if (o->odd++ == 0)
        LOG(WORK_STATE_UNKNOWN, JOB_FIELDS(o), SP("state", shown));
    if (o->odd <= o->tool->failures)
        return false;
    buf_addf(why, "its state is %.*s, which the tool does not know", (int)shown.n, shown.p);
    http_give_up(o, buf_span(why));
    return true;
}

bool http_look(struct http_one *o, struct span json, struct buf *why)
{
    const char *what;
    struct span state;

    if (json_check_limits(json, 0, 0, &what, NULL) != ERR_OK) {
        buf_addf(why, "poll: the answer is no JSON: %s", what);
        return false;
    }
    state = pointer_at(json, o->tool->state);
    if (state.p == NULL) {
        buf_addf(why, "poll: the answer has no state at %s", o->tool->state);
        return false;
    }
    switch (tool_http_state(o->tool, state)) {
    case HTTP_COMPLETED:
        completed(o, json);
        return true;
    case HTTP_FAILED:
        end_failed(o, json, state, "the job failed");
        return true;
    case HTTP_CANCELLED:
        end_failed(o, json, state, "the job was cancelled by others");
        return true;
    case HTTP_WORKING:
        o->odd = 0;
        say(o, json);
        return false;
    case HTTP_UNKNOWN:
        break;
    }
    return is_odd(o, state, why);
}

static void poll_later(struct http_one *o)
{
    const struct tool_http *t = o->tool;

    o->tries = 0;
    o->refused = 0;
    http_in(o, clock_jitter(o->every_ms, 10));
    if (t->every_max_ms != 0)
        o->every_ms = o->every_ms * 3 / 2 < t->every_max_ms ? o->every_ms * 3 / 2 : t->every_max_ms;
}

static void on_polled(void *arg, struct fetch *f, const struct fetch_answer *a)
{
    struct http_one *o = arg;
    enum http_worth worth = http_worth(a);
    struct buf why;

    heard(o);
    buf_init(&why, WHY_MAX);
    if (worth == HTTP_GOOD) {
        if (http_look(o, a->body, &why))
            goto out;
        if (why.n == 0) {
            poll_later(o);
            goto out;
        }
    } else {
        http_describe(&why, o, "poll", a);
    }
    o->refused = worth == HTTP_REFUSED ? o->refused + 1 : 0;
    if (o->refused >= REFUSALS_MAX)
        http_give_up(o, buf_span(&why));
    else
        fail(o, f, "poll", &why, o->tool->failures);
out:
    buf_fini(&why);
}

void http_poll(struct http_one *o)
{
    const char *bad;

    if (!http_ask(o, &o->tool->poll, on_polled, &bad))
        http_give_up(o, span_of(bad));
}

/* --- the result --- */

static void on_fetched(void *arg, struct fetch *f, const struct fetch_answer *a)
{
    struct http_one *o = arg;
    enum http_worth worth = http_worth(a);
    struct buf why;

    heard(o);
    buf_init(&why, WHY_MAX);
    if (worth == HTTP_GOOD) {
        if (http_end_result(o, a->body, &why))
            goto out;
        worth = o->tries < o->tool->retries ? HTTP_PASSING : HTTP_REFUSED;
    } else {
        http_describe(&why, o, "result", a);
    }
    if (worth == HTTP_PASSING)
        fail(o, f, "result", &why, o->tool->retries);
    else
        http_end_error(o, buf_span(&why));
out:
    buf_fini(&why);
}

void http_fetch_result(struct http_one *o)
{
    const char *bad;

    if (!http_ask(o, &o->tool->result, on_fetched, &bad))
        http_end_error(o, span_of(bad));
}

/* --- cancel --- */

static void on_cancelled(void *arg, struct fetch *f, const struct fetch_answer *a)
{
    struct http_one *o = arg;
    struct buf why;

    heard(o);
    if (http_worth(a) == HTTP_PASSING && ++o->tries < CANCELS_MAX) {
        http_again(o, f, AGAIN_MS);
        return;
    }
    /* It is over, or was never there: that is what was wanted. */
    if (http_worth(a) != HTTP_GOOD && a->status != 404 && a->status != CONFLICT &&
        a->status != 410) {
        buf_init(&why, WHY_MAX);
        http_describe(&why, o, "cancel", a);
        LOG(WORK_NOT_STOPPED, JOB_FIELDS(o), SP("why", buf_span(&why)));
        buf_fini(&why);
    }
    http_end_stopped(o);
}

void http_cancel(struct http_one *o)
{
    const char *bad = "it has no request for that";

    if (o->tool->cancel.url != NULL && http_ask(o, &o->tool->cancel, on_cancelled, &bad))
        return;
    LOG(WORK_NOT_STOPPED, JOB_FIELDS(o), S("why", bad));
    sm_move(&o->sm, HTTP_ENDING);
    http_in(o, 0);
}
