#include "tests/lib/proc.h"

#include "common/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool wait_for(unsigned ms, bool (*fact)(void *arg), void *arg)
{
    uint64_t end = clock_mono_ms() + ms;

    while (!fact(arg)) {
        struct timespec pause = {.tv_nsec = 5000000};

        if (clock_mono_ms() > end)
            return false;
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

static void turn_once(struct event_base *base, unsigned ms)
{
    struct timeval t = clock_timeval(ms);

    (void)event_base_loopexit(base, &t);
    (void)event_base_loop(base, EVLOOP_ONCE);
}

bool turn_until(struct event_base *base, unsigned ms, bool (*fact)(void *arg), void *arg)
{
    uint64_t end = clock_mono_ms() + ms;

    while (!fact(arg)) {
        if (clock_mono_ms() > end)
            return false;
        turn_once(base, 10);
    }
    return true;
}

bool in_time(bool (*once)(void))
{
    for (int i = 0; i < 3; i++)
        if (once())
            return true;
    return false;
}

void turn_for(struct event_base *base, unsigned ms)
{
    uint64_t end = clock_mono_ms() + ms;
    unsigned least = ms / 5 < 4 ? ms / 5 : 4;

    for (unsigned turns = 0; turns < least || clock_mono_ms() < end; turns++)
        turn_once(base, 5);
}

static bool is_free(uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool free;

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    free = bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0;
    (void)close(fd);
    return free;
}

uint16_t free_port(void)
{
    for (int i = 0; i < 1000; i++) {
        uint16_t port = (uint16_t)(10000 + arc4random_uniform(22000));

        if (is_free(port))
            return port;
    }
    exit(2);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

void remove_tree(const char *dir)
{
    if (strncmp(dir, "/tmp/", 5) == 0)
        (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int proc_start(const char *const *argv, const char *log)
{
    int pid = fork();

    if (pid == 0) {
        int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);

        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)dup2(out, 1);
        (void)dup2(out, 2);
        (void)execvp(argv[0], (char *const *)(const void *)argv);
        _exit(127);
    }
    return pid;
}

bool proc_alive(int pid)
{
    return kill(pid, 0) == 0;
}

int proc_wait(int pid, unsigned ms)
{
    uint64_t end = clock_mono_ms() + ms;
    int status;

    for (;;) {
        int got = waitpid(pid, &status, WNOHANG);
        struct timespec pause = {.tv_nsec = 5000000};

        if (got == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (got == -1 && errno != EINTR)
            return -1;
        if (clock_mono_ms() > end)
            return -1;
        (void)nanosleep(&pause, NULL);
    }
}
