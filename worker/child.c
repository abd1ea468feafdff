#include "worker/child.h"

#include "common/clock.h"
#include "common/mem.h"
#include "worker/child_inside.h"
#include "worker/keeper.h"
#include "worker/kin.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KIN_ROOM = 4096 };

struct children {
    struct event_base *base;
    struct event *on_sigchld;
    struct list all;
    size_t n;
    bool strangers; /* a keeper died before its job: what was below it is ours now */
};

static void child_free(struct child *c)
{
    list_del(&c->node);
    c->set->n--;
    child_io_close(c);
    if (c->control != -1)
        (void)close(c->control);
    event_free(c->timer);
    buf_fini(&c->out_bytes);
    buf_fini(&c->input);
    free(c);
}

/* --- its end --- */

static void tell_end(struct child *c)
{
    child_io_drain(c);
    c->result.out = (struct span){c->out_bytes.n > 0 ? c->out_bytes.p : "", c->out_bytes.n};
    c->result.err = child_said(c);
    c->fn(c->arg, &c->result);
    child_free(c);
}

static void keeper_has_ended(struct child *c)
{
    static const enum child_how hows[] = {[KEEPER_EXITED] = CHILD_EXITED,
                                          [KEEPER_SIGNALLED] = CHILD_SIGNALLED,
                                          [KEEPER_NOT_STARTED] = CHILD_NOT_STARTED};
    struct keeper_end said;

    c->keeper = 0;
    c->result.how = CHILD_LOST;
    if (recv(c->control, &said, sizeof(said), MSG_DONTWAIT) == sizeof(said)) {
        c->result.how = hows[said.how];
        c->result.value = said.value;
    } else {
        c->set->strangers = true;
    }
    tell_end(c);
}

static struct child *child_of(struct children *set, pid_t keeper)
{
    /* Who is freed is off the list. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    LIST_EACH(&set->all, it)
    {
        struct child *c = LIST_OF(it, struct child, node);

        if (c->keeper == keeper)
            return c;
    }
    return NULL;
}

/* Kills what fell to us from a dead keeper. Each of those that dies hands its own children on to
 * us before its SIGCHLD arrives, so this runs again until nobody is left. */
static void kill_strangers(struct children *set)
{
    static pid_t kin[KIN_ROOM];
    size_t n = kin_list(kin, KIN_ROOM);

    set->strangers = false;
    for (size_t i = 0; i < n; i++) {
        if (child_of(set, kin[i]) != NULL)
            continue;
        set->strangers = true;
        (void)kill(kin[i], SIGKILL);
    }
}

static void on_sigchld(evutil_socket_t sig, short what, void *arg)
{
    struct children *set = arg;
    pid_t pid;

    (void)sig;
    (void)what;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        struct child *c = child_of(set, pid);

        if (c != NULL)
            keeper_has_ended(c);
    }
    if (set->strangers)
        kill_strangers(set);
}

static void send_order(struct child *c, enum keeper_order order)
{
    char byte = (char)order;

    if (c->keeper == 0)
        return;
    (void)!send(c->control, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)kill(c->keeper, SIGCONT); /* a job may have stopped it */
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct child *c = arg;

    (void)fd;
    (void)what;
    if (c->keeper == 0)
        tell_end(c);
    else
        send_order(c, KEEPER_KILL);
}

void child_stop(struct child *c, uint64_t grace_ms)
{
    struct timeval after = clock_timeval(grace_ms);
    struct timeval due;

    if (c->keeper == 0)
        return;
    if (grace_ms == 0) {
        send_order(c, KEEPER_KILL);
        return;
    }
    if (event_pending(c->timer, EV_TIMEOUT, &due)) {
        struct timeval now;
        struct timeval end;

        (void)event_base_gettimeofday_cached(c->set->base, &now);
        evutil_timeradd(&now, &after, &end);
        if (!evutil_timercmp(&end, &due, <))
            return;
    } else {
        send_order(c, KEEPER_TERM);
    }
    (void)event_add(c->timer, &after);
}

/* --- its beginning --- */

struct child *child_start(struct children *set, const struct child_conf *conf, child_fn *fn,
                          void *arg)
{
    struct child *c = mem_zalloc(sizeof(*c));
    struct launched l;
    struct timeval now = {0};

    c->set = set;
    c->fn = fn;
    c->arg = arg;
    c->control = c->in.fd = c->out.fd = c->err.fd = -1;
    c->out_max = conf->out_max;
    c->grace_ms = conf->grace_ms;
    buf_init(&c->input, CHILD_UNREAD_MAX + conf->input.n);
    buf_add_span(&c->input, conf->input);
    c->on_out = conf->on_out;
    c->is_open = conf->on_out != NULL;
    buf_init(&c->out_bytes, conf->out_max);
    c->timer = evtimer_new(set->base, on_timer, c);
    if (c->timer == NULL)
        abort();
    list_add_tail(&set->all, &c->node);
    set->n++;
    c->result.value =
        launch(&l, conf->argv, conf->envp, conf->cwd, conf->talk > 0 ? conf->talk : -1);
    if (c->result.value == 0) {
        c->keeper = l.keeper;
        c->control = l.control;
        child_io_open(c, set->base, &l);
    } else {
        c->result.how = CHILD_NOT_STARTED;
        (void)event_add(c->timer, &now);
    }
    return c;
}

struct children *children_new(struct event_base *base)
{
    struct children *set = mem_zalloc(sizeof(*set));

    set->base = base;
    list_init(&set->all);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)signal(SIGPIPE, SIG_IGN);
    set->on_sigchld = evsignal_new(base, SIGCHLD, on_sigchld, set);
    if (set->on_sigchld == NULL || event_add(set->on_sigchld, NULL) != 0)
        abort();
    return set;
}

void child_abandon(struct child *c)
{
    send_order(c, KEEPER_KILL);
    child_free(c); /* its keeper sees the socket close, too */
}

void children_free(struct children *set)
{
    LIST_EACH(&set->all, it)
    child_abandon(LIST_OF(it, struct child, node));
    event_free(set->on_sigchld);
    free(set);
}

size_t children_count(const struct children *set)
{
    return set->n;
}

struct event_base *children_base(const struct children *set)
{
    return set->base;
}
