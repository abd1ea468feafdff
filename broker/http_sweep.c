#include "broker/http_internal.h"

#include "common/clock.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

/* One timer for all deadlines. Every list stands in order of its own, so that only heads are
 * looked at, and a connection nothing happens on costs nothing. */

enum { COMMENTS_AT_ONCE = 200, PAUSE_MS = 5 };

static struct conn *due(struct list *list, uint64_t now_ms, uint64_t after_ms)
{
    struct conn *c;

    if (list_empty(list))
        return NULL;
    c = LIST_OF(list->next, struct conn, link);
    return c->since_ms + after_ms <= now_ms ? c : NULL;
}

static void close_due(struct list *list, uint64_t now_ms, uint64_t after_ms)
{
    struct conn *c;

    while ((c = due(list, now_ms, after_ms)) != NULL)
        conn_close(c);
}

/* Looks at each connection with unsent bytes twice a stall_timeout; two looks in a row without
 * progress are the end. */
static void look_at_unsent(struct conn *c, uint64_t now_ms)
{
    size_t left = evbuffer_get_length(bufferevent_get_output(c->bev));
    uint64_t taken = c->queued - left;

    list_del(&c->unsent);
    if (left == 0)
        return;
    c->idle_looks = taken == c->taken ? c->idle_looks + 1 : 0;
    if (c->idle_looks >= 2) {
        conn_close(c);
        return;
    }
    c->taken = taken;
    c->looked_ms = now_ms;
    list_add_tail(&c->h->unsent, &c->unsent);
}

static void sweep_unsent(struct http *h, uint64_t now_ms)
{
    while (!list_empty(&h->unsent)) {
        struct conn *c = LIST_OF(h->unsent.next, struct conn, unsent);

        if (c->looked_ms + h->conf.stall_timeout_ms / 2 > now_ms)
            return;
        look_at_unsent(c, now_ms);
    }
}

/* Comments to many streams that were opened together are spread, so that nobody waits for them all.
 * True when some are still due. */
static bool comment_due(struct http *h, uint64_t now_ms)
{
    struct conn *c = NULL;

    for (int i = 0; i < COMMENTS_AT_ONCE; i++) {
        c = due(&h->quiet, now_ms, h->conf.keepalive_ms);
        if (c == NULL)
            return false;
        sse_comment(c);
    }
    return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void sweep_in(struct http *h, uint64_t ms)
{
    struct timeval t = clock_timeval(ms);

    (void)event_add(h->sweep, &t);
}

void sweep_run(int fd, short what, void *arg)
{
    struct http *h = arg;
    uint64_t now_ms = clock_mono_ms();
    uint64_t shortest = least(least(h->conf.read_timeout_ms, h->conf.idle_timeout_ms),
                              least(h->conf.keepalive_ms, h->conf.stall_timeout_ms));

    (void)fd;
    (void)what;
    listen_again(h, now_ms);
    close_due(&h->idle, now_ms, h->conf.idle_timeout_ms);
    close_due(&h->reading, now_ms, h->conf.read_timeout_ms);
    sweep_unsent(h, now_ms);
    linger_sweep(h, now_ms);
    shortest = least(shortest / 8 + 1, h->listen_again_ms != 0 ? 100 : 500);
    sweep_in(h, comment_due(h, now_ms) ? PAUSE_MS : shortest);
}
