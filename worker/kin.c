#include "worker/kin.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KIN_MAX = 4096, TEXT_MAX = 65536 };

static ssize_t read_file(const char *path, char *out, size_t room)
{
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd == -1)
        return -1;
    n = read(fd, out, room - 1);
    (void)close(fd);
    if (n >= 0)
        out[n] = '\0';
    return n;
}

static size_t split_pids(char *text, pid_t *out, size_t room)
{
    size_t n = 0;

    for (char *end = text; n < room; text = end) {
        long pid = strtol(text, &end, 10);

        if (end == text)
            break;
        out[n++] = (pid_t)pid;
    }
    return n;
}

/* The parent stands second after the name, which may hold anything: read from the last ')'. */
static bool is_child_of(const char *pid, long parent)
{
    char path[64];
    char text[512];
    const char *after;

    (void)snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
    if (read_file(path, text, sizeof(text)) <= 0)
        return false;
    after = strrchr(text, ')');
    return after != NULL && strlen(after) > 4 && strtol(after + 4, NULL, 10) == parent;
}

/* For kernels built without the list of children. */
static size_t scan_proc(pid_t *out, size_t room)
{
    DIR *proc = opendir("/proc");
    const struct dirent *d;
    size_t n = 0;

    if (proc == NULL)
        return 0;
    while (n < room && (d = readdir(proc)) != NULL)
        if (isdigit((unsigned char)d->d_name[0]) && is_child_of(d->d_name, getpid()))
            out[n++] = (pid_t)strtol(d->d_name, NULL, 10);
    (void)closedir(proc);
    return n;
}

size_t kin_list(pid_t *out, size_t room)
{
    static char text[TEXT_MAX];
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    if (read_file(path, text, sizeof(text)) < 0)
        return scan_proc(out, room);
    return split_pids(text, out, room);
}

size_t kin_signal(int sig, pid_t spare)
{
    static pid_t kin[KIN_MAX];
    size_t n = kin_list(kin, KIN_MAX);

    for (size_t i = 0; i < n; i++)
        if (kin[i] != spare)
            (void)kill(kin[i], sig);
    return n;
}
