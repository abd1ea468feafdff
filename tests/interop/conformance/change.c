/* A list of tools that changes: another worker comes and goes. It is this program once more, with
 * the same options, and serves one tool that the first does not. */
#include "tests/interop/conformance/kit.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STAYS_MS = 700 };

#define MARK "ERRAND_CONFORMANCE_SECOND"

static char **words;

void change_remember(char **argv)
{
    words = argv;
}

bool change_is_second(void)
{
    return getenv(MARK) != NULL;
}

/* Threads of this program run: its own environment is not touched. */
static char **with_mark(void)
{
    static char mark[] = MARK "=1";
    size_t n = 0;
    char **env;

    while (environ[n] != NULL)
        n++;
    env = calloc(n + 2, sizeof(*env));
    if (env == NULL)
        abort();
    memcpy(env, environ, n * sizeof(*env));
    env[n] = mark;
    return env;
}

/* Signals are blocked in this thread, and must not be there. */
static int start(pid_t *pid)
{
    char **env = with_mark();
    posix_spawnattr_t attr;
    sigset_t none;
    int e;

    (void)sigemptyset(&none);
    (void)posix_spawnattr_init(&attr);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    (void)posix_spawnattr_setsigmask(&attr, &none);
    e = posix_spawn(pid, "/proc/self/exe", NULL, &attr, words, env);
    (void)posix_spawnattr_destroy(&attr);
    free(env);
    return e;
}

static void on_trigger(struct errand_job *job, void *arg)
{
    pid_t pid;
    int e = start(&pid);

    (void)arg;
    if (e != 0) {
        errand_error(job, strerror(e));
        return;
    }
    (void)errand_wait(job, STAYS_MS);
    (void)kill(pid, SIGTERM);
    (void)waitpid(pid, NULL, 0);
    errand_result_text(job, "another tool was there for a while");
}

static char there[] = "{\"content\":[{\"type\":\"text\",\"text\":\"still here\"}]}";

static const struct errand_tool tools[] = {
    {DECLARE("test_trigger_tool_change", "Makes the list of tools change.", NO_ARGUMENTS),
     on_trigger, NULL},
};

const struct tool_list change_tools = {tools, COUNT_OF(tools)};

/* Each run describes it in other words: a tool stays listed for a while after its worker, and only
 * what is new is a change. */
int change_main(int argc, char **argv)
{
    char declaration[256];
    const struct errand_tool second = {declaration, on_always, there};

    (void)snprintf(
        declaration, sizeof(declaration),
        DECLARE("test_passing_tool", "Is served for a moment by process %ld.", NO_ARGUMENTS),
        (long)getpid());
    return errand_worker_main(argc, argv, &second, 1);
}
