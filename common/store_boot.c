/* What a fresh command link goes through before calls may use it.
 *
 *     start -> on_info -> (boot, which loads the library when it is missing) -> on_record -> ready
 *
 * A Redis that is loading, busy or out of space is asked again after a while; one that answers
 * NOAUTH or NOPERM too, for somebody may repair that. What can never work is refused: a server
 * without functions, a record that contradicts our options, something else under our keys. */
#include "common/clock.h"
#include "common/event.h"
#include "common/id.h"
#include "common/mem.h"
#include "common/seal.h"
#include "common/store_inside.h"
#include "common/store_reply.h"

#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>

enum { RETRY_MIN_MS = 100, RETRY_MAX_MS = 2000, FINGERPRINT_LEN = 27 };

static void boot_again(struct store *s, const char *why)
{
    uint64_t ms = RETRY_MIN_MS;
    struct timeval t;

    for (unsigned i = 0; i < s->tries && ms < RETRY_MAX_MS; i++)
        ms *= 2;
    s->tries++;
    store_told_down(s, why);
    t = clock_timeval(clock_jitter(ms, 25));
    (void)evtimer_add(s->retry, &t);
}

/* What stands for a secret that is kept in a file: enough to know it again, no more. */
static void fingerprint(char out[static FINGERPRINT_LEN + 1], const unsigned char secret[static 32])
{
    struct span parts[] = {SPAN("errand secret"), {(const char *)secret, 32}};
    char digest[23];

    id_digest(digest, parts, 2);
    (void)snprintf(out, FINGERPRINT_LEN + 1, "file:%s", digest);
}

static const char *adopt_file_secret(struct store *s, struct span kept)
{
    char mark[FINGERPRINT_LEN + 1];
    unsigned char other[32];
    bool same;

    fingerprint(mark, s->conf.secret);
    same = span_is(kept, mark);
    if (!same && seal_secret_parse(other, kept) == ERR_OK)
        same = memcmp(other, s->conf.secret, sizeof(other)) == 0;
    seal_wipe(other, sizeof(other));
    if (!same)
        return "this installation was made with another secret than the one in the secret file: "
               "every process needs the same file";
    memcpy(s->secret, s->conf.secret, sizeof(s->secret));
    s->secret_known = true;
    return NULL;
}

static const char *adopt_secret(struct store *s, struct span kept)
{
    if (s->conf.secret != NULL && kept.n > 0)
        return adopt_file_secret(s, kept);
    if (s->conf.observe && (kept.n == 0 || memchr(kept.p, ':', kept.n) != NULL))
        return NULL; /* it can do without */
    if (kept.n > 5 && memcmp(kept.p, "file:", 5) == 0)
        return "this installation keeps its secret in a file: give the same secret file here";
    if (seal_secret_parse(s->secret, kept) != ERR_OK)
        return "the secret in this installation's record cannot be read";
    s->secret_known = true;
    return NULL;
}

static void adopt(struct store *s, uint64_t partitions, struct span secret)
{
    char why[STORE_WHY_MAX];
    const char *wrong = NULL;
    unsigned asked = s->partitions != 0 ? s->partitions : s->conf.partitions;

    if (partitions == 0 || partitions > ID_PARTITIONS_MAX)
        wrong = "the number of partitions in this installation's record cannot be read";
    if (wrong == NULL && asked != 0 && asked != partitions) {
        (void)snprintf(why, sizeof(why),
                       "this installation has %u partitions, not %u: that is fixed when it is made",
                       (unsigned)partitions, asked);
        wrong = why;
    }
    if (wrong == NULL)
        wrong = adopt_secret(s, secret);
    if (wrong != NULL) {
        store_told_refused(s, wrong);
        return;
    }
    s->partitions = (unsigned)partitions;
    s->tries = 0;
    store_told_ready(s);
}

/* The call did not work: is it worth another try on this link? */
static void boot_failed(struct store *s, enum err e)
{
    char why[STORE_WHY_MAX];

    if (e == ERR_UNAVAILABLE && rds_state(s->commands) != RDS_UP)
        return; /* the link is lost, which is told by its state */
    if (strncmp(s->error, "WRONGTYPE", 9) == 0) {
        (void)snprintf(why, sizeof(why),
                       "a key under the prefix \"%s\" is not of this program's making: give "
                       "another prefix",
                       s->conf.prefix);
        store_told_refused(s, why);
    } else if (strstr(s->error, "unknown command") != NULL) {
        store_told_refused(s, "this server has no functions (FCALL): Redis 7.0 or later, or "
                              "Valkey, is needed");
    } else {
        boot_again(s, s->error[0] != '\0' ? s->error : err_text(e));
    }
}

static void on_booted(void *arg, enum err e, const struct redisReply *reply)
{
    struct store *s = arg;
    uint64_t partitions = 0;

    if (s->closing || s->sm.state != STORE_S_BOOTING)
        return;
    if (e == ERR_OK && (reply->type != REDIS_REPLY_ARRAY || reply->elements < 2 ||
                        !reply_u64(reply->element[0], &partitions)))
        e = store_bad_answer(s, "boot");
    if (e != ERR_OK)
        boot_failed(s, e);
    else
        adopt(s, partitions, reply_span(reply->element[1]));
}

/* An onlooker reads the record and makes none. */
static void on_record(void *arg, enum err e, const struct redisReply *reply)
{
    struct store *s = arg;
    uint64_t partitions = 1;

    if (s->closing || s->sm.state != STORE_S_BOOTING)
        return;
    if (e == ERR_OK && reply->type == REDIS_REPLY_ERROR)
        e = store_error(s, "hmget", reply);
    else if (e == ERR_OK && (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2))
        e = store_bad_answer(s, "hmget");
    if (e != ERR_OK) {
        boot_failed(s, e);
        return;
    }
    if (reply->element[0]->type == REDIS_REPLY_STRING && !reply_u64(reply->element[0], &partitions))
        partitions = 0;
    adopt(s, partitions, reply_span(reply->element[1]));
}

static void read_record(struct store *s)
{
    char key[STORE_PREFIX_MAX + 16];
    int n = snprintf(key, sizeof(key), "%sconf", store_prefix(s, STORE_GLOBAL).p);
    const struct span argv[] = {
        SPAN("HMGET"), {key, (size_t)n}, SPAN("partitions"), SPAN("secret")};

    rds_send(s->commands, 4, argv, on_record, s);
}

/* What we know already is offered again, so that an installation whose Redis lost everything goes
 * on with the same partitions and the same secret. */
static void call_boot(struct store *s)
{
    char partitions[16];
    char secret[SEAL_HASH_LEN + 1];
    unsigned char fresh[32];
    struct span args[3] = {SPAN("conf")};
    struct store_call c = {"boot", STORE_GLOBAL, args, 1, 3};
    int n = snprintf(partitions, sizeof(partitions), "%u",
                     s->partitions != 0 ? s->partitions : s->conf.partitions);

    if (s->conf.secret != NULL) {
        fingerprint(secret, s->conf.secret);
    } else if (s->secret_known) {
        seal_secret_text(secret, s->secret);
    } else {
        seal_new_secret(fresh);
        seal_secret_text(secret, fresh);
        seal_wipe(fresh, sizeof(fresh));
    }
    args[1] = (struct span){partitions, (size_t)n};
    args[2] = span_of(secret);
    store_send_anyway(s, &c, on_booted, s);
    seal_wipe(secret, sizeof(secret));
}

/* A field of INFO as text; "" when it is not there. */
static void info_field(struct span info, const char *word, char *out, size_t room)
{
    size_t n = strlen(word);
    const char *at = info.p != NULL ? memmem(info.p, info.n, word, n) : NULL;
    size_t i = 0;

    if (at != NULL)
        for (at += n; i < room - 1 && at + i < info.p + info.n && at[i] > ' '; i++)
            out[i] = at[i];
    out[i] = '\0';
}

static bool too_old(struct store *s, struct span info)
{
    char version[16];
    char why[STORE_WHY_MAX];

    info_field(info, "redis_version:", version, sizeof(version));
    if (version[0] == '\0' || strtoul(version, NULL, 10) >= 7)
        return false; /* what is no Redis we know is told by the call itself */
    (void)snprintf(why, sizeof(why),
                   "Redis %s has no functions: Redis 7.0 or later, or Valkey, is needed", version);
    store_told_refused(s, why);
    return true;
}

/* A server that does not say its time (none that we know) is taken to have ours. */
static void compare_clocks(struct store *s, struct span info)
{
    char usec[24];
    int64_t redis_us;

    info_field(info, "server_time_usec:", usec, sizeof(usec));
    redis_us = usec[0] != '\0' ? strtoll(usec, NULL, 10) : (int64_t)clock_wall_ms() * 1000;
    s->clock_us = redis_us + (int64_t)(rds_lag_us(s->commands) / 2) - (int64_t)clock_mono_us();
}

bool store_info_may_evict(struct span info, char policy[static STORE_POLICY_MAX])
{
    info_field(info, "maxmemory_policy:", policy, STORE_POLICY_MAX);
    return policy[0] != '\0' && strcmp(policy, "noeviction") != 0;
}

/* A Redis that evicts keys loses tasks without a word. */
static void warn_of_eviction(struct span info)
{
    char policy[STORE_POLICY_MAX];

    if (store_info_may_evict(info, policy))
        LOG(EVICTION, S("policy", policy));
}

static void on_info(void *arg, enum err e, const struct redisReply *reply)
{
    struct store *s = arg;

    if (s->closing || e != ERR_OK || s->sm.state != STORE_S_BOOTING)
        return;
    if (too_old(s, reply_span(reply)))
        return;
    warn_of_eviction(reply_span(reply));
    compare_clocks(s, reply_span(reply));
    if (s->conf.observe)
        read_record(s);
    else
        call_boot(s);
}

static bool prefix_is_good(const char *prefix)
{
    size_t n = strspn(prefix, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-");

    return n > 0 && n <= STORE_PREFIX_MAX && prefix[n] == '\0';
}

void store_boot_start(struct store *s)
{
    const struct span argv[] = {SPAN("INFO")};

    s->error[0] = '\0';
    if (!prefix_is_good(s->conf.prefix))
        store_told_refused(s, "a prefix is 1 to 64 letters, digits and any of _ . : -");
    else
        rds_send(s->commands, 1, argv, on_info, s);
}

void store_boot_stop(struct store *s)
{
    (void)evtimer_del(s->retry);
    s->tries = 0;
}
