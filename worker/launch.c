#include "worker/launch.h"

#include "worker/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct pipes {
    int in[2];
    int out[2];
    int err[2];
    int control[2];
};

static void close_pair(const int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] != -1)
            (void)close(pair[i]);
}

static void pipes_close(const struct pipes *p)
{
    close_pair(p->in);
    close_pair(p->out);
    close_pair(p->err);
    close_pair(p->control);
}

static bool unblock(int fd)
{
    return fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

static bool pipes_open(struct pipes *p)
{
    memset(p, 0xff, sizeof(*p));
    return pipe2(p->in, O_CLOEXEC) == 0 && pipe2(p->out, O_CLOEXEC) == 0 &&
           pipe2(p->err, O_CLOEXEC) == 0 &&
           socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p->control) == 0 &&
           unblock(p->in[1]) && unblock(p->out[0]) && unblock(p->err[0]);
}

/* All signals are blocked over the fork: a handler of the worker must not run in the keeper. */
static pid_t fork_keeper(int control, const struct keeper_job *job)
{
    pid_t worker = getpid();
    sigset_t all;
    sigset_t old;
    pid_t pid;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &old);
    pid = fork();
    if (pid == 0)
        keeper_run(control, worker, job);
    (void)sigprocmask(SIG_SETMASK, &old, NULL);
    return pid;
}

int launch(struct launched *out, const char *const *argv, const char *const *envp, const char *cwd,
           int talk)
{
    struct pipes p;
    struct keeper_job job = {.argv = argv, .envp = envp, .cwd = cwd, .talk = talk};
    int why;

    out->keeper = -1;
    if (pipes_open(&p)) {
        job.in = p.in[0];
        job.out = p.out[1];
        job.err = p.err[1];
        out->keeper = fork_keeper(p.control[1], &job);
    }
    why = errno;
    if (out->keeper != -1) {
        why = 0;
        *out = (struct launched){out->keeper, p.control[0], p.in[1], p.out[0], p.err[0]};
        p.control[0] = p.in[1] = p.out[0] = p.err[0] = -1;
    }
    pipes_close(&p);
    return why;
}
