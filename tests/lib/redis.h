/* redis.h - a private Redis for one test program: own folder, unix socket, dies with us. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct redisContext;

struct test_redis {
    int pid;
    uint16_t port; /* 127.0.0.1; 0 when only the socket was asked for */
    char dir[96];
    char socket[128];
    char url[160]; /* unix:///... */
    const char *const *extra;
    struct redisContext *c; /* blocking, for looking at and preparing data */
};

/* Starts $ERRAND_REDIS_SERVER or redis-server or valkey-server. extra: more command-line words,
 * NULL-terminated, or NULL. Ends the program when the server cannot be started. */
void test_redis_start(struct test_redis *r, const char *const *extra);
void test_redis_start_tcp(struct test_redis *r, const char *const *extra); /* also on r->port */
void test_redis_stop(struct test_redis *r); /* SIGTERM, waits, removes the folder */
void test_redis_kill(struct test_redis *r); /* SIGKILL; the folder stays */
void test_redis_restart(struct test_redis *r); /* after kill, same folder and socket */
void test_redis_flush(struct test_redis *r); /* FLUSHALL and FUNCTION FLUSH */
