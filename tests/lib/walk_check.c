/* The whole store held against the model, in between and at the end. */
#include "tests/lib/walk.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_END (INT64_C(1) << 52)
enum { PAGE = 7, SETTLE_ROUNDS = 400 };

static bool is_there(const struct walk_task *t)
{
    return walk_now() < t->expires;
}

/* Counts the members of one key of the partition in use into the field at `offset`. */
static void count_in(struct walk *w, const char *command, const char *key, size_t offset)
{
    redisReply *r = redisCommand(w->l->redis.c, command, w->l->T, key);

    for (size_t i = 0; r != NULL && r->type == REDIS_REPLY_ARRAY && i < r->elements; i++) {
        struct walk_task *t = walk_find(w, r->element[i]->str);

        if (t == NULL)
            walk_violation(w, "%s holds an unknown task %s", key, r->element[i]->str);
        else
            ++*(int *)(void *)((char *)t + offset);
    }
    freeReplyObject(r);
}

static void count_ready(struct walk *w)
{
    char key[16];

    for (int tool = 0; tool < WALK_TOOLS; tool++) {
        for (unsigned c = 0; c < 4; c++) {
            (void)snprintf(key, sizeof(key), "rq:%s:%u", walk_tool(tool), c);
            count_in(w, "LRANGE %s%s 0 -1", key, offsetof(struct walk_task, in_ready));
        }
    }
}

static void count_places(struct walk *w)
{
    char key[64];

    for (int i = 0; i < w->count; i++) {
        struct walk_task *t = &w->tasks[i];

        t->in_ls = t->in_dl = t->in_ready = t->in_window = t->in_park = 0;
    }
    for (int p = 0; p < WALK_PARTITIONS; p++) {
        walk_use(w, p);
        count_in(w, "ZRANGE %s%s 0 -1", "ls", offsetof(struct walk_task, in_ls));
        count_in(w, "ZRANGE %s%s 0 -1", "dl", offsetof(struct walk_task, in_dl));
        count_ready(w);
    }
    for (int o = 0; o < WALK_OWNERS; o++) {
        walk_use(w, o);
        (void)snprintf(key, sizeof(key), "oa:%s", walk_owner(o));
        count_in(w, "ZRANGEBYSCORE %s%s -inf (4503599627370496", key,
                 offsetof(struct walk_task, in_window));
        count_in(w, "ZRANGEBYSCORE %s%s 4503599627370496 +inf", key,
                 offsetof(struct walk_task, in_park));
    }
}

/* A task that goes on stands in exactly one place; one that has ended in none. */
static void check_places(struct walk *w, struct walk_task *t)
{
    char state;

    walk_use(w, t->owner);
    state = field(w->l, t->id, "s")[0];
    if (!is_there(t))
        return;
    if (t->end == '\0' && walk_ended(state) && t->waiting_count == 0) {
        t->end = state; /* lost its last worker, and there was nobody to tell */
        t->running = false;
    }
    if (t->end != '\0' ? state != t->end : walk_ended(state))
        walk_violation(w, "%s is %c, not %c", t->id, state, t->end);
    if (walk_ended(state)) {
        if (t->in_ls + t->in_dl + t->in_window + t->in_park != 0)
            walk_violation(w, "%s has ended and stands somewhere", t->id);
        return;
    }
    if (t->in_ls + t->in_dl + t->in_ready + t->in_park != 1 || t->in_window + t->in_park != 1)
        walk_violation(w, "%s: leased %d delayed %d ready %d window %d parked %d", t->id, t->in_ls,
                       t->in_dl, t->in_ready, t->in_window, t->in_park);
    if (state == 'i' && t->in_ls != 1)
        walk_violation(w, "%s waits for input and nobody holds it", t->id);
}

static void check_window(struct walk *w, int owner)
{
    int64_t most = walk_limit(owner);

    walk_use(w, owner);
    if (most > 0 && lua_int(w->l, "ZCOUNT %soa:%s -inf (%lld", w->l->T, walk_owner(owner),
                            (long long)WINDOW_END) > most)
        walk_violation(w, "%s has more than %lld in its window", walk_owner(owner),
                       (long long)most);
    if (lua_int(w->l, "ZCARD %soa:%s", w->l->T, walk_owner(owner)) >
        WALK_MAX_ACTIVE + w->requeued[owner])
        walk_violation(w, "%s has too many unfinished tasks", walk_owner(owner));
}

/* A ready list outlives every task in it. */
static void check_list_lives(struct walk *w)
{
    for (int i = 0; i < w->count; i++) {
        const struct walk_task *t = &w->tasks[i];

        if (t->in_ready == 0 || t->end != '\0')
            continue;
        walk_use(w, t->owner);
        if (lua_int(w->l, "PEXPIRETIME %srq:%s:%d", w->l->T, walk_tool(t->tool), (int)t->priority) <
            t->expires)
            walk_violation(w, "the list of %s ends before it", t->id);
    }
}

/* Pages through an owner's list: its listed tasks, each once, in order. */
static void check_pages(struct walk *w, int owner)
{
    long long after = 0;
    bool more = true;
    char path[16];
    int listed = 0;
    int expected = 0;

    walk_use(w, owner);
    while (more && w->violations == 0) {
        (void)move_list(w->l, walk_owner(owner), (uint64_t)after, PAGE);
        more = strcmp(lua_at(w->l, "1"), "1") == 0 && lua_count(w->l, "") == PAGE + 2;
        for (size_t i = 2; i < lua_count(w->l, ""); i++) {
            const struct walk_task *t;
            long long seq;

            (void)snprintf(path, sizeof(path), "%u.10", (unsigned)i);
            seq = strtoll(lua_at(w->l, path), NULL, 10);
            (void)snprintf(path, sizeof(path), "%u.0", (unsigned)i);
            t = walk_find(w, lua_at(w->l, path));
            if (t == NULL || t->seq != seq || seq <= after || t->hidden || t->owner != owner)
                walk_violation(w, "a page holds %s out of place", lua_at(w->l, path));
            else
                listed += !t->brief;
            after = seq;
        }
    }
    for (int i = 0; i < w->count; i++)
        expected += w->tasks[i].owner == owner && !w->tasks[i].hidden && !w->tasks[i].brief;
    if (listed != expected)
        walk_violation(w, "%s: %d listed, %d expected", walk_owner(owner), listed, expected);
}

/* What has ended, and the lists, are looked at in turns; when thorough, at once. */
void walk_check(struct walk *w, bool thorough)
{
    const char *was = w->doing;

    w->doing = "check";
    count_places(w);
    for (int i = 0; i < w->count; i++)
        if (w->tasks[i].end == '\0' || thorough || i % 8 == (int)(w->step / 250) % 8)
            check_places(w, &w->tasks[i]);
    check_list_lives(w);
    walk_check_talk(w);
    for (int o = 0; o < WALK_OWNERS; o++) {
        check_window(w, o);
        if (thorough || o == (int)(w->step / 250) % WALK_OWNERS)
            check_pages(w, o);
    }
    walk_hear(w);
    w->doing = was;
}

/* --- the end --- */

/* All leases lapse and all delays are over, now. */
static void hurry(struct walk *w)
{
    for (int i = 0; i < w->count; i++) {
        struct walk_task *t = &w->tasks[i];

        if (t->end != '\0')
            continue;
        walk_use(w, t->owner);
        lapse(w->l, t->id);
        come_due(w->l, t->id);
        t->leased = 0;
    }
}

static void claim_and_finish(struct walk *w, struct walk_worker *k)
{
    int64_t before = walk_now();
    struct end ends[WALK_HELD];
    struct hand h;
    char path[16];
    int n;

    k->count = 0;
    walk_hand(k, &h);
    (void)move_claim(w->l, &h, WALK_HELD);
    n = (int)lua_count(w->l, "");
    for (int i = 0; i < n; i++) {
        (void)snprintf(path, sizeof(path), "%d", i);
        walk_claimed(w, k, path, before, h.lease);
        ends[i] = (struct end){.id = w->tasks[k->held[i].task].id, .fence = k->held[i].fence};
    }
    (void)move_finish(w->l, &h, ends, (size_t)n, 0);
    for (int i = 0; i < n; i++) {
        (void)snprintf(path, sizeof(path), "0.%d", i);
        if (walk_verdict(w, k->held[i], lua_at(w->l, path), before)) {
            walk_know_end(w, &w->tasks[k->held[i].task], 'r');
            w->ended[0]++;
        }
    }
    walk_hear(w);
}

static bool all_ended(struct walk *w)
{
    int64_t left = 0;

    for (int o = 0; o < WALK_OWNERS; o++) {
        walk_use(w, o);
        left += lua_int(w->l, "ZCARD %soa:%s", w->l->T, walk_owner(o));
    }
    return left == 0;
}

static void drain(struct walk *w)
{
    for (int round = 0; round < SETTLE_ROUNDS && !all_ended(w); round++) {
        hurry(w);
        for (int p = 0; p < WALK_PARTITIONS; p++) {
            walk_use(w, p);
            (void)move_tick(w->l);
            walk_hear(w);
            claim_and_finish(w, &w->workers[0]);
            claim_and_finish(w, &w->workers[1]);
        }
    }
    if (!all_ended(w))
        walk_violation(w, "not everything has ended");
}

static void expire_brief(struct walk *w)
{
    for (int i = 0; i < w->count; i++) {
        struct walk_task *t = &w->tasks[i];

        if (!t->brief || !is_there(t))
            continue;
        walk_use(w, t->owner);
        expire(w->l, t->id, walk_owner(t->owner));
        t->expires = 0;
    }
    for (int p = 0; p < WALK_PARTITIONS; p++) {
        walk_use(w, p);
        do
            (void)move_tick(w->l);
        while (strcmp(lua_at(w->l, "1"), "0") != 0);
    }
}

static void check_counters(struct walk *w)
{
    int64_t got[3] = {0, 0, 0};

    for (int p = 0; p < WALK_PARTITIONS; p++) {
        static const char *const letters[] = {"r", "e", "x"};

        walk_use(w, p);
        for (int i = 0; i < 3; i++) {
            int64_t n = lua_int(w->l, "HGET %sst %s", w->l->T, letters[i]);

            got[i] += n > 0 ? n : 0;
        }
    }
    if (got[0] != w->ended[0] || got[2] != w->ended[2] || got[1] < w->ended[1])
        walk_violation(w, "counted %lld %lld %lld ends, not %u >=%u %u", (long long)got[0],
                       (long long)got[1], (long long)got[2], w->ended[0], w->ended[1], w->ended[2]);
}

/* No key of a kind in `kinds` is left but those of tasks that live on. */
static void check_keys(struct walk *w, bool tasks_live)
{
    redisReply *r = redisCommand(w->l->redis.c, "KEYS errand:{?}:*");

    for (size_t i = 0; r != NULL && i < r->elements; i++) {
        const char *kind = strstr(r->element[i]->str, "}:") + 2;
        const struct walk_task *t = strncmp(kind, "t:", 2) == 0 ? walk_find(w, kind + 2) : NULL;

        if (strncmp(kind, "t:", 2) == 0 && (!tasks_live || t == NULL || t->brief))
            walk_violation(w, "%s is left", r->element[i]->str);
        if (strncmp(kind, "oa:", 3) == 0 || strcmp(kind, "ls") == 0 || strcmp(kind, "dl") == 0)
            walk_violation(w, "%s is left", r->element[i]->str);
        if (!tasks_live && (strncmp(kind, "o:", 2) == 0 || strcmp(kind, "ix") == 0))
            walk_violation(w, "%s is left", r->element[i]->str);
    }
    freeReplyObject(r);
}

static void expire_all(struct walk *w)
{
    for (int i = 0; i < w->count; i++)
        w->tasks[i].brief = true;
    expire_brief(w);
}

void walk_settle(struct walk *w)
{
    int64_t there = 0;

    w->doing = "the end";
    drain(w);
    expire_brief(w);
    walk_check(w, true);
    w->doing = "the end";
    for (int i = 0; i < w->count; i++)
        if (!w->tasks[i].brief && w->tasks[i].end == '\0')
            walk_violation(w, "%s has not ended", w->tasks[i].id);
    for (int p = 0; p < WALK_PARTITIONS; p++) {
        walk_use(w, p);
        there += lua_int(w->l, "ZCARD %six", w->l->T);
    }
    for (int i = 0; i < w->count; i++)
        there -= !w->tasks[i].brief;
    if (there != 0)
        walk_violation(w, "%lld more in ix than tasks", (long long)there);
    check_counters(w);
    check_keys(w, true);
    expire_all(w);
    check_keys(w, false);
}
