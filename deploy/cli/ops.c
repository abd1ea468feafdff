#include "deploy/cli/ops.h"

#include "common/clock.h"
#include "common/event.h"
#include "common/id.h"
#include "deploy/cli/command.h"
#include "deploy/cli/stop.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPEN_MS = 5000, LOADING_MS = 60000, ANSWER_MS = 30000, TURN_MS = 50 };

static void on_news(void *arg, enum store_news news, const char *why)
{
    struct ops *o = arg;

    o->down = o->down || news == STORE_DOWN;
    o->refused = o->refused || news == STORE_REFUSED;
    if (news == STORE_DOWN || news == STORE_REFUSED)
        (void)snprintf(o->why, sizeof(o->why), "%s", why);
}

void ops_turn(struct ops *o)
{
    struct timeval t = clock_timeval(TURN_MS);

    (void)event_base_loopexit(o->base, &t);
    (void)event_base_loop(o->base, EVLOOP_ONCE);
}

/* Redis may need a minute to read its data, and then it says so. */
static bool is_loading(const struct ops *o)
{
    return strncmp(o->why, "LOADING", 7) == 0 || strncmp(o->why, "BUSY", 4) == 0;
}

static bool wait_ready(struct ops *o)
{
    uint64_t begun = clock_mono_ms();

    for (;;) {
        uint64_t age = clock_mono_ms() - begun;

        if (store_is_ready(o->store))
            return true;
        if (o->refused || stop_count() > 0 || (o->down && !is_loading(o)) ||
            age > (is_loading(o) ? LOADING_MS : OPEN_MS))
            return false;
        ops_turn(o);
    }
}

bool ops_open(struct ops *o, const struct conf *c, bool make)
{
    char self[ID_SHORT_LEN + 1];
    struct store_conf conf = {.url = &c->redis_url,
                              .prefix = c->prefix,
                              .self = self,
                              .role = "cli",
                              .secret = c->has_secret ? c->secret : NULL,
                              .observe = !make};
    struct buf where;

    *o = (struct ops){.conf = c};
    stop_init();
    event_setup_named("errand", "logfmt", c->log_level);
    id_short(self);
    o->base = event_base_new();
    if (o->base == NULL)
        abort();
    o->store = store_new(o->base, &conf, on_news, NULL, o);
    if (wait_ready(o))
        return true;
    buf_init(&where, 1024);
    url_describe(&where, &c->redis_url);
    (void)complain(EXIT_FAILED, "%s: %s", where.p, o->why[0] != '\0' ? o->why : "no answer");
    buf_fini(&where);
    ops_close(o);
    return false;
}

void ops_close(struct ops *o)
{
    store_free(o->store);
    if (o->base != NULL)
        event_base_free(o->base);
    o->store = NULL;
    o->base = NULL;
}

void ops_expect(struct ops *o)
{
    o->pending++;
}

void ops_answer(struct ops *o, enum err e)
{
    o->pending--;
    if (e != ERR_OK && o->e == ERR_OK)
        o->e = e;
}

int ops_wait(struct ops *o)
{
    uint64_t end = clock_mono_ms() + ANSWER_MS;
    enum err e;

    while (o->pending > 0 && stop_count() == 0 && clock_mono_ms() < end)
        ops_turn(o);
    if (stop_count() > 0)
        return EXIT_STOPPED;
    e = o->pending > 0 ? ERR_TIMEOUT : o->e;
    o->e = ERR_OK;
    if (e == ERR_UNAVAILABLE && o->down)
        return complain(EXIT_FAILED, "Redis went away: %s", o->why);
    return e == ERR_OK ? EXIT_OK : complain(EXIT_FAILED, "%s", err_text(e));
}
