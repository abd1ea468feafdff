/* keeper.h - the small process between the worker and one job.
 *
 * It starts the job in a session of its own and is the subreaper of everything below: a process
 * that leaves the job's group or forks twice becomes its child. It decides nothing; it obeys its
 * control socket, and it exits only when no process of the job is left.
 *
 *     the job ended by itself    -> what it left behind is killed
 *     KEEPER_TERM                -> TERM for the job's group and for those that left it
 *     KEEPER_KILL                -> KILL for everything below, until nobody is left
 *     the socket closed, or the
 *     worker is not the parent   -> like KEEPER_KILL: the worker has died
 *
 * A keeper that is killed itself takes the job's first process along (PR_SET_PDEATHSIG); the rest
 * falls to the worker, which is a subreaper too.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

enum { KEEPER_TALK = 3 }; /* the job's descriptor for talking with the worker */
enum keeper_order { KEEPER_TERM = 'T', KEEPER_KILL = 'K' };

enum keeper_how {
    KEEPER_EXITED, /* value: exit status */
    KEEPER_SIGNALLED, /* value: signal */
    KEEPER_NOT_STARTED, /* value: errno */
};
/* The one message a keeper writes to its socket, right before it exits. */
struct keeper_end {
    int32_t how;
    int32_t value;
};

struct keeper_job {
    const char *const
        *argv; /* argv[0] is looked for in the PATH of the worker unless it has a slash */
    const char *const *envp;
    const char *cwd; /* NULL: the worker's */
    int in; /* the job's standard descriptors: above 2, closed here once it runs */
    int out;
    int err;
    int talk; /* likewise, for the job's descriptor 3; -1: none */
};

/* Never returns. To be called in a fork of a worker that has all signals blocked. */
_Noreturn void keeper_run(int control, pid_t worker, const struct keeper_job *job);
