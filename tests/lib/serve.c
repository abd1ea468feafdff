#include "tests/lib/serve.h"

#include "tests/lib/proc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 32 };

static const char *put_tools(const struct bench *b, const char *tools)
{
    static char path[160];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/tools.json", b->redis.dir);
    f = fopen(path, "we");
    if (f == NULL || fputs(tools, f) == EOF)
        exit(2);
    (void)fclose(f);
    return path;
}

void serve_launch(struct serving *w, struct bench *b, const char *tools, const char *const *more)
{
    static unsigned count;
    static const char example[] = ERRAND_BIN "/errand-example";
    static const char worker[] = ERRAND_BIN "/errand-worker";
    const char *argv[WORDS_MAX] = {example, "--redis", b->redis.url, "--log-level", "debug"};
    size_t n = 5;

    w->b = b;
    if (tools != NULL) {
        argv[0] = worker;
        argv[n++] = "--tools";
        argv[n++] = put_tools(b, tools);
    }
    for (size_t i = 0; more != NULL && more[i] != NULL && n < WORDS_MAX - 1; i++)
        argv[n++] = more[i];
    argv[n] = NULL;
    (void)snprintf(w->log, sizeof(w->log), "%s/worker%u.log", b->redis.dir, ++count);
    w->pid = proc_start(argv, w->log);
}

bool serve_wait(struct serving *w)
{
    return serve_wait_logged(w, "TOOLS_SERVED", 1, 10000);
}

void serve_start(struct serving *w, struct bench *b, const char *tools, const char *const *more)
{
    serve_launch(w, b, tools, more);
    if (serve_wait(w))
        return;
    (void)fprintf(stderr, "the worker does not serve; see %s\n", w->log);
    exit(2);
}

int serve_term(struct serving *w, unsigned ms)
{
    (void)kill(w->pid, SIGTERM);
    return proc_wait(w->pid, ms);
}

void serve_kill(struct serving *w)
{
    (void)kill(w->pid, SIGKILL);
    (void)proc_wait(w->pid, 5000);
}

unsigned serve_logged(const struct serving *w, const char *event)
{
    char line[8192];
    char word[64];
    unsigned n = 0;
    FILE *f = fopen(w->log, "re");

    (void)snprintf(word, sizeof(word), "event=%s ", event);
    while (f != NULL && fgets(line, sizeof(line), f) != NULL)
        n += strstr(line, word) != NULL;
    if (f != NULL)
        (void)fclose(f);
    return n;
}

struct logged {
    const struct serving *w;
    const char *event;
    unsigned n;
};

static bool is_logged(void *arg)
{
    const struct logged *l = arg;

    return serve_logged(l->w, l->event) >= l->n;
}

bool serve_wait_logged(const struct serving *w, const char *event, unsigned n, unsigned ms)
{
    struct logged l = {w, event, n};

    return wait_for(ms, is_logged, &l);
}
