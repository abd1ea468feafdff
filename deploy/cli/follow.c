/* Up to three requests at a time:
 *
 *     tasks/result   waits at the broker, and its stream carries what the job tells and asks; lost
 *                    -> asked again; its answer ends all this
 *     tasks/get      soon, then at the task's pollInterval; its answer is shown
 *     tasks/cancel   after Ctrl-C, until it has been answered */
#include "deploy/cli/follow.h"

#include "common/clock.h"
#include "common/json.h"
#include "deploy/cli/command.h"
#include "deploy/cli/say.h"
#include "deploy/cli/status.h"
#include "deploy/cli/stop.h"

#include <stdio.h>
#include <unistd.h>

enum {
    TURN_MS = 100,
    FIRST_LOOK_MS = 200,
    POLL_MS = 1000, /* when the task names no interval */
    POLL_MIN_MS = 50,
    AGAIN_MIN_MS = 100,
    AGAIN_MAX_MS = 3000,
    TEXT_MAX = 300 << 20,
};

enum { RESULT, GET, CANCEL, LEGS };
static const char *const methods[LEGS] = {"tasks/result", "tasks/get", "tasks/cancel"};
static const uint64_t NEVER = UINT64_MAX;

struct watch {
    struct mcp *m;
    const struct conf *c;
    const char *id;
    struct buf params;
    struct person *person;
    struct status *status;
    struct {
        struct mcp_request *request;
        uint64_t due_ms;
    } legs[LEGS];
    uint64_t again_ms; /* grows while the broker is away */
    bool cancel; /* Ctrl-C cancels */
    unsigned stops; /* seen so far */
    int exit_status; /* of what has ended it */
    bool over;
};

int follow_print(const struct conf *c, enum mcp_end end, const struct mcp_reply *r,
                 const struct buf *why)
{
    struct span is_error = json_get(r->value, "isError");
    struct buf out;
    bool failed = false;

    if (end != MCP_RESULT && end != MCP_ERROR)
        return end == MCP_STOPPED ? EXIT_STOPPED : complain(EXIT_FAILED, "%s", why->p);
    buf_init(&out, TEXT_MAX);
    if (c->json && end == MCP_ERROR) {
        buf_adds(&out, "{\"error\":");
        buf_add_span(&out, r->value);
        buf_addc(&out, '}');
    } else if (c->json) {
        buf_add_span(&out, r->value);
    } else if (end == MCP_RESULT) {
        say_result(&out, r->value, isatty(STDOUT_FILENO) == 1);
    }
    say_out(&out);
    buf_fini(&out);
    if (end == MCP_ERROR && !c->json)
        return complain(EXIT_FAILED, "%s", why->p);
    return end == MCP_ERROR || (json_bool(is_error, &failed) && failed) ? EXIT_FAILED : EXIT_OK;
}

static void broker_away(struct watch *w, const struct buf *why)
{
    struct buf text;

    buf_init(&text, 1024);
    buf_add_json(&text, buf_span(why));
    status_show(w->status, "trying again", buf_span(&text));
    buf_fini(&text);
}

/* A request that brought no answer: the session is made again if need be, and how long to wait. */
static uint64_t recover(struct watch *w, enum mcp_end end, const struct mcp_reply *r,
                        struct buf *why)
{
    uint64_t wait = w->again_ms;

    if (end == MCP_GONE) {
        buf_reset(why);
        end = mcp_open(w->m, why);
        if (end == MCP_RESULT)
            return 0;
    }
    broker_away(w, why);
    if (end == MCP_BUSY && r->retry_s != 0)
        return (uint64_t)r->retry_s * 1000;
    w->again_ms = wait * 2 < AGAIN_MAX_MS ? wait * 2 : AGAIN_MAX_MS;
    return wait;
}

static bool is_passing(enum mcp_end end)
{
    return end == MCP_LOST || end == MCP_BUSY || end == MCP_GONE;
}

static void show(struct watch *w, struct span task)
{
    char state[32] = "";
    int64_t poll_ms = POLL_MS;

    (void)json_string(json_get(task, "status"), state, sizeof(state));
    status_show(w->status, w->stops > 0 ? "cancelling" : state, json_get(task, "statusMessage"));
    (void)json_int(json_get(task, "pollInterval"), &poll_ms);
    w->legs[GET].due_ms =
        clock_mono_ms() + (uint64_t)(poll_ms > POLL_MIN_MS ? poll_ms : POLL_MIN_MS);
}

static void finish(struct watch *w, enum mcp_end end, const struct mcp_reply *r,
                   const struct buf *why)
{
    status_end(w->status);
    w->over = true;
    w->exit_status = w->stops > 0 && end == MCP_ERROR ? complain(EXIT_STOPPED, "cancelled")
                                                      : follow_print(w->c, end, r, why);
}

/* The broker is there: what waits for it need not wait any more. */
static void answered(struct watch *w, unsigned leg, const struct mcp_reply *r)
{
    w->again_ms = AGAIN_MIN_MS;
    w->legs[RESULT].due_ms = 0;
    if (leg == GET)
        show(w, r->value);
}

static void end_leg(struct watch *w, unsigned leg)
{
    struct mcp_reply r;
    struct buf why;
    enum mcp_end end;

    mcp_reply_init(&r);
    buf_init(&why, 4096);
    end = mcp_end(w->legs[leg].request, &r, &why);
    w->legs[leg].request = NULL;
    w->legs[leg].due_ms = leg == GET ? clock_mono_ms() + POLL_MS : NEVER;
    if (is_passing(end))
        w->legs[leg].due_ms = clock_mono_ms() + recover(w, end, &r, &why);
    else if (leg == RESULT)
        finish(w, end, &r, &why);
    else if (end == MCP_RESULT)
        answered(w, leg, &r);
    mcp_reply_fini(&r);
    buf_fini(&why);
}

static void look_at_stops(struct watch *w)
{
    unsigned stops = stop_count();

    if (stops == w->stops)
        return;
    w->stops = stops;
    if (w->cancel && stops == 1) {
        w->legs[CANCEL].due_ms = 0;
        status_show(w->status, "cancelling", (struct span){NULL, 0});
        return;
    }
    status_end(w->status);
    (void)fprintf(stderr, "errand: left as it is; errand result %s brings what becomes of it\n",
                  w->id);
    w->over = true;
    w->exit_status = EXIT_STOPPED;
}

static void turn(struct watch *w)
{
    for (unsigned i = 0; i < LEGS; i++)
        if (w->legs[i].request == NULL && clock_mono_ms() >= w->legs[i].due_ms)
            w->legs[i].request = mcp_begin(w->m, methods[i], buf_span(&w->params),
                                           i == RESULT ? person_note : NULL, w->person);
    mcp_turn(w->m, TURN_MS);
    for (unsigned i = 0; i < LEGS && !w->over; i++)
        if (w->legs[i].request != NULL && mcp_is_done(w->legs[i].request))
            end_leg(w, i);
    if (!w->over)
        look_at_stops(w);
}

int follow(struct mcp *m, const struct conf *c, struct person *p, const char *id, bool cancel)
{
    struct watch w = {.m = m, .c = c, .id = id, .again_ms = AGAIN_MIN_MS, .cancel = cancel};

    w.person = p;
    w.status = person_status(p);
    w.legs[GET].due_ms = clock_mono_ms() + FIRST_LOOK_MS;
    w.legs[CANCEL].due_ms = NEVER;
    w.stops = 0;
    buf_init(&w.params, 4096);
    buf_adds(&w.params, "{\"taskId\":");
    buf_add_json(&w.params, span_of(id));
    buf_addc(&w.params, '}');
    while (!w.over)
        turn(&w);
    for (unsigned i = 0; i < LEGS; i++)
        if (w.legs[i].request != NULL)
            (void)mcp_end(w.legs[i].request, NULL, NULL);
    status_end(w.status);
    buf_fini(&w.params);
    return w.exit_status;
}
