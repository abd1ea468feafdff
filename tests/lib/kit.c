#include "tests/lib/kit.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/mem.h"
#include "tests/lib/proc.h"

#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEADLINE_MS = 30000 };

void kit_start(struct kit *k, const char *const *extra)
{
    struct buf why;

    memset(k, 0, sizeof(*k));
    k->base = event_base_new();
    test_redis_start(&k->redis, extra);
    buf_init(&why, 4096);
    if (url_parse(&k->url, k->redis.url, &why) != ERR_OK)
        exit(2);
    buf_fini(&why);
}

void kit_stop(struct kit *k)
{
    url_fini(&k->url);
    event_base_free(k->base);
    test_redis_stop(&k->redis);
}

void kit_copy(char out[static KIT_TEXT], struct span s)
{
    size_t n = s.n < KIT_TEXT - 1 ? s.n : KIT_TEXT - 1;

    if (n > 0)
        memcpy(out, s.p, n);
    out[n] = '\0';
}

static void on_news(void *arg, enum store_news news, const char *why)
{
    struct kit_store *p = arg;

    p->ready += news == STORE_READY;
    p->down += news == STORE_DOWN;
    p->refused += news == STORE_REFUSED;
    p->gap += news == STORE_GAP;
    if (news == STORE_DOWN || news == STORE_REFUSED)
        (void)snprintf(p->why, sizeof(p->why), "%s", why);
}

static void on_event(void *arg, const struct store_event *ev)
{
    struct kit_store *p = arg;
    struct kit_event *e = &p->events[p->event_count % KIT_EVENTS];
    const struct task *t = &ev->task;

    p->event_count++;
    memset(e, 0, sizeof(*e));
    e->kind = ev->kind;
    e->state = t->state;
    e->is_error = t->is_error;
    e->hidden = t->hidden;
    e->dialect = t->dialect;
    e->version = t->version;
    e->omitted = ev->outcome_omitted;
    e->has_outcome = t->outcome.p != NULL;
    e->outcome_n = t->outcome.n;
    e->partition = ev->partition;
    kit_copy(e->id, t->id);
    kit_copy(e->message, t->message);
    kit_copy(e->progress, t->progress);
    kit_copy(e->tool, t->tool);
    kit_copy(e->task_session, t->session);
    kit_copy(e->session, ev->session);
    kit_copy(e->request, ev->request);
    kit_copy(e->key, ev->key);
    kit_copy(e->stream, ev->stream);
    kit_copy(e->server, ev->server);
    kit_copy(e->uri, ev->uri);
    kit_copy(e->entry, ev->entry);
    kit_copy(e->data, ev->data);
    e->is_task = ev->is_task;
    kit_copy(e->outcome, t->outcome);
}

void kit_store_new(struct kit_store *p, struct kit *k, struct store_conf conf)
{
    static unsigned serial;
    char self[16];

    memset(p, 0, sizeof(*p));
    (void)snprintf(self, sizeof(self), "peer%04u", ++serial % 10000);
    conf.url = conf.url != NULL ? conf.url : &k->url;
    conf.prefix = conf.prefix != NULL ? conf.prefix : "errand";
    conf.self = conf.self != NULL ? conf.self : self;
    conf.role = conf.role != NULL ? conf.role : "broker";
    p->kit = k;
    p->s = store_new(k->base, &conf, on_news, on_event, p);
    /* What store_new() was given is ours to lose. */
    memset(self, 'x', sizeof(self));
}

static bool is_settled(void *arg)
{
    struct kit_store *p = arg;

    return p->refused > 0 || (store_is_ready(p->s) && store_is_listening(p->s));
}

bool kit_store_open(struct kit_store *p, struct kit *k, struct store_conf conf)
{
    conf.subscribe = true;
    kit_store_new(p, k, conf);
    return kit_store_wait(p);
}

bool kit_store_wait(struct kit_store *p)
{
    return turn_until(p->kit->base, DEADLINE_MS, is_settled, p) && p->refused == 0;
}

void kit_store_free(struct kit_store *p)
{
    store_free(p->s);
    p->s = NULL;
}

static const struct kit_event *find(const struct kit_store *p, enum store_event_kind kind,
                                    const char *id, unsigned *count)
{
    unsigned n = p->event_count < KIT_EVENTS ? p->event_count : KIT_EVENTS;
    const struct kit_event *newest = NULL;

    *count = 0;
    for (unsigned i = p->event_count - n; i < p->event_count; i++) {
        const struct kit_event *e = &p->events[i % KIT_EVENTS];

        if (e->kind == kind && (id == NULL || strcmp(e->id, id) == 0)) {
            newest = e;
            ++*count;
        }
    }
    return newest;
}

struct wanted {
    struct kit_store *p;
    enum store_event_kind kind;
    const char *id;
};

static bool has_event(void *arg)
{
    const struct wanted *w = arg;
    unsigned count;

    return find(w->p, w->kind, w->id, &count) != NULL;
}

const struct kit_event *kit_event(struct kit_store *p, enum store_event_kind kind, const char *id)
{
    struct wanted w = {p, kind, id};
    unsigned count;

    (void)turn_until(p->kit->base, DEADLINE_MS, has_event, &w);
    return find(p, kind, id, &count);
}

unsigned kit_count(const struct kit_store *p, enum store_event_kind kind, const char *id)
{
    unsigned count;

    (void)find(p, kind, id, &count);
    return count;
}

struct awaited {
    const struct kit_answer *a;
    unsigned calls;
};

static bool is_answered(void *arg)
{
    const struct awaited *w = arg;

    return w->a->calls >= w->calls;
}

bool kit_wait(struct kit *k, const struct kit_answer *a, unsigned calls)
{
    struct awaited w = {a, calls};

    return turn_until(k->base, DEADLINE_MS, is_answered, &w) && a->calls == calls;
}

static void as_text(struct buf *out, const redisReply *r)
{
    if (r == NULL) {
        buf_adds(out, "(no answer)");
    } else if (r->type == REDIS_REPLY_INTEGER) {
        buf_addf(out, "%lld", r->integer);
    } else if (r->type == REDIS_REPLY_NIL) {
        buf_adds(out, "(nil)");
    } else if (r->type == REDIS_REPLY_ARRAY) {
        for (size_t i = 0; i < r->elements; i++) {
            if (i > 0)
                buf_addc(out, ' ');
            as_text(out, r->element[i]);
        }
    } else {
        buf_add(out, r->str, (size_t)r->len);
    }
}

char *kit_redis(struct kit *k, const char *format, ...)
{
    struct buf out;
    redisReply *r;
    va_list ap;

    va_start(ap, format);
    r = redisvCommand(k->redis.c, format, ap);
    va_end(ap);
    buf_init(&out, 1 << 20);
    buf_adds(&out, "");
    as_text(&out, r);
    freeReplyObject(r);
    buf_addc(&out, '\0');
    return buf_take(&out);
}
