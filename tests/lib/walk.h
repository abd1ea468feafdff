/* walk.h - a random walk over the functions of the store, with a model beside it.
 *
 * Brokers create, read, cancel, answer; workers claim, finish, retry, crash, and go on talking when
 * they have lost their tasks; leases lapse, tasks expire. After every step the model says what may
 * have happened, and what Redis answered and published is held against it; from time to time the
 * whole store is. Jobs also ask, log and report progress, on streams that open, change hands and
 * vanish: each message must be on the one stream that the model names, once. A walk is its seed:
 * the same seed takes the same steps (times differ).
 */
#pragma once

#include "tests/lib/moves.h"

enum {
    WALK_PARTITIONS = 2,
    WALK_OWNERS = 6,
    WALK_TOOLS = 3,
    WALK_WORKERS = 5,
    WALK_BROKERS = 10,
    WALK_TASKS = 4000,
    WALK_HELD = 64,
    WALK_LOST = 64,
    WALK_MAX_ACTIVE = 14,
    WALK_BRIEF_MS = 40,
    WALK_WAITING_MAX = 8,
    WALK_KEYS = 3,
    WALK_STREAMS = 600,
    WALK_LOGS = 3000,
};

/* A question under one of the keys. */
struct walk_key {
    bool asked, answered, settled;
    bool sent; /* to the owner's session, and it may answer */
    unsigned fence; /* of the attempt that asked last */
    uint64_t ids; /* bit n: id n was seen */
    uint64_t cancelled;
    int stream; /* where it went last; -1 */
};

struct walk_task {
    char id[25];
    int owner;
    int tool;
    unsigned priority;
    bool hidden;
    bool brief; /* its ttl ends during the walk */
    int64_t expires;
    long long seq;
    unsigned attempts;
    int idem; /* number of its idempotency key; -1: none */
    bool sessioned;
    /* what happened to it */
    unsigned fence; /* of the newest attempt */
    unsigned attempt; /* number of the newest one */
    unsigned next; /* number of the next one, as far as we know */
    bool running; /* by a worker that should still hold it */
    int64_t leased; /* at least until then */
    char wid[16]; /* of the newest attempt */
    char handle[16];
    bool stateless; /* its dialect */
    bool logs; /* stateless: its call asked for log lines */
    bool token;
    int progress; /* the last that counted */
    int own_stream; /* reserved at its creation; -1 */
    int stream; /* the newest that was opened for it; -1 */
    struct walk_key keys[WALK_KEYS];
    char end; /* 'r' 'e' 'x' once we know; '\0' */
    bool fresh; /* the end became known in this step */
    unsigned version; /* the last one told */
    int waiting[WALK_WAITING_MAX];
    int waiting_count;
    int told[WALK_BROKERS]; /* of its end */
    /* where a check found it */
    int in_ls, in_dl, in_ready, in_window, in_park;
};

struct walk_stream {
    char id[9];
    int owner;
    int task; /* -1: GET */
    int holder; /* broker; -1 */
    bool exists; /* its record does */
    bool has_session;
    int count;
    int room;
    char (*entries)[32]; /* that we know of */
    int due; /* questions, lines and progress that must be on it and were not seen there yet */
};

struct walk_hold {
    int task;
    unsigned fence;
};

struct walk_worker {
    char wid[16];
    int pool;
    struct walk_hold held[WALK_HELD];
    int count;
};

struct walk {
    struct lua *l;
    uint64_t seed;
    uint64_t random;
    unsigned step;
    const char *doing;
    unsigned violations;
    struct walk_task *tasks;
    int count;
    struct walk_worker workers[WALK_WORKERS];
    struct walk_hold lost[WALK_LOST]; /* what crashed or fenced-off workers still believe to hold */
    int lost_count;
    int next_wid, next_idem;
    int idem_of[WALK_OWNERS]; /* newest task with an idempotency key; -1 */
    bool session[WALK_OWNERS];
    struct walk_stream streams[WALK_STREAMS];
    int stream_count;
    int get_stream[WALK_OWNERS]; /* the newest of the owner's session; -1 */
    int log_stream[WALK_LOGS]; /* where each line must be; -1: nowhere; -2: it was seen */
    int log_count;
    unsigned events; /* seen on streams */
    int allowed; /* operations of the owner that has a rate */
    int64_t began;
    int requeued[WALK_OWNERS];
    unsigned ended[3]; /* r e x, as answered */
    unsigned did[32]; /* how often each step was taken, for the curious */
};

void walk_start(struct walk *w, struct lua *l, uint64_t seed);
void walk_step(struct walk *w);
void walk_check(struct walk *w, bool thorough); /* the whole store against the model */
void walk_settle(struct walk *w); /* everything ends; then everything expires; with checks */
void walk_end(struct walk *w);

/* --- for its own parts --- */

unsigned walk_random(struct walk *w, unsigned below);
bool walk_chance(struct walk *w, unsigned percent);
int64_t walk_now(void); /* ms, on the clock that Redis uses too */
void walk_violation(struct walk *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void walk_use(struct walk *w, int owner); /* the owner's partition */
const char *walk_owner(int owner);
const char *walk_tool(int tool);
const char *walk_broker(int broker);
unsigned walk_limit(int owner); /* its window */
struct walk_task *walk_find(struct walk *w, const char *id);
/* Adds the task that was answered as a row at `path`. */
struct walk_task *walk_add(struct walk *w, const struct walk_task *like, const char *path);
bool walk_ended(char state);
void walk_know_end(struct walk *w, struct walk_task *t, char end);
void walk_wait(struct walk_task *t, int broker);
const char *walk_word(const char *text, int n); /* the rest from its n-th word on; "" */
void walk_hear(struct walk *w); /* what was published in this step */
/* --- streams, see walk_talk.c --- */

const char *walk_key(int key); /* the last one is hosted */
struct walk_stream *walk_stream(struct walk *w, int owner, int task); /* NULL: no more of them */
bool walk_is_there(const struct walk *w, int stream);
/* The stream that carries what a task says, -1: none; as in Redis, a call's own may be made. */
int walk_carrier(struct walk *w, struct walk_task *t);
void walk_event(struct walk *w, struct walk_stream *s, const char *entry, const char *kind,
                const char *data);
void walk_heard_stream(struct walk *w, int broker, const char *text);
void walk_heard_moved(struct walk *w, int broker, const char *text);
/* The events of the last answer from element `at` on; the first is number `known` of the stream. */
void walk_read_events(struct walk *w, struct walk_stream *s, size_t at, int known);
void walk_read_stream(struct walk *w, struct walk_stream *s); /* what nobody was told */
bool walk_waits_for(const struct walk_task *t, int key);
void walk_check_due(struct walk *w);
void walk_check_talk(struct walk *w);

/* --- the rest --- */

void walk_hand(const struct walk_worker *k, struct hand *h);
void walk_hold(struct walk *w, struct walk_worker *k, struct walk_hold h);
void walk_claimed(struct walk *w, struct walk_worker *k, const char *path, int64_t before,
                  uint64_t lease);
/* The verdict on (task, fence), asked for at `before`: was it right? True for OK. */
bool walk_verdict(struct walk *w, struct walk_hold h, const char *verdict, int64_t before);
