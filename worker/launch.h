/* launch.h - starts one job under a keeper: the pipes, the fork, what the worker keeps of them. */
#pragma once

#include <sys/types.h>

struct launched {
    pid_t keeper;
    int control; /* keeper.h */
    int in; /* to write; this and the next two do not block */
    int out;
    int err;
};

/* talk: becomes the job's descriptor 3 and stays the caller's to close; -1: none.
 * 0, or the errno of what could not be had: then nothing is left behind. */
int launch(struct launched *out, const char *const *argv, const char *const *envp, const char *cwd,
           int talk);
