/* serve.h - whole worker programs on a bench: started, watched, ended. */
#pragma once

#include "tests/lib/bench.h"

struct serving {
    struct bench *b;
    int pid;
    char log[160];
};

/* errand-example, or errand-worker with one file of these tools (NULL: errand-example). more:
 * further words of the command line, NULL-terminated, or NULL. Returns once it serves. */
void serve_start(struct serving *w, struct bench *b, const char *tools, const char *const *more);
/* The same, not waiting. */
void serve_launch(struct serving *w, struct bench *b, const char *tools, const char *const *more);
bool serve_wait(struct serving *w); /* until it serves */
int serve_term(struct serving *w, unsigned ms); /* SIGTERM; its exit code, or -1 */
void serve_kill(struct serving *w);
unsigned serve_logged(const struct serving *w, const char *event); /* lines of that event */
bool serve_wait_logged(const struct serving *w, const char *event, unsigned n, unsigned ms);
