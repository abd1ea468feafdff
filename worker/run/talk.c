#include "worker/run/talk.h"

#include "common/mem.h"
#include "worker/run/wire.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_ROOM = 65536, TURN_MAX = 8 }; /* reads a turn: others have their turn, too */

struct talk {
    struct wire wire;
    int fd; /* -1: closed */
    struct event *readable;
    struct event *writable;
};

static void hang_up(struct talk *t)
{
    event_free(t->readable);
    event_free(t->writable);
    (void)close(t->fd);
    t->readable = t->writable = NULL;
    t->fd = -1;
}

/* Nobody is there to read an answer any more. What was asked stays asked: a command that has ended
 * may be tried again, and is given the answer then. */
static void lose(struct talk *t)
{
    if (t->fd != -1)
        hang_up(t);
}

static bool has_left(int fd)
{
    struct pollfd p = {.fd = fd};

    return poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLERR)) != 0;
}

static void flush(struct talk *t)
{
    struct span rest = wire_unread(&t->wire);

    while (t->fd != -1 && rest.n > 0) {
        ssize_t n = send(t->fd, rest.p, rest.n, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n == -1 && errno == EINTR)
            continue;
        if (n == -1)
            break;
        wire_was_read(&t->wire, (size_t)n);
        rest = wire_unread(&t->wire);
    }
    if (t->fd == -1 || rest.n == 0)
        return;
    if (wire_is_stuck(&t->wire) || errno != EAGAIN)
        lose(t);
    else
        (void)event_add(t->writable, NULL);
}

/* False when there is nothing more, or nothing now. */
static bool hear(struct talk *t)
{
    static char room[READ_ROOM];
    ssize_t n = recv(t->fd, room, sizeof(room), MSG_DONTWAIT);

    if (n > 0) {
        wire_feed(&t->wire, room, (size_t)n);
        return true;
    }
    if (n == -1 && (errno == EAGAIN || errno == EINTR))
        return false;
    /* It may have closed only its own direction, and still read. */
    (void)event_del(t->readable);
    if (n == -1 || has_left(t->fd))
        lose(t);
    return false;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct talk *t = arg;

    (void)fd;
    (void)what;
    for (int i = 0; i < TURN_MAX && hear(t); i++)
        ;
    flush(t);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    flush(arg);
}

void talk_answer(struct talk *t, struct span id, struct span answer)
{
    if (t->fd == -1)
        return;
    wire_answer(&t->wire, id, answer);
    (void)event_add(t->writable, NULL); /* not from inside what is being heard */
}

void talk_hear_out(struct talk *t)
{
    while (t->fd != -1 && hear(t))
        ;
}

struct talk *talk_open(struct event_base *base, const struct run_sink *sink, struct run_job *job,
                       int *theirs)
{
    struct talk *t;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return NULL;
    t = mem_zalloc(sizeof(*t));
    wire_init(&t->wire, sink, job);
    t->fd = pair[0];
    t->readable = event_new(base, t->fd, EV_READ | EV_PERSIST, on_readable, t);
    t->writable = event_new(base, t->fd, EV_WRITE, on_writable, t);
    if (t->readable == NULL || t->writable == NULL || event_add(t->readable, NULL) != 0)
        abort();
    *theirs = pair[1];
    return t;
}

void talk_free(struct talk *t)
{
    if (t->fd != -1)
        hang_up(t);
    wire_fini(&t->wire);
    free(t);
}
