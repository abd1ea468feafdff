#include "worker/upstream/stdio.h"

#include "common/clock.h"
#include "common/event.h"
#include "common/mem.h"
#include "worker/result.h"
#include "worker/run/env.h"
#include "worker/tool_text.h"
#include "worker/upstream/lines.h"

#include <event2/event.h>
#include <stdlib.h>

enum { WHY_MAX = 64 << 10, SAID_MAX = 1 << 20, GRACE_MS = 5000, HANG_UP_MS = 500 };

struct stdio {
    struct transport transport;
    struct tool_server *server;
    struct child *child; /* NULL: never started, or ended */
    struct lines lines;
    struct event *timer; /* for who was never started, or does not end by itself */
    uint64_t grace_ms;
    char *why; /* it was never started */
};

static void on_line(void *arg, struct span text)
{
    const struct stdio *s = arg;

    s->transport.sink->heard(s->transport.arg, text, 0);
}

static void on_long(void *arg, struct span id)
{
    const struct stdio *s = arg;

    s->transport.sink->missed(s->transport.arg, id);
}

static void stdio_close(struct transport *t, uint64_t grace_ms);

/* One that cannot answer any more is no server. */
static void on_out(void *arg, struct span bytes)
{
    struct stdio *s = arg;

    if (bytes.p == NULL)
        stdio_close(&s->transport, GRACE_MS);
    else
        lines_feed(&s->lines, bytes);
}

/* --- its end --- */

static struct span last_words(struct span err)
{
    enum { SHOWN_MAX = 1024 };

    while (err.n > 0 && strchr(" \t\r\n", err.p[err.n - 1]) != NULL)
        err.n--;
    if (err.n > SHOWN_MAX)
        err = (struct span){err.p + err.n - SHOWN_MAX, SHOWN_MAX};
    return err;
}

/* What it had in its environment, and complains of, stays with it. */
static void add_last_words(struct buf *why, const struct stdio *s, struct span err)
{
    const struct tool_list *env = &s->server->env;
    struct buf said;
    struct span shown;

    buf_init(&said, SAID_MAX);
    buf_add_span(&said, err);
    for (size_t i = 1; i < env->n; i += 2)
        text_hide_named(&said, env->items[i]);
    shown = last_words(buf_span(&said));
    if (shown.n > 0) {
        buf_adds(why, "; it said last: ");
        buf_add_span(why, shown);
    }
    buf_wipe(&said);
}

static void describe_end(struct buf *why, const struct stdio *s, const struct child_end *end)
{
    if (end->how == CHILD_EXITED)
        buf_addf(why, "exit status %d", end->value);
    else if (end->how == CHILD_SIGNALLED)
        buf_addf(why, "killed by signal %d (%s)", end->value, strsignal(end->value));
    else if (end->how == CHILD_NOT_STARTED)
        buf_addf(why, "it could not be started: %s", strerror(end->value));
    else
        buf_adds(why, "its keeper was killed");
    add_last_words(why, s, end->err);
}

static void on_ended(void *arg, const struct child_end *end)
{
    struct stdio *s = arg;
    struct buf why;

    s->child = NULL;
    (void)event_del(s->timer);
    buf_init(&why, WHY_MAX);
    describe_end(&why, s, end);
    s->transport.sink->gone(s->transport.arg, buf_span(&why).p);
    buf_fini(&why);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct stdio *s = arg;

    (void)fd;
    (void)what;
    if (s->why != NULL)
        s->transport.sink->gone(s->transport.arg, s->why);
    else if (s->child != NULL)
        child_stop(s->child, s->grace_ms);
}

/* --- the transport --- */

static void stdio_send(struct transport *t, struct span message, uint64_t number)
{
    const struct stdio *s = (struct stdio *)(void *)t;

    (void)number;
    if (s->child == NULL)
        return;
    child_write(s->child, message);
    child_write(s->child, SPAN("\n"));
}

static void stdio_forget(struct transport *t, uint64_t number)
{
    (void)t;
    (void)number;
}

static void stdio_agreed(struct transport *t, const char *version)
{
    (void)t;
    (void)version;
}

/* As MCP wants it: first its input ends, then it is told to, then it is made to. */
static void stdio_close(struct transport *t, uint64_t grace_ms)
{
    struct stdio *s = (struct stdio *)(void *)t;
    struct timeval in = clock_timeval(grace_ms < HANG_UP_MS ? grace_ms : HANG_UP_MS);

    if (s->child == NULL)
        return;
    child_hang_up(s->child);
    s->grace_ms = grace_ms < HANG_UP_MS ? 0 : grace_ms - HANG_UP_MS;
    if (grace_ms == 0)
        child_stop(s->child, 0);
    else
        (void)event_add(s->timer, &in);
}

static void stdio_free(struct transport *t)
{
    struct stdio *s = (struct stdio *)(void *)t;

    if (s->child != NULL)
        child_abandon(s->child);
    event_free(s->timer);
    lines_fini(&s->lines);
    tool_server_let_go(s->server);
    free(s->why);
    free(s);
}

static void start(struct stdio *s, struct children *set, const struct tool_server *server,
                  const struct run_job *job)
{
    const struct child_conf conf = {.argv = (const char *const *)server->command.items,
                                    .cwd = server->cwd,
                                    .on_out = on_out,
                                    .grace_ms = GRACE_MS};
    struct child_conf with_env = conf;
    struct timeval now = {0};
    struct buf why;
    struct env env;

    buf_init(&why, WHY_MAX);
    if (env_of_server(&env, server, job, &why)) {
        with_env.envp = (const char *const *)env.items;
        s->child = child_start(set, &with_env, on_ended, s);
    } else {
        s->why = mem_strdup(buf_span(&why).p);
        (void)event_add(s->timer, &now);
    }
    env_fini(&env);
    buf_fini(&why);
}

struct transport *stdio_open(struct children *set, struct tool_server *server,
                             const struct run_job *job, const struct transport_sink *sink,
                             void *arg)
{
    struct stdio *s = mem_zalloc(sizeof(*s));

    s->transport = (struct transport){.sink = sink,
                                      .arg = arg,
                                      .send = stdio_send,
                                      .forget = stdio_forget,
                                      .agreed = stdio_agreed,
                                      .close = stdio_close,
                                      .free = stdio_free};
    s->server = tool_server_hold(server);
    lines_init(&s->lines, on_line, on_long, s);
    s->timer = evtimer_new(children_base(set), on_timer, s);
    if (s->timer == NULL)
        abort();
    start(s, set, server, job);
    return &s->transport;
}
