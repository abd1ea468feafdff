/* lua.h - the functions library in a private Redis, called word by word.
 *
 *     lua_do(&l, "throttle", "rl:%s : %s|5000", owner, owner);
 *     CHECK(lua_is(&l, "0", "OK"));
 *
 * A call is keys, separated by blanks, then " : " and the arguments, separated by '|'; keys get
 * the prefix of the partition in use, which is also the first argument. What may hold any byte is
 * put together by lua_fn, lua_key, lua_arg and lua_go instead. The last answer is kept in l->r.
 */
#pragma once

#include "common/span.h"
#include "tests/lib/redis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redisReply;
struct redisContext;

enum { LUA_WORDS_MAX = 1200, LUA_TEXT_MAX = 1 << 17, LUA_HEARD_MAX = 64 };

struct lua {
    struct test_redis redis;
    struct redisContext *ear; /* hears what was published */
    char T[40]; /* prefix of the partition in use, "errand:{0}:" */
    struct redisReply *r; /* the last answer, freed by the next call; NULL: the link is lost */
    struct redisReply *heard[LUA_HEARD_MAX];
    size_t heard_count;
    size_t keys;
    size_t words;
    size_t used;
    const char *word[LUA_WORDS_MAX];
    size_t length[LUA_WORDS_MAX];
    char text[LUA_TEXT_MAX];
};

/* One for the whole program: started at the first call, empty at every call, stopped at exit. */
struct lua *lua_fresh(void);

/* Starts a Redis with the library in it; partition "0" is in use. extra: see test_redis_start. */
void lua_start(struct lua *l, const char *const *extra);
void lua_stop(struct lua *l);
void lua_flush(struct lua *l); /* all keys; the library stays */
void lua_use(struct lua *l, const char *partition); /* "0", "g" */

bool lua_do(struct lua *l, const char *fn, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void lua_fn(struct lua *l, const char *fn);
void lua_key(struct lua *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lua_arg(struct lua *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lua_bytes(struct lua *l, struct span s); /* borrowed until lua_go */
bool lua_go(struct lua *l); /* false: Redis answered with an error */

/* lua_go in two halves, to have several calls on their way. */
void lua_append(struct lua *l);
bool lua_read(struct lua *l);

/* A plain command, in redisCommand's own format; "%sls" with l->T names a key. */
bool lua_redis(struct lua *l, const char *format, ...);
int64_t lua_int(struct lua *l, const char *format, ...); /* its integer answer; -1: nil or other */

/* A part of the last answer by its path, "" being all of it: lua_at(l, "1.0"). An integer as
 * text, "nil", "none" when there is no such part, "array", or an
 * error's text. Good until the next call. */
const char *lua_at(const struct lua *l, const char *path);
bool lua_is(const struct lua *l, const char *path, const char *text);
size_t lua_count(const struct lua *l, const char *path); /* elements of an array */

/* What is published to a process ("all": to all) from now on. */
void lua_listen(struct lua *l, const char *process);
void lua_deafen(struct lua *l, const char *process);
/* Fetches what was published until now, at most LUA_HEARD_MAX messages; returns how many. */
size_t lua_hear(struct lua *l);
const char *lua_message(const struct lua *l, size_t i);
const char *lua_channel(const struct lua *l, size_t i); /* the process */

/* The same one by one and without a limit; fn frees the message: {"message", channel, text}. */
typedef void lua_heard_fn(void *arg, struct redisReply *message);
void lua_hear_each(struct lua *l, lua_heard_fn *fn, void *arg);
const char *lua_process_of(const struct redisReply *message);
