/* prog.h - one run of a program: what it is given, what it says, how it ends. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct prog {
    int pid;
    int out_fd; /* temporary files, already unlinked */
    int err_fd;
    int status; /* as a shell says it */
    char *out; /* read by prog_end(); free them with prog_fini() */
    char *err;
};

/* argv[0] is looked for in build/bin. env: NAME=VALUE words added to a small environment, or NULL;
 * input: what it reads from standard input, or NULL. Dies with us. */
void prog_start(struct prog *p, const char *const *argv, const char *const *env, const char *input);
/* For a child that has set up its descriptors: never returns. */
void prog_become(const char *const *argv, const char *const *env);
/* All of a file, to be freed. */
char *prog_read(int fd);
int prog_temporary(void); /* a file, already unlinked */
bool prog_says(struct prog *p, const char *text); /* on standard error, within 10 s */
void prog_signal(const struct prog *p, int signal);
/* Waits for its end; false: it does not end in time, and is killed. */
bool prog_end(struct prog *p, unsigned ms);
void prog_fini(struct prog *p);
