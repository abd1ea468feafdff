#include "common/store_durable.h"

#include "common/list.h"
#include "common/mem.h"
#include "common/rds.h"
#include "common/store_inside.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPLY_MS = STORE_DURABLE_MS + 2000 };

struct store_durable {
    struct store *s;
    struct rds *link;
    unsigned replicas;
    struct list waiting; /* for the next WAIT */
    struct list flying; /* for this one; none: nothing is under way */
    bool is_written; /* what this WAIT is about */
};

struct waiting {
    struct list node;
    store_settled_fn *fn;
    void *arg;
};

static void launch(struct store_durable *d);

static void end_all(struct list *those, enum err e)
{
    struct list now;

    list_init(&now);
    list_splice(&now, those);
    LIST_EACH(&now, it)
    {
        struct waiting *w = LIST_OF(it, struct waiting, node);

        list_del(&w->node);
        w->fn(w->arg, e);
        free(w);
    }
}

static void on_written(void *arg, enum err e, const redisReply *reply)
{
    struct store_durable *d = arg;

    d->is_written = e == ERR_OK && reply->type != REDIS_REPLY_ERROR;
    if (e == ERR_OK && reply->type == REDIS_REPLY_ERROR)
        (void)store_error(d->s, "set", reply);
}

static void on_waited(void *arg, enum err e, const redisReply *reply)
{
    struct store_durable *d = arg;
    bool is_done = e == ERR_OK && d->is_written && reply->type == REDIS_REPLY_INTEGER &&
                   reply->integer >= (long long)d->replicas;

    if (e == ERR_OK && reply->type == REDIS_REPLY_ERROR)
        (void)store_error(d->s, "wait", reply);
    end_all(&d->flying, is_done ? ERR_OK : ERR_UNAVAILABLE);
    launch(d);
}

static void launch(struct store_durable *d)
{
    char key[STORE_PREFIX_MAX + 16];
    char replicas[16];
    char ms[16];

    if (d->s->closing || !list_empty(&d->flying) || list_empty(&d->waiting))
        return;
    (void)snprintf(key, sizeof(key), "%swait", store_prefix(d->s, STORE_GLOBAL).p);
    (void)snprintf(replicas, sizeof(replicas), "%u", d->replicas);
    (void)snprintf(ms, sizeof(ms), "%d", STORE_DURABLE_MS);
    const struct span set[] = {SPAN("SET"), span_of(key), SPAN("1"), SPAN("PX"), SPAN("1000")};
    const struct span wait[] = {SPAN("WAIT"), span_of(replicas), span_of(ms)};
    list_splice(&d->flying, &d->waiting);
    rds_send(d->link, 5, set, on_written, d);
    rds_send(d->link, 3, wait, on_waited, d);
}

void store_settle(struct store *s, store_settled_fn *fn, void *arg)
{
    struct store_durable *d = s->durable;
    struct waiting *w = mem_alloc(sizeof(*w));

    *w = (struct waiting){.fn = fn, .arg = arg};
    list_add_tail(&d->waiting, &w->node);
    launch(d);
}

static void on_state(void *arg, enum rds_state state, const char *why)
{
    (void)arg;
    (void)state;
    (void)why; /* the other links of the store say it */
}

struct store_durable *store_durable_new(struct store *s, unsigned replicas)
{
    struct store_durable *d = mem_zalloc(sizeof(*d));
    char name[96];
    struct rds_conf conf = {.url = s->conf.url, .name = name, .reply_timeout_ms = REPLY_MS};

    (void)snprintf(name, sizeof(name), "errand-%.32s-%.32s-wait", s->conf.role, s->conf.self);
    d->s = s;
    d->replicas = replicas;
    list_init(&d->waiting);
    list_init(&d->flying);
    d->link = rds_new(s->base, &conf, on_state, d);
    return d;
}

void store_durable_free(struct store_durable *d)
{
    if (d == NULL)
        return;
    rds_free(d->link);
    end_all(&d->flying, ERR_UNAVAILABLE);
    end_all(&d->waiting, ERR_UNAVAILABLE);
    free(d);
}
