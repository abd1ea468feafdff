/* site.h - a whole installation: Redis, a broker and a worker with a few tools, as programs. */
#pragma once

#include "tests/lib/prog.h"
#include "tests/lib/redis.h"
#include "tests/lib/term.h"

struct site {
    struct test_redis redis;
    int broker;
    int worker;
    uint16_t port;
    char url[64]; /* of the broker's endpoint */
    char dir[96]; /* for the tools and logs */
    const char *auth; /* none or key */
};

/* The tools: nap {"s":"0.1"} (optional) sleeps and answers done; must {} (required) fails with
 * isError; quick {} (forbidden) answers "quick"; broken {} (optional) cannot be started, which its
 * two attempts will show; say {"sh":"..."} (optional) runs a script that finds errand. */
void site_start(struct site *s, const char *auth);
void site_stop(struct site *s);
void site_kill_broker(struct site *s);
void site_start_broker(struct site *s);
/* errand with these words, NULL-terminated, against this site, to its end. */
void site_errand(struct site *s, struct prog *p, const char *const *words);
/* The same, only begun. key may be NULL. */
void site_errand_start(struct site *s, struct prog *p, const char *const *words, const char *key,
                       const char *input);
/* The same at a terminal. */
void site_terminal_start(struct site *s, struct term *t, const char *const *words);
#define ERRAND(s, p, ...) site_errand((s), (p), (const char *const[]){"errand", __VA_ARGS__, NULL})
