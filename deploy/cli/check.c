#include "deploy/cli/check.h"

#include "common/buf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SKEW_NOTE_MS = 1000,
    SKEW_BAD_MS = 5000,
    LISTPACK_MIN = 4096,
    PUBSUB_HARD_MIN = 32 << 20, /* Redis's own default */
    PUBSUB_SOFT_MIN = 8 << 20,
    TEXT_MAX = 1024,
};

/* What one check writes: it starts as OK and says what it has found. */
struct finding {
    enum check_level level;
    struct buf found;
    struct buf advice;
};

typedef void one_fn(const struct check_facts *f, struct finding *d);

struct span check_info(struct span info, const char *name)
{
    size_t n = strlen(name);

    for (size_t at = 0; at < info.n;) {
        const char *line = info.p + at;
        const char *stop = memchr(line, '\n', info.n - at);
        size_t len = stop != NULL ? (size_t)(stop - line) : info.n - at;

        if (len > n && line[n] == ':' && memcmp(line, name, n) == 0) {
            struct span v = {line + n + 1, len - n - 1};

            while (v.n > 0 && (unsigned char)v.p[v.n - 1] <= ' ')
                v.n--;
            return v;
        }
        at += len + 1;
    }
    return (struct span){NULL, 0};
}

static uint64_t number(struct span s)
{
    char text[24] = "";

    memcpy(text, s.p != NULL ? s.p : "", s.n < sizeof(text) - 1 ? s.n : sizeof(text) - 1);
    return strtoull(text, NULL, 10);
}

static void bad(struct finding *d, const char *advice)
{
    d->level = CHECK_BAD;
    buf_adds(&d->advice, advice);
}

static void note(struct finding *d, const char *advice)
{
    d->level = CHECK_NOTE;
    buf_adds(&d->advice, advice);
}

/* Hosted Redis often has no CONFIG. */
static bool is_hidden(struct span value, struct finding *d)
{
    if (value.p != NULL)
        return false;
    buf_adds(&d->found, "cannot be read");
    note(d, "this server does not let us look: ask whoever runs it");
    return true;
}

static void version(const struct check_facts *f, struct finding *d)
{
    struct span valkey = check_info(f->info, "valkey_version");
    struct span redis = check_info(f->info, "redis_version");

    if (is_hidden(redis, d))
        return;
    buf_adds(&d->found, valkey.p != NULL ? "Valkey " : "Redis ");
    buf_add_span(&d->found, valkey.p != NULL ? valkey : redis);
    if (number(redis) < 7)
        bad(d, "Redis 7.0 or later, or Valkey, is needed");
}

static void role(const struct check_facts *f, struct finding *d)
{
    struct span r = check_info(f->info, "role");

    if (is_hidden(r, d))
        return;
    buf_add_span(&d->found, r);
    if (span_is(check_info(f->info, "cluster_enabled"), "1"))
        bad(d, "this is a node of a cluster, which is not supported yet: use a single server");
    else if (!span_is(r, "master"))
        bad(d, "this is a replica: give the address of its master");
}

static void persistence(const struct check_facts *f, struct finding *d)
{
    if (is_hidden(f->appendonly, d))
        return;
    if (!span_is(f->appendonly, "yes")) {
        buf_adds(&d->found, "no append-only file");
        bad(d, "tasks are lost when Redis ends: CONFIG SET appendonly yes, and in redis.conf");
        return;
    }
    buf_adds(&d->found, "append-only file, fsync ");
    buf_add_span(&d->found, f->appendfsync);
    if (span_is(f->appendfsync, "no"))
        bad(d, "the system decides when tasks reach the disk: CONFIG SET appendfsync everysec");
    else if (check_info(f->info, "aof_last_write_status").p != NULL &&
             !span_is(check_info(f->info, "aof_last_write_status"), "ok"))
        bad(d, "the last write to it failed: look at the disk and at Redis's log");
}

/* Redis reads its append-only file with the rights of the default user, and leaves out whatever
 * that may not do: every function's effects, for they stand in a MULTI. */
static void default_user(const struct check_facts *f, struct finding *d)
{
    if (is_hidden(f->may_replay, d))
        return;
    if (span_is(f->may_replay, "OK")) {
        buf_adds(&d->found, "has its rights");
        return;
    }
    buf_adds(&d->found, "has no right to write");
    bad(d, "Redis reads the append-only file as that user and will lose all tasks at its next "
           "start: ACL SETUSER default off allkeys allchannels allcommands");
}

static void memory(const struct check_facts *f, struct finding *d)
{
    uint64_t max = number(f->maxmemory);
    uint64_t used = number(check_info(f->info, "used_memory"));

    if (is_hidden(f->maxmemory, d))
        return;
    buf_addf(&d->found, "%" PRIu64 " MB used", used >> 20);
    if (max == 0) {
        buf_adds(&d->found, ", no limit");
        note(d, "a limit turns a full machine into refused tasks: CONFIG SET maxmemory, at half "
                "of its memory");
        return;
    }
    buf_addf(&d->found, " of %" PRIu64 " MB", max >> 20);
    if (used > max / 10 * 9)
        bad(d, "new tasks will soon be refused: raise maxmemory, or shorten what tasks live");
}

static void eviction(const struct check_facts *f, struct finding *d)
{
    if (is_hidden(f->policy, d))
        return;
    buf_add_span(&d->found, f->policy);
    if (!span_is(f->policy, "noeviction"))
        bad(d, "Redis may throw tasks away to make room: CONFIG SET maxmemory-policy noeviction");
}

static void listpack(const struct check_facts *f, struct finding *d)
{
    if (is_hidden(f->listpack, d))
        return;
    buf_add_span(&d->found, f->listpack);
    if (number(f->listpack) < LISTPACK_MIN)
        note(d, "a small task takes twice the memory: CONFIG SET hash-max-listpack-value 4096");
}

/* "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60" */
static void pubsub(const struct check_facts *f, struct finding *d)
{
    unsigned long long hard = 0;
    unsigned long long soft = 0;
    unsigned long long seconds = 0;
    char text[256] = "";
    char *at;

    if (is_hidden(f->limits, d))
        return;
    memcpy(text, f->limits.p, f->limits.n < sizeof(text) - 1 ? f->limits.n : sizeof(text) - 1);
    at = strstr(text, "pubsub ");
    if (at == NULL)
        return;
    at += strlen("pubsub ");
    buf_adds(&d->found, at);
    hard = strtoull(at, &at, 10);
    soft = strtoull(at, &at, 10);
    seconds = strtoull(at, NULL, 10);
    if ((hard != 0 && hard < PUBSUB_HARD_MIN) ||
        (soft != 0 && (soft < PUBSUB_SOFT_MIN || seconds < 10)))
        bad(d, "brokers that are busy for a moment are cut off: CONFIG SET "
               "client-output-buffer-limit \"pubsub 64mb 16mb 60\"");
}

static void timeout(const struct check_facts *f, struct finding *d)
{
    if (is_hidden(f->timeout, d))
        return;
    buf_add_span(&d->found, f->timeout);
    buf_adds(&d->found, " s");
    if (number(f->timeout) != 0)
        note(d, "idle programs are cut off and dial again: CONFIG SET timeout 0");
}

static void clocks(const struct check_facts *f, struct finding *d)
{
    uint64_t skew = f->our_ms > f->redis_ms ? f->our_ms - f->redis_ms : f->redis_ms - f->our_ms;

    buf_addf(&d->found, "%" PRIu64 " ms between Redis and this machine", skew);
    if (skew >= SKEW_BAD_MS)
        bad(d, "keys, cursors and times are wrong by that much: keep the clocks in step (NTP)");
    else if (skew >= SKEW_NOTE_MS)
        note(d, "keep the clocks in step (NTP)");
}

static void installation(const struct check_facts *f, struct finding *d)
{
    if (!f->is_made) {
        buf_adds(&d->found, "none");
        note(d, "the first broker makes it; if there is one, look at --prefix");
        return;
    }
    buf_addf(&d->found, "%u partition%s", f->partitions, f->partitions == 1 ? "" : "s");
}

static void library(const struct check_facts *f, struct finding *d)
{
    buf_adds(&d->found, f->has_library ? "loaded" : "not loaded");
    if (!f->has_library)
        note(d, "the first program that connects loads it; its user needs FUNCTION LOAD");
}

static void workers(const struct check_facts *f, struct finding *d)
{
    buf_addf(&d->found, "%zu alive", f->workers);
    if (f->workers == 0)
        bad(d, "nothing runs the tasks: start errand-worker");
}

static const struct {
    const char *what;
    one_fn *fn;
} checks[] = {
    {"server", version},
    {"role", role},
    {"persistence", persistence},
    {"default user", default_user},
    {"memory", memory},
    {"eviction", eviction},
    {"hash-max-listpack-value", listpack},
    {"pubsub output limit", pubsub},
    {"timeout", timeout},
    {"clocks", clocks},
    {"installation", installation},
    {"function library", library},
    {"workers", workers},
};

void check_everything(const struct check_facts *f, check_fn *fn, void *arg)
{
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        struct finding d = {.level = CHECK_OK};

        buf_init(&d.found, TEXT_MAX);
        buf_init(&d.advice, TEXT_MAX);
        buf_adds(&d.found, "");
        buf_adds(&d.advice, "");
        checks[i].fn(f, &d);
        fn(arg, d.level, checks[i].what, d.found.p != NULL ? d.found.p : "",
           d.advice.p != NULL ? d.advice.p : "");
        buf_fini(&d.found);
        buf_fini(&d.advice);
    }
}
