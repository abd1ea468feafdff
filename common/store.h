/* store.h - the installation in Redis: boot, partitions, secret, and what Redis publishes to us.
 *
 * A store owns two links: one for commands, one subscriber. The typed calls on top of it are in
 * store_task.h (brokers), store_job.h (workers), store_admin.h (operators), store_session.h,
 * store_key.h and registry.h; they and store_*.c are the only modules that know keys and functions.
 *
 * On every link-up the store loads the function library (its name holds a digest of its text, so
 * old and new versions live side by side), reads or creates the installation record (partitions,
 * secret), and only then is ready. Until then, and while the link is down, every call ends with
 * ERR_UNAVAILABLE on a later turn of the loop.
 */
#pragma once

#include "common/err.h"
#include "common/rds.h"
#include "common/span.h"
#include "common/task.h"
#include "common/url.h"

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct store;

struct store_conf {
    const struct url *url; /* outlives the store */
    const char *prefix; /* "errand" */
    const char *self; /* 8-character id of this process: its channel and its interest */
    const char *role; /* "broker", "worker", "cli": for CLIENT SETNAME */
    unsigned partitions; /* 0: take what is there, 1 at first start; else refused if different */
    const unsigned char *secret; /* 32 bytes from a file: only a mark of them is kept in Redis, and
                                    every process needs the same file; or NULL: kept in Redis,
                                    made at first start */
    uint64_t reply_timeout_ms; /* 0: the link's default */
    bool subscribe; /* open the subscriber link too */
    unsigned replicas; /* how many store_settle() waits for; 0: it must not be called */
    bool observe; /* make nothing: no installation is 1 empty partition; the
                     secret may stay unknown */
};

/* What the store tells its owner. READY: calls work (again). DOWN: they do not. REFUSED: they
 * never will (partitions differ, no FCALL in this server, wrong type under our prefix): why says
 * so in one sentence and the program exits. GAP: messages may have been missed, because the
 * subscriber link was away: re-read whatever you wait for. */
enum store_news { STORE_READY, STORE_DOWN, STORE_REFUSED, STORE_GAP };
typedef void store_news_fn(void *arg, enum store_news news, const char *why);

/* What other processes tell this one, by its channel or the common one. Borrowed. */
enum store_event_kind {
    STORE_EV_TASK, /* a task this process waits for changed */
    STORE_EV_CROWDED, /* a broker: so many others wait for .task.id that it is not told any more,
                         unless it asks again */
    STORE_EV_WAKE, /* worker: something is ready in .partition */
    STORE_EV_CANCEL, /* worker: stop .task.id; its fence is gone */
    STORE_EV_INPUT, /* worker: question .key of .task.id got an answer */
    STORE_EV_CALLED, /* worker: a callback for .task.id has come */
    STORE_EV_SESSION_ENDED, /* all brokers: .session is no more */
    STORE_EV_CANCEL_REQUEST, /* all brokers: the client of .session cancelled its request .request
                              */
    STORE_EV_TOOLS, /* all: the tool registry changed */
    STORE_EV_KEYS, /* all: an API key was made or revoked */
    STORE_EV_STREAM, /* a broker: an event of a stream that it holds: .stream .entry .data, or,
                        when .is_task, .task */
    STORE_EV_STREAM_TAKEN, /* a broker: another one now holds .stream */
    STORE_EV_STREAM_SILENT, /* a broker: .stream is no longer the newest GET stream of its session;
                               it stays open */
    STORE_EV_STREAM_LEADS, /* a broker: .stream is that again */
    STORE_EV_WANTED, /* workers: what is watched of wrapped servers changed */
    STORE_EV_UPDATED, /* brokers: resource .uri of the wrapped .server changed */
};
struct store_event {
    enum store_event_kind kind;
    struct task task; /* TASK: the whole record, outcome inline when at most 16 KiB */
    bool outcome_omitted; /* TASK, terminal: the outcome is larger; read it */
    struct span session; /* id */
    struct span request; /* raw JSON-RPC id, or a name that stands for it */
    struct span key; /* of a question */
    struct span server; /* of a wrapped one: its name */
    struct span uri;
    struct span stream; /* id */
    struct span entry; /* place of an event in its stream */
    bool is_task;
    struct span data; /* a whole JSON-RPC message */
    unsigned partition;
};
typedef void store_event_fn(void *arg, const struct store_event *ev);

struct store *store_new(struct event_base *base, const struct store_conf *conf,
                        store_news_fn *on_news, store_event_fn *on_event, void *arg);
void store_free(struct store *s); /* shutdown only; outstanding calls end inside */
bool store_is_ready(const struct store *s);
/* How long ago something happened by Redis's clock, in microseconds: 0 for what has not. The clocks
 * are compared whenever the link comes up. */
uint64_t store_since_us(const struct store *s, uint64_t redis_ms);
bool store_is_listening(
    const struct store *s); /* the subscriber link is up: caches may be trusted */
unsigned store_partitions(const struct store *s);
const unsigned char *store_secret(const struct store *s); /* 32 bytes; NULL before ready */
unsigned store_partition_of_owner(const struct store *s, struct span owner);
const char *store_self(const struct store *s);

/* Told when so many replicas as conf.replicas have what this process wrote until now; otherwise,
 * within a few seconds, ERR_UNAVAILABLE: what was written stands all the same. */
typedef void store_settled_fn(void *arg, enum err e);
void store_settle(struct store *s, store_settled_fn *fn, void *arg);

uint64_t store_dropped(const struct store *s); /* malformed messages so far */
size_t store_in_flight(const struct store *s); /* commands that Redis has not answered yet */

/* Tells every process that listens: kind is the message's first word, a and b follow it, a {NULL,
 * 0} is left out. "Q": the client of session a cancelled its request b. Best effort, like all
 * messages. */
void store_tell_all(struct store *s, const char *kind, struct span a, struct span b);

/* --- for the store_*.c modules only --- */

/* One function call: fn is the bare name ("create"), static; keys are suffixes under the
 * partition's prefix ("t:<id>"), argv follows T. A Redis error becomes an err: OOM OUT_OF_SPACE,
 * LOADING, READONLY, MISCONF, NOREPLICAS, BUSY, MASTERDOWN UNAVAILABLE, a missing function is
 * loaded and the call sent again once, anything else INTERNAL and is logged. */
struct redisReply;
typedef void store_reply_fn(void *arg, enum err e, const struct redisReply *reply);
enum { STORE_ARGS_MAX = 4096 };
struct store_call {
    const char *fn;
    unsigned partition; /* STORE_GLOBAL for installation-wide keys */
    struct span *args; /* keys, then arguments; room for STORE_ARGS_MAX */
    size_t keys;
    size_t count; /* keys + arguments */
};
enum { STORE_GLOBAL = 0xffff };
void store_send(struct store *s, const struct store_call *c, store_reply_fn *fn, void *arg);
/* A plain command on the command link (INFO, CONFIG GET, ...). */
void store_command(struct store *s, size_t argc, const struct span *argv, store_reply_fn *fn,
                   void *arg);
/* The prefix of a partition's keys, e.g. "errand:{0}:", or of the global ones, "errand:{g}:". */
struct span store_prefix(const struct store *s, unsigned partition);
/* A row of a function's answer as a task; false when it is none. */
bool store_task_row(const struct redisReply *row, struct task *out);
/* The record of a task as a stream keeps it; false when it is none. */
bool store_task_text(struct span text, struct task *out);
