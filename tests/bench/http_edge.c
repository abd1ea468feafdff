/* The HTTP edge alone, with one fixed answer: what it costs over http_bare.
 *
 *     http_edge PORT [BYTES] [hold]
 *
 * With "hold" every request is held and answered on a later turn, as one is that waits for Redis;
 * a path of /hold is never answered, and /sse opens a stream: for counting memory.
 */
#include "broker/sse.h"

#include "common/buf.h"
#include "common/list.h"
#include "common/mem.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct waiting {
    struct list link;
    struct http_req *r; /* NULL: its client left */
};

static struct {
    struct buf body;
    bool hold;
    struct list waiting;
    struct event *turn;
} bench;

static void on_gone(void *arg)
{
    struct waiting *w = arg;

    if (w != NULL)
        w->r = NULL;
}

static void on_turn(int fd, short what, void *arg)
{
    struct list now;

    (void)fd;
    (void)what;
    (void)arg;
    list_init(&now);
    list_splice(&now, &bench.waiting);
    LIST_EACH(&now, it)
    {
        struct waiting *w = LIST_OF(it, struct waiting, link);

        if (w->r != NULL)
            http_reply(w->r, 200, "application/json", buf_span(&bench.body));
        free(w);
    }
}

static void on_request(void *arg, struct http_req *r)
{
    struct waiting *w;

    (void)arg;
    if (strcmp(http_path(r), "/hold") == 0) {
        http_hold(r, on_gone, NULL);
    } else if (strcmp(http_path(r), "/sse") == 0) {
        (void)sse_start(r, on_gone, NULL);
    } else if (!bench.hold) {
        http_reply(r, 200, "application/json", buf_span(&bench.body));
    } else {
        w = mem_alloc(sizeof(*w));
        w->r = r;
        list_add_tail(&bench.waiting, &w->link);
        http_hold(r, on_gone, w);
        event_active(bench.turn, EV_TIMEOUT, 1);
    }
}

int main(int argc, char **argv)
{
    struct event_config *config = event_config_new();
    struct http_conf conf = {.host = "127.0.0.1", .body_max = 1024 * 1024};
    size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 250;
    struct event_base *base;
    struct buf why;

    (void)signal(SIGPIPE, SIG_IGN);
    conf.port = (uint16_t)(argc > 1 ? strtoul(argv[1], NULL, 10) : 0);
    bench.hold = argc > 3 && strcmp(argv[3], "hold") == 0;
    list_init(&bench.waiting);
    buf_init(&bench.body, 64 * 1024 * 1024);
    buf_adds(&bench.body, "{\"x\":\"");
    while (bench.body.n + 2 < n)
        buf_addc(&bench.body, 'x');
    buf_adds(&bench.body, "\"}");
    (void)event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    base = event_base_new_with_config(config);
    bench.turn = event_new(base, -1, 0, on_turn, NULL);
    buf_init(&why, 256);
    if (http_new(base, &conf, on_request, NULL, &why) == NULL) {
        (void)fprintf(stderr, "%s\n", why.p);
        return 1;
    }
    return event_base_dispatch(base);
}
