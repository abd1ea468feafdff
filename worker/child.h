/* child.h - child processes of the worker, each under a keeper (keeper.h).
 *
 * A child gets bytes on its standard input and end-of-file; what it writes is collected: all of
 * its output up to a ceiling, the last of its errors. Its end is told once no process of it is
 * left, always on a later turn of the loop, and exactly once. Whatever ends the worker, a keeper
 * sees it and ends its job.
 *
 * A child that is talked with (conf.on_out) keeps its standard input until child_hang_up(), and
 * what it writes is told as it comes. One that closes its input is stopped, as soon as it is
 * written to.
 */
#pragma once

#include "common/span.h"

#include <stdbool.h>
#include <stdint.h>

struct child;
struct children;
struct event_base;

enum {
    CHILD_ERR_KEPT = 8192, /* bytes of the end of standard error */
    CHILD_UNREAD_MAX = 256 << 20, /* a child that leaves more of its input unread is stopped */
};

enum child_how {
    CHILD_EXITED, /* value: exit status */
    CHILD_SIGNALLED, /* value: signal */
    CHILD_NOT_STARTED, /* value: errno */
    CHILD_LOST, /* its keeper was killed, and everything below it too */
};

struct child_end {
    enum child_how how;
    int value;
    bool too_much; /* it wrote more than out_max and was stopped for that */
    struct span out; /* borrowed */
    struct span err;
};
typedef void child_fn(void *arg, const struct child_end *end);
/* Some of what it wrote, in order; all of it before its end is told. {NULL, 0}: there will be no
 * more, once. */
typedef void child_out_fn(void *arg, struct span bytes);

struct child_conf {
    const char *const *argv;
    const char *const *envp;
    const char *cwd; /* NULL: the worker's */
    struct span input; /* copied */
    int talk; /* the child's descriptor 3: the caller's to close after the start; 0: none */
    child_out_fn *on_out; /* told on later turns of the loop; NULL: collected */
    size_t out_max; /* of what is collected */
    uint64_t grace_ms; /* when it must be stopped for writing too much */
};

/* One set a process: it takes SIGCHLD, reaps every child of the process, and makes the process a
 * subreaper. Nothing else in the process may start children of its own. */
struct children *children_new(struct event_base *base);
void children_free(struct children *set); /* kills and forgets those left; not told */
struct event_base *children_base(const struct children *set);
size_t children_count(const struct children *set);

/* conf is borrowed for the call. The child is valid until fn was called. */
struct child *child_start(struct children *set, const struct child_conf *conf, child_fn *fn,
                          void *arg);
/* For a child that is talked with. More for its standard input, copied; what it does not read
 * waits, and child_unread() says how much that is. Harmless once it has closed its input. */
void child_write(struct child *c, struct span bytes);
size_t child_unread(const struct child *c);
/* Its standard input ends after what is written so far. */
void child_hang_up(struct child *c);
/* The end of what it has written to standard error so far; borrowed until the next turn. */
struct span child_said(const struct child *c);
/* TERM now and KILL after grace_ms, or KILL at once for 0. May be repeated with less. */
void child_stop(struct child *c, uint64_t grace_ms);
/* Killed and forgotten: fn is not called. Not from inside its callbacks. */
void child_abandon(struct child *c);
