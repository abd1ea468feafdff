/* store_inside.h - what the parts of the store share; nobody else includes it.
 *
 * store_link.c owns the two links and the life of the store, store_call.c sends functions,
 * store_boot.c makes a link usable, store_event.c reads what is published to us.
 */
#pragma once

#include "common/list.h"
#include "common/map.h"
#include "common/sm.h"
#include "common/store.h"

struct defer;
struct event;
struct store_args;
struct store_durable;

/* DOWN -> BOOTING when the command link is up -> READY when the installation is known. REFUSED is
 * final: this Redis cannot be used as it is. */
enum { STORE_S_DOWN, STORE_S_BOOTING, STORE_S_READY, STORE_S_REFUSED };
enum { STORE_WHY_MAX = 256, STORE_PREFIX_MAX = 64, STORE_POLICY_MAX = 32 };

struct store {
    struct event_base *base;
    struct store_conf conf; /* its texts are our own copies, but for url */
    store_news_fn *on_news;
    store_event_fn *on_event;
    void *arg;
    struct rds *commands;
    struct rds *messages; /* NULL when conf.subscribe is false */
    char *channel; /* ours */
    char *channel_all;
    struct sm sm;
    bool closing;
    bool moved; /* the server that we were linked to was no primary */
    bool gap; /* messages may have been missed, and nobody was told yet */
    char why[STORE_WHY_MAX]; /* the last reason told with STORE_DOWN; empty while READY */
    char deaf[STORE_WHY_MAX]; /* the same of the subscriber link; only logged */
    char error[STORE_WHY_MAX]; /* the text of the last error reply */
    uint64_t logged_ms; /* when an error was last logged */
    const char *refusal; /* the word of the refusal last logged */
    uint64_t refusal_ms; /* when that was */
    struct event *retry; /* the next try to boot on a link that is up */
    unsigned tries;
    unsigned partitions; /* 0: not known yet */
    int64_t clock_us; /* Redis's wall clock less our monotonic one */
    unsigned char secret[32];
    bool secret_known;
    char *prefixes[64 + 1]; /* of each partition; last the global one */
    char functions[32]; /* what the names of our functions begin with */
    struct list later; /* calls that fail on the next turn */
    struct defer *defer;
    struct list waiting; /* calls to send again once the library is loaded */
    bool loading;
    unsigned claims; /* how many; every eighth scans from the lowest class */
    uint64_t dropped; /* malformed messages */
    struct store_args *args;
    /* Of registry_watch.c: what has changed and is not told yet, and whose turn is next. */
    struct map changes;
    struct list changes_due;
    struct list changes_resting; /* told a moment ago, oldest first */
    struct event *changes_rested; /* when the first of them has rested */
    unsigned changing; /* are being told */
    struct store_durable *durable; /* NULL: nobody waits for replicas */
};

/* store_call.c. Sends even while the store is not READY. */
void store_send_anyway(struct store *s, const struct store_call *c, store_reply_fn *fn, void *arg);
/* Ends a call with e on the next turn of the loop. */
void store_fail(struct store *s, enum err e, store_reply_fn *fn, void *arg);
void store_run_later(void *store);
/* What an error reply means; keeps its text in s->error and logs what is nobody's fault but ours.
 */
enum err store_error(struct store *s, const char *fn, const struct redisReply *reply);
/* An answer that no function of ours gives: logged, ERR_INTERNAL. */
enum err store_bad_answer(struct store *s, const char *fn);

/* registry_watch.c */
void store_changes_rested(int fd, short what, void *arg);

/* store_boot.c */
void store_boot_start(struct store *s);
void store_boot_stop(struct store *s);
/* The maxmemory-policy in what INFO answered ("" when it is not there), and whether it is one that
 * drops keys. */
bool store_info_may_evict(struct span info, char policy[static STORE_POLICY_MAX]);

/* store_link.c */
void store_told_ready(struct store *s);
void store_told_down(struct store *s, const char *why);
void store_told_refused(struct store *s, const char *why);

/* store_event.c */
void store_on_message(void *arg, struct span channel, struct span payload);
