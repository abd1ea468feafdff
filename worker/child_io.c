#include "worker/child_inside.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_ROOM = 65536 };

static void end_close(struct end *e)
{
    if (e->ev != NULL)
        event_free(e->ev);
    if (e->fd != -1)
        (void)close(e->fd);
    *e = (struct end){.fd = -1};
}

static void end_open(struct end *e, struct event_base *base, int fd, short what,
                     event_callback_fn fn, void *arg)
{
    e->fd = fd;
    e->ev = event_new(base, fd, (short)(what | EV_PERSIST), fn, arg);
    if (e->ev == NULL || event_add(e->ev, NULL) != 0)
        abort();
}

/* --- what it reads --- */

/* True when there is nothing left of it, or nobody who reads. */
static bool write_some(struct child *c)
{
    struct span all = buf_span(&c->input);
    ssize_t n = write(c->in.fd, all.p + c->input_at, all.n - c->input_at);

    if (n == -1 && (errno == EAGAIN || errno == EINTR))
        return false;
    /* A child may end, or close its input, without having read it: that is no failure, unless it
     * is talked with. */
    if (n == -1) {
        end_close(&c->in);
        if (c->is_open)
            child_stop(c, c->grace_ms);
        return true;
    }
    c->input_at += (size_t)n;
    return c->input_at == c->input.n;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct child *c = arg;

    (void)fd;
    (void)what;
    if (!write_some(c))
        return;
    buf_fini(&c->input);
    c->input_at = 0;
    if (c->in.fd == -1)
        return;
    if (c->is_open)
        (void)event_del(c->in.ev);
    else
        end_close(&c->in);
}

/* What was read makes room. */
static void compact(struct child *c)
{
    if (c->input_at == 0 || c->input_at < c->input.n / 2)
        return;
    c->input.n -= c->input_at;
    memmove(c->input.p, c->input.p + c->input_at, c->input.n);
    c->input_at = 0;
}

void child_write(struct child *c, struct span bytes)
{
    if (c->in.fd == -1 || !c->is_open)
        return;
    compact(c);
    buf_add_span(&c->input, bytes);
    if (!buf_ok(&c->input)) {
        end_close(&c->in);
        child_stop(c, c->grace_ms);
        return;
    }
    (void)event_add(c->in.ev, NULL);
}

size_t child_unread(const struct child *c)
{
    return c->input.n - c->input_at;
}

void child_hang_up(struct child *c)
{
    c->is_open = false;
    if (c->in.fd != -1)
        (void)event_add(c->in.ev, NULL);
}

/* --- what it writes --- */

static void keep_out(struct child *c, const char *p, size_t n)
{
    if (c->on_out != NULL) {
        c->on_out(c->arg, (struct span){p, n});
        return;
    }
    if (n > c->out_max - c->out_bytes.n) {
        c->result.too_much = true;
        end_close(&c->out);
        child_stop(c, c->grace_ms);
        return;
    }
    buf_add(&c->out_bytes, p, n);
}

static void keep_err(struct child *c, const char *p, size_t n)
{
    if (n > CHILD_ERR_KEPT) {
        p += n - CHILD_ERR_KEPT;
        n = CHILD_ERR_KEPT;
    }
    if (c->err_n + n > sizeof(c->err_bytes)) {
        memmove(c->err_bytes, c->err_bytes + c->err_n - CHILD_ERR_KEPT, CHILD_ERR_KEPT);
        c->err_n = CHILD_ERR_KEPT;
    }
    memcpy(c->err_bytes + c->err_n, p, n);
    c->err_n += n;
}

/* Reads once; false when there is nothing more to come, or nothing now. */
static bool read_some(struct child *c, struct end *e)
{
    static char room[READ_ROOM];
    ssize_t n = e->fd == -1 ? 0 : read(e->fd, room, sizeof(room));

    if (n == -1 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0) {
        bool was_open = e->fd != -1;

        end_close(e);
        if (was_open && e == &c->out && c->on_out != NULL)
            c->on_out(c->arg, (struct span){NULL, 0});
        return false;
    }
    if (e == &c->out)
        keep_out(c, room, (size_t)n);
    else
        keep_err(c, room, (size_t)n);
    return true;
}

static void on_out(evutil_socket_t fd, short what, void *arg)
{
    struct child *c = arg;

    (void)fd;
    (void)what;
    (void)read_some(c, &c->out);
}

static void on_err(evutil_socket_t fd, short what, void *arg)
{
    struct child *c = arg;

    (void)fd;
    (void)what;
    (void)read_some(c, &c->err);
}

struct span child_said(const struct child *c)
{
    size_t n = c->err_n > CHILD_ERR_KEPT ? CHILD_ERR_KEPT : c->err_n;

    return (struct span){c->err_bytes + c->err_n - n, n};
}

/* --- open and closed --- */

void child_io_open(struct child *c, struct event_base *base, const struct launched *l)
{
    end_open(&c->out, base, l->out, EV_READ, on_out, c);
    end_open(&c->err, base, l->err, EV_READ, on_err, c);
    end_open(&c->in, base, l->in, EV_WRITE, on_writable, c);
}

void child_io_close(struct child *c)
{
    end_close(&c->in);
    end_close(&c->out);
    end_close(&c->err);
}

void child_io_drain(struct child *c)
{
    while (read_some(c, &c->out))
        ;
    while (read_some(c, &c->err))
        ;
}
