/* Every state of a task against every function that meets it: the answer, the state and the place
 * it has afterwards, held against this table and against the moves that common/task.def allows. */
#include "common/task.h"
#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state { ABSENT, READY, PARKED, DELAYED, RUNNING, INPUT, RESULT, ERROR, CANCELLED, EXPIRED };
enum { STATES = 10 };
#define TASK ID(1)

static const char *const state_names[STATES] = {"absent",    "ready",  "parked", "delayed",
                                                "running",   "input",  "result", "error",
                                                "cancelled", "expired"};
static unsigned fence; /* of the attempt that a caller believes to hold */

/* --- how a task comes into each state --- */

static void build(struct lua *l, enum state s)
{
    struct new_task t = {.id = TASK, .max_running = s == PARKED ? 1 : 0, .attempts = 3};
    struct end e = {.id = TASK, .state = s == ERROR ? 'e' : 'r'};

    fence = 1;
    if (s == ABSENT)
        return;
    if (s == PARKED)
        (void)move_create(l, &(struct new_task){.id = ID(9), .max_running = 1, .tool = "other"});
    (void)move_create(l, &t);
    if (s >= DELAYED && s != EXPIRED)
        fence = move_take(l, TASK);
    e.fence = fence;
    if (s == DELAYED)
        (void)move_retry(l, TASK, fence, 60000);
    if (s == INPUT)
        (void)move_ask(l, TASK, fence, "k", "?");
    if (s == RESULT || s == ERROR)
        (void)move_finish(l, &(struct hand){.wid = "w1"}, &e, 1, 0);
    if (s == CANCELLED)
        (void)move_cancel(l, TASK, OWNER);
    if (s == EXPIRED)
        expire(l, TASK, OWNER);
}

/* --- the functions, each answering in one word --- */

static const char *do_create(struct lua *l)
{
    (void)move_create(l, &(struct new_task){.id = TASK});
    return lua_at(l, "0");
}

static const char *do_claim(struct lua *l)
{
    (void)move_claim(l, &(struct hand){.wid = "w2"}, 5);
    return lua_count(l, "") == 0 ? "none" : lua_is(l, "0.0", TASK) ? "JOB" : "other";
}

static const char *do_finish(struct lua *l)
{
    return move_end(l, TASK, fence, "{}");
}

static const char *do_beat(struct lua *l)
{
    (void)move_beat(l, TASK, fence, 60000);
    return lua_count(l, "") == 0 ? "KEPT" : "LOST";
}

static const char *do_report(struct lua *l)
{
    (void)move_report(l, TASK, fence, "half", "1");
    return lua_at(l, "");
}

static const char *do_hook(struct lua *l)
{
    (void)move_hook(l, TASK, "{}");
    return lua_at(l, "");
}

static const char *do_heard(struct lua *l)
{
    (void)move_heard(l, TASK, fence, 0);
    return lua_at(l, "0");
}

static const char *do_handle(struct lua *l)
{
    (void)move_handle(l, TASK, fence, "job");
    return lua_at(l, "");
}

static const char *do_retry(struct lua *l)
{
    (void)move_retry(l, TASK, fence, 60000);
    return lua_at(l, "");
}

static const char *do_last_retry(struct lua *l)
{
    if (strcmp(field(l, TASK, "mx"), "nil") != 0)
        (void)lua_redis(l, "HSET %st:%s tr 2", l->T, TASK);
    return do_retry(l);
}

static const char *do_release(struct lua *l)
{
    (void)move_release(l, TASK, fence);
    return lua_at(l, "0");
}

static const char *do_unclaim(struct lua *l)
{
    (void)move_unclaim(l, "w1", 0);
    return lua_at(l, "");
}

static const char *do_ask(struct lua *l)
{
    (void)move_ask(l, TASK, fence, "k2", "?");
    return lua_at(l, "0");
}

static const char *do_unask(struct lua *l)
{
    (void)move_unask(l, TASK, fence, "k", "");
    return lua_at(l, "");
}

static const char *do_log(struct lua *l)
{
    (void)move_log(l, TASK, fence, "error", "1");
    return lua_at(l, "");
}

static const char *do_questions(struct lua *l)
{
    (void)move_questions(l, TASK, OWNER);
    return lua_count(l, "") == 3 ? "ONE" : lua_at(l, "");
}

static const char *do_promote(struct lua *l)
{
    (void)move_promote(l, TASK, OWNER);
    return lua_count(l, "") > 0 ? lua_at(l, "0") : lua_at(l, "");
}

static const char *do_open(struct lua *l)
{
    (void)move_session(l, "s1", OWNER);
    (void)move_open(l, "wait-1", 'r', "s1", TASK, "b1");
    return lua_count(l, "") == 4 ? "ASKED" : lua_count(l, "") > 0 ? lua_at(l, "0") : lua_at(l, "");
}

static const char *do_answer(struct lua *l)
{
    (void)move_answer(l, TASK, OWNER, "k", "!");
    return lua_count(l, "") > 0 ? lua_at(l, "0") : lua_at(l, "");
}

static const char *do_get(struct lua *l)
{
    (void)move_get(l, TASK, OWNER, "b1");
    return lua_count(l, "") == 16 ? "ROW" : lua_at(l, "");
}

static const char *do_cancel(struct lua *l)
{
    (void)move_cancel(l, TASK, OWNER);
    return lua_count(l, "") > 0 ? lua_at(l, "0") : lua_at(l, "");
}

static const char *do_list(struct lua *l)
{
    (void)move_list(l, OWNER, 0, 5);
    for (size_t i = 2; i < lua_count(l, ""); i++) {
        char path[32];

        (void)snprintf(path, sizeof(path), "%zu.0", i);
        if (strcmp(lua_at(l, path), TASK) == 0)
            return "ROW";
    }
    return "none";
}

static const char *do_tick(struct lua *l)
{
    (void)move_tick(l);
    return "-";
}

static const char *do_late_tick(struct lua *l)
{
    lapse(l, TASK);
    come_due(l, TASK);
    return do_tick(l);
}

static const char *do_last_tick(struct lua *l)
{
    if (strcmp(field(l, TASK, "mx"), "nil") != 0)
        (void)lua_redis(l, "HSET %st:%s mx 1", l->T, TASK);
    lapse(l, TASK);
    return do_tick(l);
}

/* Each cell: answer, state letter afterwards (- for none), place afterwards. */
static const struct {
    const char *name;
    const char *(*run)(struct lua *l);
    const char *want[STATES];
} rows[] = {
    {"create",
     do_create,
     {"OK w ready", "DUP w ready", "DUP w parked", "DUP w delayed", "DUP w running",
      "DUP i running", "DUP r ended", "DUP e ended", "DUP x ended", "OK w ready"}},
    {"claim",
     do_claim,
     {"none - gone", "JOB w running", "none w parked", "none w delayed", "none w running",
      "none i running", "none r ended", "none e ended", "none x ended", "none - gone"}},
    {"finish",
     do_finish,
     {"GONE - gone", "STALE w ready", "STALE w parked", "STALE w delayed", "OK r ended",
      "OK r ended", "DONE r ended", "DONE e ended", "ENDED x ended", "GONE - gone"}},
    {"beat",
     do_beat,
     {"LOST - gone", "LOST w ready", "LOST w parked", "LOST w delayed", "KEPT w running",
      "KEPT i running", "LOST r ended", "LOST e ended", "LOST x ended", "LOST - gone"}},
    {"report",
     do_report,
     {"GONE - gone", "STALE w ready", "STALE w parked", "STALE w delayed", "OK w running",
      "OK i running", "DONE r ended", "DONE e ended", "ENDED x ended", "GONE - gone"}},
    {"handle",
     do_handle,
     {"GONE - gone", "STALE w ready", "STALE w parked", "STALE w delayed", "OK w running",
      "OK i running", "DONE r ended", "DONE e ended", "ENDED x ended", "GONE - gone"}},
    {"hook",
     do_hook,
     {"nil - gone", "OK w ready", "OK w parked", "OK w delayed", "OK w running", "OK i running",
      "ENDED r ended", "ENDED e ended", "ENDED x ended", "nil - gone"}},
    {"heard",
     do_heard,
     {"GONE - gone", "STALE w ready", "STALE w parked", "STALE w delayed", "OK w running",
      "OK i running", "DONE r ended", "DONE e ended", "ENDED x ended", "GONE - gone"}},
    {"retry",
     do_retry,
     {"GONE - gone", "STALE w ready", "STALE w parked", "STALE w delayed", "OK w delayed",
      "OK w delayed", "DONE r ended", "DONE e ended", "ENDED x ended", "GONE - gone"}},
    {"retry, the last",
     do_last_retry,
     {"GONE - gone", "STALE w ready", "STALE w parked", "STALE w delayed", "DEAD e ended",
      "DEAD e ended", "DONE r ended", "DONE e ended", "ENDED x ended", "GONE - gone"}},
    {"release",
     do_release,
     {"GONE - gone", "STALE w ready", "STALE w parked", "STALE w delayed", "OK w ready",
      "OK w ready", "DONE r ended", "DONE e ended", "ENDED x ended", "GONE - gone"}},
    {"unclaim",
     do_unclaim,
     {"0 - gone", "0 w ready", "0 w parked", "0 w delayed", "1 w ready", "1 w ready", "0 r ended",
      "0 e ended", "0 x ended", "0 - gone"}},
    {"ask",
     do_ask,
     {"GONE - gone", "STALE w ready", "STALE w parked", "STALE w delayed", "OK i running",
      "OK i running", "DONE r ended", "DONE e ended", "ENDED x ended", "GONE - gone"}},
    {"answer",
     do_answer,
     {"nil - gone", "CONFLICT w ready", "CONFLICT w parked", "CONFLICT w delayed",
      "CONFLICT w running", "OK w running", "CONFLICT r ended", "CONFLICT e ended",
      "CONFLICT x ended", "nil - gone"}},
    {"unask",
     do_unask,
     {"GONE - gone", "STALE w ready", "STALE w parked", "STALE w delayed", "OK w running",
      "OK w running", "DONE r ended", "DONE e ended", "ENDED x ended", "GONE - gone"}},
    {"log",
     do_log,
     {"GONE - gone", "STALE w ready", "STALE w parked", "STALE w delayed", "OK w running",
      "OK i running", "DONE r ended", "DONE e ended", "ENDED x ended", "GONE - gone"}},
    {"questions",
     do_questions,
     {"nil - gone", "array w ready", "array w parked", "array w delayed", "array w running",
      "ONE i running", "array r ended", "array e ended", "array x ended", "nil - gone"}},
    {"promote",
     do_promote,
     {"nil - gone", "OK w ready", "OK w parked", "OK w delayed", "OK w running", "OK i running",
      "ENDED r ended", "ENDED e ended", "ENDED x ended", "nil - gone"}},
    {"stream_open",
     do_open,
     {"nil - gone", "OK w ready", "OK w parked", "OK w delayed", "OK w running", "ASKED i running",
      "OK r ended", "OK e ended", "OK x ended", "nil - gone"}},
    {"get",
     do_get,
     {"nil - gone", "ROW w ready", "ROW w parked", "ROW w delayed", "ROW w running",
      "ROW i running", "ROW r ended", "ROW e ended", "ROW x ended", "nil - gone"}},
    {"cancel",
     do_cancel,
     {"nil - gone", "OK x ended", "OK x ended", "OK x ended", "OK x ended", "OK x ended",
      "ENDED r ended", "ENDED e ended", "ENDED x ended", "nil - gone"}},
    {"list",
     do_list,
     {"none - gone", "ROW w ready", "ROW w parked", "ROW w delayed", "ROW w running",
      "ROW i running", "ROW r ended", "ROW e ended", "ROW x ended", "none - gone"}},
    {"tick",
     do_tick,
     {"- - gone", "- w ready", "- w parked", "- w delayed", "- w running", "- i running",
      "- r ended", "- e ended", "- x ended", "- - gone"}},
    {"tick, late",
     do_late_tick,
     {"- - gone", "- w ready", "- w parked", "- w ready", "- w delayed", "- w delayed", "- r ended",
      "- e ended", "- x ended", "- - gone"}},
    {"tick, the last attempt",
     do_last_tick,
     {"- - gone", "- w ready", "- w parked", "- w delayed", "- e ended", "- e ended", "- r ended",
      "- e ended", "- x ended", "- - gone"}},
};

static char letter_now(struct lua *l)
{
    const char *s = field(l, TASK, "s");

    return strcmp(s, "nil") == 0 ? '-' : s[0];
}

static bool is_legal(char from, char to)
{
    enum task_state a;
    enum task_state b;

    if (from == to || from == '-')
        return from == to || to == 'w';
    return task_state_of(from, &a) && task_state_of(to, &b) && task_may_move(a, b);
}

/* One cell. An ended task must not change in any byte. */
static bool cell_holds(struct lua *l, size_t row, enum state s)
{
    char before;
    char answer[32];
    char got[64];
    redisReply *was;
    bool same;

    lua_flush(l);
    build(l, s);
    before = letter_now(l);
    was = redisCommand(l->redis.c, "DUMP %st:%s", l->T, TASK);
    (void)snprintf(answer, sizeof(answer), "%s", rows[row].run(l));
    (void)snprintf(got, sizeof(got), "%s %c %s", answer, letter_now(l), place(l, TASK));
    (void)lua_redis(l, "DUMP %st:%s", l->T, TASK);
    same = s < RESULT || s > CANCELLED || strncmp(rows[row].name, "tick, the", 9) == 0 ||
           strncmp(rows[row].name, "retry, the", 10) == 0 ||
           (was->len == l->r->len && memcmp(was->str, l->r->str, (size_t)was->len) == 0);
    freeReplyObject(was);
    if (strcmp(got, rows[row].want[s]) == 0 && is_legal(before, letter_now(l)) && same)
        return true;
    (void)fprintf(stderr, "  %s of a task that is %s: \"%s\", not \"%s\"%s\n", rows[row].name,
                  state_names[s], got, rows[row].want[s], same ? "" : "; its record changed");
    return false;
}

TEST(every_function_meets_every_state_as_the_table_says)
{
    struct lua *l = lua_fresh();

    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++)
        for (enum state s = ABSENT; s <= EXPIRED; s++)
            CHECK(cell_holds(l, row, s));
}

/* The moves of task.def that a task made somewhere in the table: all of them. */
TEST(every_move_of_the_declared_machine_is_made_by_some_function)
{
    static const enum state starts[] = {RUNNING, INPUT};
    static const char letters[] = {'w', 'i'};

    for (size_t i = 0; i < 2; i++) {
        for (unsigned to = 0; to < TASK_STATE_COUNT; to++) {
            enum task_state from;
            bool made = false;

            REQUIRE(task_state_of(letters[i], &from));
            for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++)
                made = made || strchr(rows[row].want[starts[i]], ' ')[1] ==
                                   task_letter((enum task_state)to);
            CHECK(made || !task_may_move(from, (enum task_state)to));
        }
    }
}
