#include "tests/lib/lua.h"

#include "common/lua_library.h"
#include "common/mem.h"

#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "%s: %s\n", what, why);
    exit(2);
}

static void keep(struct lua *l, redisReply *r)
{
    if (l->r != NULL)
        freeReplyObject(l->r);
    l->r = r;
}

static void load(struct lua *l)
{
    redisReply *r =
        redisCommand(l->redis.c, "FUNCTION LOAD %b", lua_library, (size_t)lua_library_len);

    if (r == NULL || r->type == REDIS_REPLY_ERROR)
        fail("the library cannot be loaded", r != NULL ? r->str : "no answer");
    freeReplyObject(r);
}

void lua_start(struct lua *l, const char *const *extra)
{
    memset(l, 0, sizeof(*l));
    test_redis_start(&l->redis, extra);
    load(l);
    lua_use(l, "0");
    l->ear = redisConnectUnix(l->redis.socket);
    if (l->ear == NULL || l->ear->err != 0)
        fail("no second connection", l->redis.socket);
    lua_listen(l, "the-ear");
}

static void forget_heard(struct lua *l)
{
    while (l->heard_count > 0)
        freeReplyObject(l->heard[--l->heard_count]);
}

void lua_stop(struct lua *l)
{
    keep(l, NULL);
    forget_heard(l);
    redisFree(l->ear);
    test_redis_stop(&l->redis);
}

void lua_flush(struct lua *l)
{
    if (!lua_redis(l, "FLUSHALL"))
        fail("FLUSHALL", lua_at(l, ""));
    lua_use(l, "0");
}

void lua_use(struct lua *l, const char *partition)
{
    (void)snprintf(l->T, sizeof(l->T), "errand:{%s}:", partition);
}

static struct lua *shared;

static void stop_shared(void)
{
    lua_stop(shared);
    free(shared);
}

struct lua *lua_fresh(void)
{
    if (shared == NULL) {
        shared = mem_alloc(sizeof(*shared));
        lua_start(shared, NULL);
        (void)atexit(stop_shared);
    }
    lua_flush(shared);
    (void)lua_hear(shared);
    return shared;
}

/* --- calls --- */

static void add(struct lua *l, const char *p, size_t n)
{
    if (l->words == LUA_WORDS_MAX)
        fail("lua", "too many words");
    l->word[l->words] = p;
    l->length[l->words++] = n;
}

__attribute__((format(printf, 2, 0))) static void addv(struct lua *l, const char *format,
                                                       va_list ap)
{
    char *at = l->text + l->used;
    size_t room = sizeof(l->text) - l->used;
    int n = vsnprintf(at, room, format, ap);

    if (n < 0 || (size_t)n >= room)
        fail("lua", "too much text");
    l->used += (size_t)n + 1;
    add(l, at, (size_t)n);
}

__attribute__((format(printf, 2, 3))) static void addf(struct lua *l, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    addv(l, format, ap);
    va_end(ap);
}

void lua_fn(struct lua *l, const char *fn)
{
    l->keys = 0;
    l->words = 0;
    l->used = 0;
    add(l, "FCALL", 5);
    addf(l, "errand_%s_%s", lua_library_version, fn);
    add(l, "", 0); /* how many keys */
}

void lua_key(struct lua *l, const char *format, ...)
{
    char key[512];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(key, sizeof(key), format, ap);
    va_end(ap);
    addf(l, "%s%s", l->T, key);
    l->keys++;
}

static void end_of_keys(struct lua *l)
{
    if (l->words == l->keys + 3)
        addf(l, "%s", l->T);
}

void lua_arg(struct lua *l, const char *format, ...)
{
    va_list ap;

    end_of_keys(l);
    va_start(ap, format);
    addv(l, format, ap);
    va_end(ap);
}

void lua_bytes(struct lua *l, struct span s)
{
    end_of_keys(l);
    add(l, s.p != NULL ? s.p : "", s.n);
}

void lua_append(struct lua *l)
{
    char count[16];

    end_of_keys(l);
    l->length[2] = (size_t)snprintf(count, sizeof(count), "%zu", l->keys);
    l->word[2] = count;
    if (redisAppendCommandArgv(l->redis.c, (int)l->words, l->word, l->length) != REDIS_OK)
        fail("lua_append", l->redis.c->errstr);
}

bool lua_read(struct lua *l)
{
    void *r = NULL;

    if (redisGetReply(l->redis.c, &r) != REDIS_OK)
        r = NULL;
    keep(l, r);
    return l->r != NULL && l->r->type != REDIS_REPLY_ERROR;
}

bool lua_go(struct lua *l)
{
    lua_append(l);
    return lua_read(l);
}

static void add_keys(struct lua *l, const char *keys)
{
    for (size_t n; *keys != '\0'; keys += n + (keys[n] == ' ')) {
        n = strcspn(keys, " ");
        lua_key(l, "%.*s", (int)n, keys);
    }
}

static void add_args(struct lua *l, const char *args)
{
    const char *bar;

    for (; (bar = strchr(args, '|')) != NULL; args = bar + 1)
        lua_arg(l, "%.*s", (int)(bar - args), args);
    lua_arg(l, "%s", args);
}

bool lua_do(struct lua *l, const char *fn, const char *format, ...)
{
    char call[8192];
    char *colon;
    va_list ap;
    int n;

    va_start(ap, format);
    n = vsnprintf(call, sizeof(call), format, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof(call))
        fail("lua_do", "too much text");
    lua_fn(l, fn);
    colon = strstr(call, " : ");
    if (colon != NULL)
        *colon = '\0';
    add_keys(l, call);
    if (colon != NULL)
        add_args(l, colon + 3);
    return lua_go(l);
}

bool lua_redis(struct lua *l, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    keep(l, redisvCommand(l->redis.c, format, ap));
    va_end(ap);
    return l->r != NULL && l->r->type != REDIS_REPLY_ERROR;
}

int64_t lua_int(struct lua *l, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    keep(l, redisvCommand(l->redis.c, format, ap));
    va_end(ap);
    if (l->r != NULL && l->r->type == REDIS_REPLY_STRING)
        return strtoll(l->r->str, NULL, 10);
    return l->r != NULL && l->r->type == REDIS_REPLY_INTEGER ? l->r->integer : -1;
}

/* --- answers --- */

static const redisReply *part(const struct lua *l, const char *path)
{
    const redisReply *r = l->r;

    while (*path != '\0' && r != NULL) {
        char *end;
        size_t i = strtoul(path, &end, 10);

        r = r->type == REDIS_REPLY_ARRAY && i < r->elements ? r->element[i] : NULL;
        path = *end == '.' ? end + 1 : end;
    }
    return r;
}

static const char *number_text(int64_t n)
{
    static char ring[16][24];
    static unsigned next;
    char *text = ring[next++ % 16];

    (void)snprintf(text, sizeof(ring[0]), "%lld", (long long)n);
    return text;
}

const char *lua_at(const struct lua *l, const char *path)
{
    const redisReply *r = part(l, path);

    if (r == NULL)
        return "none";
    switch (r->type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
        return r->str;
    case REDIS_REPLY_INTEGER:
        return number_text(r->integer);
    case REDIS_REPLY_NIL:
        return "nil";
    default:
        return "array";
    }
}

bool lua_is(const struct lua *l, const char *path, const char *text)
{
    const char *got = lua_at(l, path);

    if (strcmp(got, text) == 0)
        return true;
    (void)fprintf(stderr, "  [%s] is \"%s\", not \"%s\"\n", path, got, text);
    return false;
}

size_t lua_count(const struct lua *l, const char *path)
{
    const redisReply *r = part(l, path);

    return r != NULL && r->type == REDIS_REPLY_ARRAY ? r->elements : 0;
}

/* --- messages --- */

static redisReply *next_message(struct lua *l)
{
    void *r = NULL;

    if (redisGetReply(l->ear, &r) != REDIS_OK)
        fail("the ear", l->ear->errstr);
    return r;
}

static void subscribe(struct lua *l, const char *command, const char *process)
{
    bool done = false;
    char channel[128];

    (void)snprintf(channel, sizeof(channel), "errand:%s%s",
                   strcmp(process, "all") == 0 ? "" : "ch:", process);
    if (redisAppendCommand(l->ear, "%s %s", command, channel) != REDIS_OK)
        fail(command, channel);
    while (!done) { /* messages may come before the answer; none is of interest then */
        redisReply *r = next_message(l);

        done = strcasecmp(r->element[0]->str, command) == 0;
        freeReplyObject(r);
    }
}

void lua_listen(struct lua *l, const char *process)
{
    (void)lua_hear(l);
    subscribe(l, "SUBSCRIBE", process);
}

void lua_deafen(struct lua *l, const char *process)
{
    (void)lua_hear(l);
    subscribe(l, "UNSUBSCRIBE", process);
}

void lua_hear_each(struct lua *l, lua_heard_fn *fn, void *arg)
{
    redisReply *r = redisCommand(l->redis.c, "PUBLISH errand:ch:the-ear END");
    bool more = r != NULL && r->type == REDIS_REPLY_INTEGER && r->integer > 0;

    freeReplyObject(r);
    while (more) {
        r = next_message(l);
        more = strcmp(r->element[1]->str, "errand:ch:the-ear") != 0;
        if (more)
            fn(arg, r);
        else
            freeReplyObject(r);
    }
}

static void remember(void *arg, struct redisReply *message)
{
    struct lua *l = arg;

    if (l->heard_count == LUA_HEARD_MAX)
        fail("lua_hear", "too many messages");
    l->heard[l->heard_count++] = message;
}

size_t lua_hear(struct lua *l)
{
    forget_heard(l);
    lua_hear_each(l, remember, l);
    return l->heard_count;
}

const char *lua_message(const struct lua *l, size_t i)
{
    return i < l->heard_count ? l->heard[i]->element[2]->str : "none";
}

const char *lua_process_of(const struct redisReply *message)
{
    const char *name = message->element[1]->str + strlen("errand:");

    return strncmp(name, "ch:", 3) == 0 ? name + 3 : name;
}

const char *lua_channel(const struct lua *l, size_t i)
{
    return i < l->heard_count ? lua_process_of(l->heard[i]) : "none";
}
