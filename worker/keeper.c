#include "worker/keeper.h"

#include "worker/kin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILL_AGAIN_MS = 5 };

struct keeper {
    int control;
    int signals;
    pid_t worker;
    pid_t first; /* the job's first process; 0 once it is reaped: its number may be anyone's */
    bool told_to_end;
    bool killing;
    struct keeper_end end;
};

static bool is_one_of(int fd, const int *keep, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (keep[i] == fd)
            return true;
    return false;
}

/* The worker's other sockets must not live on in a keeper: their closing means something. */
static void close_all_but(const int *keep, size_t n)
{
    int last = 2;

    for (size_t i = 0; i < n; i++)
        last = keep[i] > last ? keep[i] : last;
    for (int fd = 3; fd < last; fd++)
        if (!is_one_of(fd, keep, n))
            (void)close(fd);
    closefrom(last + 1);
}

static void forget_handlers(void)
{
    for (int sig = 1; sig < NSIG; sig++)
        (void)signal(sig, SIG_DFL);
}

/* Its descriptor 3, which none of those still needed may be in the way of. */
static bool open_talk(int talk, int *report)
{
    if (talk == -1)
        return true;
    *report = fcntl(*report, F_DUPFD_CLOEXEC, KEEPER_TALK + 1);
    if (*report == -1)
        return false;
    if (talk == KEEPER_TALK)
        return fcntl(talk, F_SETFD, 0) == 0;
    return dup2(talk, KEEPER_TALK) != -1;
}

static _Noreturn void become_job(const struct keeper_job *job, pid_t keeper, int report)
{
    sigset_t none;
    int why;

    (void)sigemptyset(&none);
    (void)setsid();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper || read(report, &why, 1) != 0)
        _exit(127);
    if (dup2(job->in, 0) != -1 && dup2(job->out, 1) != -1 && dup2(job->err, 2) != -1 &&
        (job->cwd == NULL || chdir(job->cwd) == 0) && open_talk(job->talk, &report)) {
        (void)close_range(job->talk == -1 ? KEEPER_TALK : KEEPER_TALK + 1, ~0U,
                          CLOSE_RANGE_CLOEXEC);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        (void)execvpe(job->argv[0], (char *const *)(const void *)job->argv,
                      (char *const *)(const void *)job->envp);
    }
    why = errno;
    (void)!write(report, &why, sizeof(why));
    _exit(127);
}

static void close_ends(const struct keeper_job *job)
{
    (void)close(job->in);
    (void)close(job->out);
    (void)close(job->err);
    if (job->talk != -1)
        (void)close(job->talk);
}

/* A socket that closes at exec tells a job that runs from one that could not be started. The job
 * begins when we have let go of its ends: what it closes then is closed for the worker, too. */
static void start_job(struct keeper *k, const struct keeper_job *job)
{
    pid_t self = getpid();
    int report[2];
    int why = 0;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, report) != 0 ||
        (k->first = fork()) == -1) {
        k->first = 0;
        k->end = (struct keeper_end){KEEPER_NOT_STARTED, errno};
        return;
    }
    if (k->first == 0)
        become_job(job, self, report[1]);
    (void)close(report[1]);
    close_ends(job);
    (void)shutdown(report[0], SHUT_WR);
    if (read(report[0], &why, sizeof(why)) == sizeof(why)) {
        (void)waitpid(k->first, NULL, 0);
        k->first = 0;
        k->end = (struct keeper_end){KEEPER_NOT_STARTED, why};
    }
    (void)close(report[0]);
}

static void first_has_ended(struct keeper *k, int status)
{
    k->first = 0;
    k->end = WIFSIGNALED(status) ? (struct keeper_end){KEEPER_SIGNALLED, WTERMSIG(status)}
                                 : (struct keeper_end){KEEPER_EXITED, WEXITSTATUS(status)};
    /* Told to end, the others have their grace; else there is nothing left to wait for. */
    if (!k->told_to_end)
        k->killing = true;
}

/* Is anybody left? */
static bool reap(struct keeper *k)
{
    int status;

    for (;;) {
        pid_t pid = waitpid(-1, &status, WNOHANG);

        if (pid == -1)
            return errno != ECHILD;
        if (pid == 0)
            return true;
        if (pid == k->first)
            first_has_ended(k, status);
    }
}

static void obey_term(struct keeper *k)
{
    k->told_to_end = true;
    if (k->first != 0)
        (void)kill(-k->first, SIGTERM);
    (void)kin_signal(SIGTERM, k->first);
}

static void read_orders(struct keeper *k)
{
    char order;
    ssize_t n = recv(k->control, &order, 1, MSG_DONTWAIT);

    if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR)) {
        k->killing = true;
        k->control = -1; /* poll skips it */
    } else if (n == 1 && order == KEEPER_KILL) {
        k->killing = true;
    } else if (n == 1 && order == KEEPER_TERM) {
        obey_term(k);
    }
}

static void wait_for_news(struct keeper *k)
{
    struct pollfd fds[2] = {{.fd = k->control, .events = POLLIN},
                            {.fd = k->signals, .events = POLLIN}};
    struct signalfd_siginfo info;

    (void)poll(fds, 2, k->killing ? KILL_AGAIN_MS : -1);
    if (fds[1].revents != 0)
        (void)!read(k->signals, &info, sizeof(info));
    if (fds[0].revents != 0)
        read_orders(k);
    if (getppid() != k->worker)
        k->killing = true;
}

static void keep(struct keeper *k)
{
    while (reap(k)) {
        if (k->killing) {
            if (k->first != 0)
                (void)kill(-k->first, SIGKILL);
            (void)kin_signal(SIGKILL, 0);
        }
        wait_for_news(k);
    }
}

_Noreturn void keeper_run(int control, pid_t worker, const struct keeper_job *job)
{
    const int needed[] = {control, job->in, job->out, job->err, job->talk};
    struct keeper k = {.control = control, .worker = worker};
    sigset_t all;

    /* Out of the worker's group: what is sent to that must not end the keeper first. */
    (void)setsid();
    (void)prctl(PR_SET_NAME, "errand-keeper");
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    forget_handlers();
    close_all_but(needed, sizeof(needed) / sizeof(needed[0]));
    k.signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    if (getppid() == worker)
        start_job(&k, job);
    keep(&k);
    (void)!send(k.control, &k.end, sizeof(k.end), MSG_NOSIGNAL);
    _exit(0);
}
