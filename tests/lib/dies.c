#include "tests/lib/dies.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(void (*fn)(void *arg), void *arg)
{
    struct rlimit no_core = {0, 0};

    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 2);
    fn(arg);
    _exit(0);
}

bool dies(void (*fn)(void *arg), void *arg)
{
    int status = 0;
    pid_t pid;

    (void)fflush(NULL);
    pid = fork();
    if (pid == 0)
        run(fn, arg);
    while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
        ;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}
