#include "tests/lib/ps.h"

#include "tests/lib/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t read_text(const char *path, char *out, size_t room)
{
    FILE *f = fopen(path, "re");
    size_t n = 0;

    if (f != NULL) {
        n = fread(out, 1, room - 1, f);
        (void)fclose(f);
    }
    out[n] = '\0';
    return n;
}

static bool has_word(const char *pid, const char *word)
{
    char path[64];
    char text[4096];
    size_t n;

    (void)snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
    n = read_text(path, text, sizeof(text));
    for (size_t at = 0; at < n; at += strlen(text + at) + 1)
        if (strcmp(text + at, word) == 0)
            return true;
    return false;
}

/* Calls fn for every process until it says true; how often it did. */
static unsigned each(bool (*fn)(const char *pid, const void *arg), const void *arg, int *first)
{
    DIR *proc = opendir("/proc");
    const struct dirent *d;
    unsigned n = 0;

    while (proc != NULL && (d = readdir(proc)) != NULL) {
        if (!isdigit((unsigned char)d->d_name[0]) || !fn(d->d_name, arg))
            continue;
        if (n++ == 0 && first != NULL)
            *first = (int)strtol(d->d_name, NULL, 10);
    }
    if (proc != NULL)
        (void)closedir(proc);
    return n;
}

static bool by_word(const char *pid, const void *arg)
{
    return has_word(pid, arg);
}

unsigned ps_count(const char *word)
{
    return each(by_word, word, NULL);
}

int ps_find(const char *word)
{
    int first = 0;

    (void)each(by_word, word, &first);
    return first;
}

struct expected {
    const char *word;
    unsigned n;
};

static bool is_expected(void *arg)
{
    const struct expected *e = arg;

    return ps_count(e->word) == e->n;
}

bool ps_wait(const char *word, unsigned n, unsigned ms)
{
    struct expected e = {word, n};

    return wait_for(ms, is_expected, &e);
}

const char *ps_mark(char out[static 32])
{
    static unsigned count;

    (void)snprintf(out, 32, "%d.%05u", 1000000 + (int)getpid(), ++count);
    return out;
}

unsigned ps_fds_of(int pid)
{
    char path[64];
    DIR *fds;
    unsigned n = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    fds = opendir(path);
    while (fds != NULL && readdir(fds) != NULL)
        n++;
    if (fds != NULL)
        (void)closedir(fds);
    return n;
}

unsigned ps_fds(void)
{
    return ps_fds_of((int)getpid());
}

static bool is_zombie_of(const char *pid, const void *arg)
{
    const int *parent = arg;
    char path[64];
    char text[512];
    const char *after;

    (void)snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
    (void)read_text(path, text, sizeof(text));
    after = strrchr(text, ')');
    return after != NULL && strlen(after) > 4 && after[2] == 'Z' &&
           strtol(after + 4, NULL, 10) == *parent;
}

unsigned ps_zombies_of(int pid)
{
    return each(is_zombie_of, &pid, NULL);
}

unsigned ps_zombies(void)
{
    return ps_zombies_of((int)getpid());
}
