/* child_inside.h - one child, shared by child.c and child_io.c only. */
#pragma once

#include "common/buf.h"
#include "common/list.h"
#include "worker/child.h"
#include "worker/launch.h"

struct event;

/* One of our ends of the child's standard descriptors, or of its keeper's control socket. */
struct end {
    int fd; /* -1: closed */
    struct event *ev;
};

struct child {
    struct children *set;
    struct list node;
    pid_t keeper; /* 0: none */
    int control;
    struct end in;
    struct end out;
    struct end err;
    struct event *timer; /* the grace, or the news that it could not be started */
    struct buf input; /* read up to input_at */
    size_t input_at;
    bool is_open; /* more input may come */
    child_out_fn *on_out;
    struct buf out_bytes;
    char err_bytes[2 * CHILD_ERR_KEPT];
    size_t err_n;
    size_t out_max;
    uint64_t grace_ms;
    struct child_end result;
    child_fn *fn;
    void *arg;
};

/* Our ends of its standard descriptors: open until it has ended, or has closed its own. */
void child_io_open(struct child *c, struct event_base *base, const struct launched *l);
void child_io_close(struct child *c);
/* What it has written and nobody has read. */
void child_io_drain(struct child *c);
