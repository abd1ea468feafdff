#include "tests/lib/term.h"

#include "common/mem.h"
#include "tests/lib/proc.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEEN_MAX = 1 << 20 };

void term_start(struct term *t, const char *const *argv, const char *const *env)
{
    struct winsize size = {.ws_row = 24, .ws_col = 100};

    memset(t, 0, sizeof(*t));
    t->seen = mem_zalloc(SEEN_MAX + 1);
    t->out_fd = prog_temporary();
    t->pid = forkpty(&t->fd, NULL, NULL, &size);
    if (t->pid == -1)
        exit(2);
    if (t->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)signal(SIGPIPE, SIG_DFL);
        (void)dup2(t->out_fd, 1);
        prog_become(argv, env);
    }
}

/* A terminal whose program has ended reads as an error. */
static void read_some(struct term *t)
{
    struct pollfd poll_fd = {.fd = t->fd, .events = POLLIN};
    ssize_t n;

    if (poll(&poll_fd, 1, 0) <= 0 || t->n == SEEN_MAX)
        return;
    n = read(t->fd, t->seen + t->n, SEEN_MAX - t->n);
    if (n > 0)
        t->n += (size_t)n;
}

struct showing {
    struct term *t;
    const char *text;
};

static bool has_shown(void *arg)
{
    const struct showing *s = arg;
    const char *at;

    read_some(s->t);
    at = strstr(s->t->seen + s->t->from, s->text);
    if (at != NULL)
        s->t->from = (size_t)(at - s->t->seen) + strlen(s->text);
    return at != NULL;
}

bool term_says(struct term *t, const char *text)
{
    struct showing s = {t, text};

    return wait_for(10000, has_shown, &s);
}

void term_type(struct term *t, const char *text)
{
    if (write(t->fd, text, strlen(text)) != (ssize_t)strlen(text))
        exit(2);
}

static bool has_ended(void *arg)
{
    struct term *t = arg;

    read_some(t);
    t->status = proc_wait(t->pid, 0);
    return t->status != -1;
}

bool term_end(struct term *t, unsigned ms)
{
    bool ended = wait_for(ms, has_ended, t);

    if (!ended) {
        (void)kill(t->pid, SIGKILL);
        (void)waitpid(t->pid, NULL, 0);
    }
    read_some(t);
    t->out = prog_read(t->out_fd);
    (void)close(t->out_fd);
    (void)close(t->fd);
    return ended;
}

void term_fini(struct term *t)
{
    free(t->seen);
    free(t->out);
    t->seen = NULL;
    t->out = NULL;
}
