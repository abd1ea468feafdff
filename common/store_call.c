/* One function call from its parts to its reply. The command is kept until then as it was sent, so
 * that a call which met a Redis without our library can be sent again behind it. */
#include "common/clock.h"
#include "common/defer.h"
#include "common/event.h"
#include "common/lua_library.h"
#include "common/mem.h"
#include "common/rds_command.h"
#include "common/store_inside.h"

#include <assert.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>

struct call {
    struct list node; /* in store.waiting */
    struct store *s;
    const char *name;
    store_reply_fn *fn;
    void *arg;
    bool resent;
    size_t n;
    char command[];
};

struct later {
    struct list node;
    enum err e;
    store_reply_fn *fn;
    void *arg;
};

static const struct {
    const char *word;
    enum err e;
} errors[] = {
    {"OOM", ERR_OUT_OF_SPACE},       {"LOADING", ERR_UNAVAILABLE},    {"READONLY", ERR_UNAVAILABLE},
    {"MISCONF", ERR_UNAVAILABLE},    {"NOREPLICAS", ERR_UNAVAILABLE}, {"BUSY", ERR_UNAVAILABLE},
    {"MASTERDOWN", ERR_UNAVAILABLE},
};

static void on_reply(void *arg, enum err e, const struct redisReply *reply);

static bool starts_with_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    return strncmp(text, word, n) == 0 && (text[n] == ' ' || text[n] == '\0');
}

static void log_error(struct store *s, const char *fn)
{
    uint64_t now = clock_mono_ms();

    if (s->logged_ms != 0 && now - s->logged_ms < 1000)
        return;
    s->logged_ms = now;
    LOG(STORE_ERROR, S("function", fn), S("why", s->error));
}

/* What passes is told when it begins, and now and then while it lasts. */
static void log_refusal(struct store *s, const char *fn, const char *word)
{
    uint64_t now = clock_mono_ms();

    if (s->refusal == word && now - s->refusal_ms < 10000)
        return;
    s->refusal = word;
    s->refusal_ms = now;
    LOG(REDIS_REFUSES, S("function", fn), S("why", s->error));
}

enum err store_error(struct store *s, const char *fn, const struct redisReply *reply)
{
    (void)snprintf(s->error, sizeof(s->error), "%s", reply->str);
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        if (!starts_with_word(s->error, errors[i].word))
            continue;
        log_refusal(s, fn, errors[i].word);
        return errors[i].e;
    }
    log_error(s, fn);
    return ERR_INTERNAL;
}

enum err store_bad_answer(struct store *s, const char *fn)
{
    (void)snprintf(s->error, sizeof(s->error), "an answer that no function of ours gives");
    log_error(s, fn);
    return ERR_INTERNAL;
}

void store_fail(struct store *s, enum err e, store_reply_fn *fn, void *arg)
{
    struct later *l = mem_alloc(sizeof(*l));

    if (list_empty(&s->later))
        defer_call(s->defer, store_run_later, s);
    l->e = e;
    l->fn = fn;
    l->arg = arg;
    list_add_tail(&s->later, &l->node);
}

/* Only what stands there now: a caller that tries again at once is served on the next turn. */
void store_run_later(void *arg)
{
    struct store *s = arg;
    struct list now;

    list_init(&now);
    list_splice(&now, &s->later);
    while (!list_empty(&now)) {
        struct later *l = LIST_OF(now.next, struct later, node);

        list_del(&l->node);
        l->fn(l->arg, l->e, NULL);
        free(l);
    }
}

static void call_end(struct call *c, enum err e, const struct redisReply *reply)
{
    c->fn(c->arg, e, reply);
    free(c);
}

static void send_call(struct call *c)
{
    rds_send_command(c->s->commands, (struct span){c->command, c->n}, on_reply, c);
}

static void send_waiting(struct store *s, enum err e)
{
    struct list now;

    list_init(&now);
    list_splice(&now, &s->waiting);
    while (!list_empty(&now)) {
        struct call *c = LIST_OF(now.next, struct call, node);

        list_del(&c->node);
        if (e == ERR_OK)
            send_call(c);
        else
            call_end(c, e, NULL);
    }
}

/* Another process may load the same library at the same moment: that is as good. */
static void on_loaded(void *arg, enum err e, const struct redisReply *reply)
{
    struct store *s = arg;

    s->loading = false;
    if (e == ERR_OK && reply->type != REDIS_REPLY_ERROR)
        LOG(LIBRARY_LOADED, S("library", lua_library_version));
    else if (e == ERR_OK && strstr(reply->str, "already exists") == NULL)
        e = store_error(s, "function load", reply);
    if (s->closing && e == ERR_OK)
        e = ERR_UNAVAILABLE;
    send_waiting(s, e);
}

static void load_then_resend(struct store *s, struct call *c)
{
    const struct span argv[] = {
        SPAN("FUNCTION"), SPAN("LOAD"), SPAN("REPLACE"), {lua_library, lua_library_len}};

    c->resent = true;
    list_add_tail(&s->waiting, &c->node);
    if (s->loading)
        return;
    s->loading = true;
    rds_send(s->commands, 4, argv, on_loaded, s);
}

static void on_reply(void *arg, enum err e, const struct redisReply *reply)
{
    struct call *c = arg;
    struct store *s = c->s;

    if (e != ERR_OK || reply->type != REDIS_REPLY_ERROR) {
        call_end(c, e, reply);
        return;
    }
    if (!c->resent && !s->closing && strstr(reply->str, "Function not found") != NULL) {
        load_then_resend(s, c);
        return;
    }
    call_end(c, store_error(s, c->name, reply), NULL);
}

static struct span decimal(char *end, size_t v)
{
    char *at = end;

    do {
        *--at = (char)('0' + v % 10);
        v /= 10;
    } while (v != 0);
    return (struct span){at, (size_t)(end - at)};
}

/* The words FCALL, name and number of keys; then the keys under the prefix, the prefix, the rest.
 */
static struct call *call_new(const struct store *s, const struct store_call *f)
{
    const struct span none = {NULL, 0};
    const struct span prefix = store_prefix(s, f->partition);
    const struct span name = span_of(f->fn);
    size_t bytes = 4 * RDS_WORD_FRAME_MAX + sizeof("FCALL") + sizeof(s->functions) + name.n +
                   rds_command_size(f->count, f->args) +
                   (prefix.n + RDS_WORD_FRAME_MAX) * (f->keys + 1);
    struct call *c = mem_alloc(sizeof(*c) + bytes);
    char *at = rds_command_head(c->command, 4 + f->count);
    char keys[20];

    at = rds_command_word(at, SPAN("FCALL"), none);
    at = rds_command_word(at, span_of(s->functions), name);
    at = rds_command_word(at, decimal(keys + sizeof(keys), f->keys), none);
    for (size_t i = 0; i < f->keys; i++)
        at = rds_command_word(at, prefix, f->args[i]);
    at = rds_command_word(at, prefix, none);
    for (size_t i = f->keys; i < f->count; i++)
        at = rds_command_word(at, f->args[i], none);
    c->n = (size_t)(at - c->command);
    assert(c->n <= bytes);
    return c;
}

void store_send_anyway(struct store *s, const struct store_call *f, store_reply_fn *fn, void *arg)
{
    struct call *c;

    assert(f->keys <= f->count);
    c = call_new(s, f);
    list_init(&c->node);
    c->s = s;
    c->name = f->fn;
    c->fn = fn;
    c->arg = arg;
    c->resent = false;
    send_call(c);
}

void store_send(struct store *s, const struct store_call *c, store_reply_fn *fn, void *arg)
{
    if (s->closing || !store_is_ready(s))
        store_fail(s, ERR_UNAVAILABLE, fn, arg);
    else
        store_send_anyway(s, c, fn, arg);
}

struct plain {
    struct store *s;
    store_reply_fn *fn;
    void *arg;
};

static void on_plain(void *arg, enum err e, const struct redisReply *reply)
{
    struct plain *p = arg;

    if (e == ERR_OK && reply->type == REDIS_REPLY_ERROR) {
        e = store_error(p->s, "command", reply);
        reply = NULL;
    }
    p->fn(p->arg, e, reply);
    free(p);
}

void store_command(struct store *s, size_t argc, const struct span *argv, store_reply_fn *fn,
                   void *arg)
{
    struct plain *p;

    if (s->closing || !store_is_ready(s)) {
        store_fail(s, ERR_UNAVAILABLE, fn, arg);
        return;
    }
    p = mem_alloc(sizeof(*p));
    *p = (struct plain){s, fn, arg};
    rds_send(s->commands, argc, argv, on_plain, p);
}
