/* errand tail: one task from now to its end, a line for each change. It only reads: whoever waits
 * for the task's questions and messages still gets them. */
#include "common/clock.h"
#include "common/json.h"
#include "deploy/cli/command.h"
#include "deploy/cli/conf.h"
#include "deploy/cli/follow.h"
#include "deploy/cli/say.h"
#include "deploy/cli/stop.h"

#include <stdio.h>
#include <string.h>

enum { POLL_MS = 1000, POLL_MIN_MS = 50, TURN_MS = 50, LINE_MAX = 64 << 10 };

struct tail {
    struct mcp *m;
    const struct conf *c;
    struct buf params;
    struct buf last; /* the line shown last, without its time */
    uint64_t poll_ms;
};

static void add_member(struct buf *out, struct span task, const char *name, const char *before)
{
    struct buf text;

    buf_init(&text, LINE_MAX);
    say_string(&text, json_get(task, name), false);
    if (text.n > 0) {
        buf_adds(out, before);
        buf_add_span(out, buf_span(&text));
    }
    buf_fini(&text);
}

/* For people: when it changed, what it is, what it says. */
static void show(struct tail *t, struct span task)
{
    struct buf line;

    buf_init(&line, LINE_MAX);
    add_member(&line, task, "status", "");
    add_member(&line, task, "statusMessage", "  ");
    if (t->last.n == 0 || !span_is(buf_span(&line), t->last.p)) {
        struct buf out;

        buf_init(&out, LINE_MAX + 64);
        add_member(&out, task, "lastUpdatedAt", "");
        buf_adds(&out, "  ");
        buf_add_span(&out, buf_span(&line));
        say_out(&out);
        buf_fini(&out);
    }
    buf_fini(&t->last);
    t->last = line;
}

/* For programs: the task as it came, when anything in it changed. */
static void show_json(struct tail *t, struct span task)
{
    struct buf line;

    buf_init(&line, LINE_MAX);
    buf_add_span(&line, task);
    if (t->last.n == 0 || !span_is(buf_span(&line), t->last.p))
        say_out(&line);
    buf_fini(&t->last);
    t->last = line;
}

/* -1: it goes on. */
static int status_of(struct span task)
{
    char state[32] = "";

    (void)json_string(json_get(task, "status"), state, sizeof(state));
    if (strcmp(state, "completed") == 0)
        return EXIT_OK;
    return strcmp(state, "failed") == 0 || strcmp(state, "cancelled") == 0 ? EXIT_FAILED : -1;
}

static void take(struct tail *t, struct span task)
{
    int64_t poll_ms = POLL_MS;

    if (t->c->json)
        show_json(t, task);
    else
        show(t, task);
    (void)fflush(stdout);
    (void)json_int(json_get(task, "pollInterval"), &poll_ms);
    t->poll_ms = poll_ms > POLL_MIN_MS ? (uint64_t)poll_ms : POLL_MIN_MS;
}

static int look(struct tail *t)
{
    struct mcp_reply r;
    struct buf why;
    enum mcp_end end;
    int status;

    mcp_reply_init(&r);
    buf_init(&why, 4096);
    end = mcp_call(t->m, "tasks/get", buf_span(&t->params), NULL, NULL, &r, &why);
    if (end == MCP_RESULT) {
        take(t, r.value);
        status = status_of(r.value);
    } else {
        status = follow_print(t->c, end, &r, &why);
    }
    mcp_reply_fini(&r);
    buf_fini(&why);
    return status;
}

static void pause_between(struct tail *t)
{
    uint64_t until = clock_mono_ms() + t->poll_ms;

    while (stop_count() == 0 && clock_mono_ms() < until)
        mcp_turn(t->m, TURN_MS);
}

int cmd_tail(const struct conf *c, char **args, size_t count)
{
    struct tail t = {.m = mcp_new(c->url, c->key), .c = c, .poll_ms = POLL_MS};
    int status;

    (void)count;
    stop_init();
    buf_init(&t.params, 1 << 20);
    buf_init(&t.last, LINE_MAX);
    buf_adds(&t.params, "{\"taskId\":");
    buf_add_json(&t.params, span_of(args[0]));
    buf_addc(&t.params, '}');
    while ((status = look(&t)) < 0) {
        pause_between(&t);
        if (stop_count() > 0) {
            status = EXIT_STOPPED;
            break;
        }
    }
    buf_fini(&t.params);
    buf_fini(&t.last);
    mcp_free(t.m);
    return status;
}
