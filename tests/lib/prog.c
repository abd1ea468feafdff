#include "tests/lib/prog.h"

#include "common/mem.h"
#include "tests/lib/proc.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENV_MAX = 32 };

int prog_temporary(void)
{
    char path[] = "/tmp/errand-prog-XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);

    if (fd == -1)
        exit(2);
    (void)unlink(path);
    return fd;
}

void prog_become(const char *const *argv, const char *const *env)
{
    const char *words[ENV_MAX] = {"PATH=/usr/bin:/bin", "HOME=/tmp"};
    const char *sanitizers = getenv("ASAN_OPTIONS");
    char options[512];
    char path[512];
    size_t n = 2;

    if (sanitizers != NULL) {
        (void)snprintf(options, sizeof(options), "ASAN_OPTIONS=%s", sanitizers);
        words[n++] = options;
    }
    for (; env != NULL && *env != NULL && n < ENV_MAX - 1; env++)
        words[n++] = *env;
    (void)snprintf(path, sizeof(path), "%s/%s", ERRAND_BIN, argv[0]);
    (void)execve(path, (char *const *)(const void *)argv, (char *const *)(const void *)words);
    _exit(127);
}

void prog_start(struct prog *p, const char *const *argv, const char *const *env, const char *input)
{
    int in = prog_temporary();

    memset(p, 0, sizeof(*p));
    p->out_fd = prog_temporary();
    p->err_fd = prog_temporary();
    if (input != NULL && write(in, input, strlen(input)) != (ssize_t)strlen(input))
        exit(2);
    (void)lseek(in, 0, SEEK_SET);
    p->pid = fork();
    if (p->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)signal(SIGPIPE, SIG_DFL);
        (void)dup2(in, 0);
        (void)dup2(p->out_fd, 1);
        (void)dup2(p->err_fd, 2);
        prog_become(argv, env);
    }
    (void)close(in);
}

char *prog_read(int fd)
{
    struct stat st;
    char *text;
    ssize_t n;

    if (fstat(fd, &st) != 0)
        exit(2);
    text = mem_zalloc((size_t)st.st_size + 1);
    n = pread(fd, text, (size_t)st.st_size, 0);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

struct saying {
    const struct prog *p;
    const char *text;
};

static bool has_said(void *arg)
{
    const struct saying *s = arg;
    char *text = prog_read(s->p->err_fd);
    bool found = strstr(text, s->text) != NULL;

    free(text);
    return found;
}

bool prog_says(struct prog *p, const char *text)
{
    struct saying s = {p, text};

    return wait_for(10000, has_said, &s);
}

void prog_signal(const struct prog *p, int signal)
{
    if (p->pid > 0)
        (void)kill(p->pid, signal);
}

bool prog_end(struct prog *p, unsigned ms)
{
    bool ended;

    p->status = proc_wait(p->pid, ms);
    ended = p->status != -1;
    if (!ended) {
        (void)kill(p->pid, SIGKILL);
        (void)waitpid(p->pid, NULL, 0);
    }
    p->pid = 0;
    p->out = prog_read(p->out_fd);
    p->err = prog_read(p->err_fd);
    (void)close(p->out_fd);
    (void)close(p->err_fd);
    return ended;
}

void prog_fini(struct prog *p)
{
    free(p->out);
    free(p->err);
    p->out = NULL;
    p->err = NULL;
}
