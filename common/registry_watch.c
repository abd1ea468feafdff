/* Resources of wrapped servers that somebody watches: wanted of workers, and told to brokers. */
#include "common/clock.h"
#include "common/id.h"
#include "common/mem.h"
#include "common/registry.h"
#include "common/store_args.h"
#include "common/store_inside.h"
#include "common/store_reply.h"

#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHOLES_MAX = 16,
    WANT_BATCH = 64,
    TOLD_AT_ONCE = 64, /* changes */
    REST_MS = 1000, /* between two of one resource */
    CHANGES_MAX = 10000, /* that wait or rest; what comes above is not told */
};

struct wanting {
    struct store *s;
    registry_want_fn *fn;
    void *arg;
};

static void on_wanted(void *arg, enum err e, const struct redisReply *r)
{
    struct wanting *w = arg;

    if (e == ERR_OK && reply_is(r, "LIMIT"))
        e = ERR_LIMIT;
    else if (e == ERR_OK && !reply_is(r, "OK"))
        e = store_bad_answer(w->s, "want");
    w->fn(w->arg, e);
    free(w);
}

void registry_want(struct store *s, struct span owner, struct span server, const struct span *uris,
                   size_t count, registry_want_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "want", STORE_GLOBAL);
    struct wanting *w = mem_zalloc(sizeof(*w));
    char tail[ID_OWNER_LEN + 2];

    *w = (struct wanting){.s = s, .fn = fn, .arg = arg};
    (void)snprintf(tail, sizeof(tail), ":%.*s", (int)owner.n, owner.p);
    args_key(a, "wn:", server, "");
    args_key(a, "wo:", server, tail);
    args_u64(a, REGISTRY_WANT_MS);
    args_u64(a, REGISTRY_WANT_MAX);
    for (size_t i = 0; i < count; i++)
        args_add(a, uris[i]);
    store_args_send(a, on_wanted, w);
}

static void on_any_wanted(void *arg, enum err e)
{
    (void)arg;
    (void)e;
}

static bool go_together(const struct span *watch, const struct span *next)
{
    return span_equal(watch[0], next[0]) && span_equal(watch[1], next[1]);
}

void registry_want_all(struct store *s, const struct span *watches, size_t count)
{
    struct span uris[WANT_BATCH];
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        const struct span *watch = &watches[3 * i];

        uris[n++] = watch[2];
        if (n == WANT_BATCH || i + 1 == count || !go_together(watch, watch + 3)) {
            registry_want(s, watch[0], watch[1], uris, n, on_any_wanted, NULL);
            n = 0;
        }
    }
}

/* --- a change, told to the sessions of each partition, some at a time --- */

/* It waits for its turn, is being told or rests after that, and is one however often it comes
 * meanwhile: so a server that says the same without end fills no link, and no client's stream. */
struct change {
    struct map_node node; /* first, for the store frees what is left; key: of the two below */
    struct list turn; /* in store.changes_due, or in .changes_resting */
    struct store *s;
    unsigned pending; /* partitions; 0: it waits */
    bool again; /* it came once more, or could not be told everywhere */
    uint64_t rests_ms; /* until then */
    size_t whole[WHOLES_MAX]; /* lengths of what it is a part of, itself first */
    size_t count;
    struct span server;
    struct span uri;
    char text[]; /* server, a blank, uri */
};

struct telling {
    struct change *change;
    unsigned partition;
};

/* Itself, and what is left when it is cut after, and before, each '/' from the right. */
static size_t wholes(struct span uri, size_t out[static WHOLES_MAX])
{
    size_t n = 0;

    out[n++] = uri.n;
    for (size_t i = uri.n; i > 1 && n < WHOLES_MAX; i--) {
        if (uri.p[i - 1] != '/')
            continue;
        if (i != uri.n)
            out[n++] = i;
        if (n < WHOLES_MAX)
            out[n++] = i - 1;
    }
    return n;
}

static void tell(struct telling *t, uint64_t key, uint64_t after);

static void forget(struct change *c)
{
    list_del(&c->turn);
    map_del(&c->s->changes, &c->node);
    free(c);
}

static void wake_in(struct store *s, uint64_t ms)
{
    struct timeval t = clock_timeval(ms);

    if (!evtimer_pending(s->changes_rested, NULL))
        (void)evtimer_add(s->changes_rested, &t);
}

void store_changes_rested(int fd, short what, void *arg)
{
    uint64_t now = clock_mono_ms();
    struct store *s = arg;

    (void)fd;
    (void)what;
    while (!list_empty(&s->changes_resting)) {
        struct change *c = LIST_OF(s->changes_resting.next, struct change, turn);

        if (c->rests_ms > now) {
            wake_in(s, c->rests_ms - now);
            break;
        }
        list_del(&c->turn);
        if (c->again) {
            list_add_tail(&s->changes_due, &c->turn);
        } else {
            map_del(&s->changes, &c->node);
            free(c);
        }
    }
    registry_tell_changes(s);
}

static void told(struct change *c, enum err e)
{
    struct store *s = c->s;

    c->again = c->again || e == ERR_UNAVAILABLE;
    if (--c->pending > 0)
        return;
    s->changing--;
    if (s->closing) {
        forget(c);
        return;
    }
    c->rests_ms = clock_mono_ms() + REST_MS;
    list_add_tail(&s->changes_resting, &c->turn);
    wake_in(s, REST_MS);
    if (e == ERR_OK) /* else with the next change, or announcement */
        registry_tell_changes(s);
}

static void on_some_told(void *arg, enum err e, const struct redisReply *r)
{
    struct telling *t = arg;
    struct change *c = t->change;
    uint64_t key;
    uint64_t after;

    if (e == ERR_OK && reply_array(r, 2) && reply_u64(r->element[0], &key) &&
        reply_u64(r->element[1], &after)) {
        tell(t, key, after);
        return;
    }
    if (e == ERR_OK && (!reply_array(r, 0) || r->elements != 0))
        e = store_bad_answer(c->s, "watch_tell");
    free(t);
    told(c, e);
}

static void tell(struct telling *t, uint64_t key, uint64_t after)
{
    const struct change *c = t->change;
    struct store_args *a = store_args(c->s, "watch_tell", t->partition);

    for (size_t i = 0; i < c->count; i++)
        args_key(a, "wu:", (struct span){c->uri.p, c->whole[i]}, "");
    args_add(a, c->server);
    args_add(a, c->uri);
    args_u64(a, key);
    args_u64(a, after);
    for (size_t i = 0; i < c->count; i++)
        args_add(a, (struct span){c->uri.p, c->whole[i]});
    store_args_send(a, on_some_told, t);
}

static void begin(struct change *c)
{
    struct store *s = c->s;

    list_del(&c->turn);
    s->changing++;
    c->again = false;
    c->pending = store_partitions(s);
    for (unsigned p = 0; p < store_partitions(s); p++) {
        struct telling *t = mem_alloc(sizeof(*t));

        *t = (struct telling){.change = c, .partition = p};
        tell(t, 1, 0);
    }
    store_tell_all(s, "U", c->server, c->uri);
}

void registry_tell_changes(struct store *s)
{
    while (store_is_ready(s) && s->changing < TOLD_AT_ONCE && !list_empty(&s->changes_due))
        begin(LIST_OF(s->changes_due.next, struct change, turn));
}

static struct change *change_new(struct store *s, struct span server, struct span uri)
{
    struct change *c = mem_zalloc(sizeof(*c) + server.n + 1 + uri.n);

    c->s = s;
    list_init(&c->turn);
    memcpy(c->text, server.p, server.n);
    c->text[server.n] = ' ';
    memcpy(c->text + server.n + 1, uri.p, uri.n);
    c->server = (struct span){c->text, server.n};
    c->uri = (struct span){c->text + server.n + 1, uri.n};
    c->count = wholes(c->uri, c->whole);
    return c;
}

void registry_updated(struct store *s, struct span server, struct span uri)
{
    struct change *c;
    struct map_node *known;

    if (uri.n == 0 || uri.n > REGISTRY_URI_MAX || memchr(server.p, ' ', server.n) != NULL)
        return;
    c = change_new(s, server, uri);
    known = map_find(&s->changes, (struct span){c->text, server.n + 1 + uri.n});
    if (known != NULL || s->changes.n >= CHANGES_MAX) {
        if (known != NULL)
            MAP_OF(known, struct change, node)->again = true;
        free(c);
    } else {
        map_add(&s->changes, &c->node, (struct span){c->text, server.n + 1 + uri.n});
        list_add_tail(&s->changes_due, &c->turn);
    }
    registry_tell_changes(s);
}

bool registry_is_part(struct span uri, struct span watched)
{
    size_t whole[WHOLES_MAX];
    size_t n = wholes(uri, whole);

    for (size_t i = 0; i < n; i++)
        if (whole[i] == watched.n && memcmp(uri.p, watched.p, watched.n) == 0)
            return true;
    return false;
}
