/* The steps of workers: they claim, finish, fail, crash, and go on talking when they have lost. */
#include "tests/lib/walk_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct walk_worker *any_worker(struct walk *w)
{
    return &w->workers[walk_random(w, WALK_WORKERS)];
}

static void lose(struct walk *w, struct walk_hold h)
{
    w->lost[w->lost_count < WALK_LOST ? w->lost_count++ : (int)walk_random(w, WALK_LOST)] = h;
}

/* Takes one out of the worker's hands; or, sometimes, out of those of one that lost it. */
static bool grab(struct walk *w, struct walk_worker *k, struct walk_hold *out)
{
    if (w->lost_count > 0 && walk_chance(w, 15)) {
        int i = (int)walk_random(w, (unsigned)w->lost_count);

        *out = w->lost[i];
        w->lost[i] = w->lost[--w->lost_count];
        return true;
    }
    if (k->count == 0)
        return false;
    {
        int i = (int)walk_random(w, (unsigned)k->count);

        *out = k->held[i];
        k->held[i] = k->held[--k->count];
    }
    return true;
}

static uint64_t any_lease(struct walk *w)
{
    return walk_chance(w, 50) ? 30 : 5000;
}

static void read_jobs(struct walk *w, struct walk_worker *k, const char *at, int64_t before,
                      uint64_t lease)
{
    size_t n = lua_count(w->l, at);
    char path[24];

    for (size_t i = 0; i < n; i++) {
        (void)snprintf(path, sizeof(path), "%s%s%u", at, at[0] != '\0' ? "." : "", (unsigned)i);
        walk_claimed(w, k, path, before, lease);
    }
}

void step_claim(struct walk *w)
{
    struct walk_worker *k = any_worker(w);
    unsigned n = walk_random(w, 4);
    int64_t before = walk_now();
    struct hand h;

    walk_hand(k, &h);
    h.lease = any_lease(w);
    h.reversed = walk_chance(w, 12);
    walk_use(w, (int)walk_random(w, WALK_PARTITIONS));
    (void)move_claim(w->l, &h, n);
    if (lua_count(w->l, "") > n)
        walk_violation(w, "%zu jobs for %u places", lua_count(w->l, ""), n);
    read_jobs(w, k, "", before, h.lease);
}

/* The answer of a claim is lost: all that it took is handed back and may be claimed at once; the
 * attempts are not charged, which the next claim shows. */
void step_unclaim(struct walk *w)
{
    struct walk_worker *k = any_worker(w);
    int64_t before = walk_now();
    struct hand h;
    int64_t taken;
    int64_t back;

    walk_hand(k, &h);
    h.number = 1;
    h.lease = 60000;
    walk_use(w, (int)walk_random(w, WALK_PARTITIONS));
    (void)move_unclaim(w->l, h.wid, 1);
    if (!lua_is(w->l, "", "0"))
        walk_violation(w, "a claim of another number was undone: %s", lua_at(w->l, ""));
    (void)move_claim(w->l, &h, walk_random(w, 4));
    taken = (int64_t)lua_count(w->l, "");
    (void)move_unclaim(w->l, h.wid, 1);
    back = strtoll(lua_at(w->l, ""), NULL, 10);
    for (int i = 0; i < w->count; i++)
        if (w->tasks[i].expires >= before && w->tasks[i].expires <= walk_now() + 1)
            return; /* it may be one of them */
    if (back != taken)
        walk_violation(w, "of %lld jobs %lld were handed back", (long long)taken, (long long)back);
}

struct batch {
    struct walk_hold holds[3];
    struct end ends[3];
    size_t count;
    int owner; /* one of the partition */
};

/* Up to three jobs of one partition, with what is to be said of them. */
static void gather(struct walk *w, struct walk_worker *k, struct batch *b)
{
    *b = (struct batch){.count = 0};
    for (int i = 0; i < 3; i++) {
        struct walk_hold h;
        const struct walk_task *t;

        if (!grab(w, k, &h))
            return;
        t = &w->tasks[h.task];
        if (b->count > 0 && t->owner % WALK_PARTITIONS != b->owner % WALK_PARTITIONS) {
            walk_hold(w, k, h);
            continue;
        }
        b->owner = t->owner;
        b->holds[b->count] = h;
        b->ends[b->count++] = (struct end){.id = t->id,
                                           .fence = h.fence,
                                           .state = walk_chance(w, 80) ? 'r' : 'e',
                                           .dead = walk_chance(w, 10)};
    }
}

/* Returns whether the first of them was taken. */
static bool note_ends(struct walk *w, const struct batch *b, int64_t before)
{
    bool first = false;
    char path[16];

    for (size_t i = 0; i < b->count; i++) {
        (void)snprintf(path, sizeof(path), "0.%u", (unsigned)i);
        if (!walk_verdict(w, b->holds[i], lua_at(w->l, path), before))
            continue;
        walk_know_end(w, &w->tasks[b->holds[i].task], b->ends[i].state);
        w->ended[b->ends[i].state == 'e']++;
        first = first || i == 0;
    }
    return first;
}

/* The answer was lost: the same is said again. */
static void say_again(struct walk *w, const struct hand *h, const struct batch *b, bool taken)
{
    const char *verdict;

    (void)move_finish(w->l, h, b->ends, b->count, 0);
    verdict = lua_at(w->l, "0.0");
    if (strcmp(verdict, "OK") == 0)
        walk_violation(w, "%s: said again and taken again", b->ends[0].id);
    if (taken && strcmp(verdict, "DONE") != 0 && walk_now() < w->tasks[b->holds[0].task].expires)
        walk_violation(w, "%s: said again: %s", b->ends[0].id, verdict);
}

void step_finish(struct walk *w)
{
    struct walk_worker *k = any_worker(w);
    unsigned n = walk_random(w, 3);
    int64_t before = walk_now();
    struct batch b;
    struct hand h;
    bool taken;

    gather(w, k, &b);
    walk_hand(k, &h);
    h.lease = any_lease(w);
    walk_use(w, b.owner);
    (void)move_finish(w->l, &h, b.ends, b.count, n);
    taken = note_ends(w, &b, before);
    read_jobs(w, k, "1", before, h.lease);
    if (b.count > 0 && walk_chance(w, 10))
        say_again(w, &h, &b, taken);
}

static bool is_lost(const struct walk *w, const char *id)
{
    for (size_t i = 0; i < lua_count(w->l, ""); i++) {
        char path[16];

        (void)snprintf(path, sizeof(path), "%u", (unsigned)i);
        if (strcmp(lua_at(w->l, path), id) == 0)
            return true;
    }
    return false;
}

static bool is_in(const struct walk *w, struct walk_hold h, unsigned partition)
{
    return (unsigned)w->tasks[h.task].owner % WALK_PARTITIONS == partition;
}

static void send_beat(struct walk *w, const struct walk_worker *k, unsigned p, uint64_t lease)
{
    lua_fn(w->l, "beat");
    lua_key(w->l, "ls");
    for (int i = 0; i < k->count; i++)
        if (is_in(w, k->held[i], p))
            lua_key(w->l, "t:%s", w->tasks[k->held[i].task].id);
    lua_arg(w->l, "%s", k->wid);
    lua_arg(w->l, "%llu", (unsigned long long)lease);
    for (int i = 0; i < k->count; i++) {
        if (!is_in(w, k->held[i], p))
            continue;
        lua_arg(w->l, "%s", w->tasks[k->held[i].task].id);
        lua_arg(w->l, "%u", k->held[i].fence);
    }
    (void)lua_go(w->l);
}

/* Some who are told that they have lost a task go on with it all the same. */
void step_beat(struct walk *w)
{
    struct walk_worker *k = any_worker(w);
    unsigned p = walk_random(w, WALK_PARTITIONS);
    int64_t before = walk_now();
    uint64_t lease = any_lease(w);
    int kept = 0;

    walk_use(w, (int)p);
    send_beat(w, k, p, lease);
    for (int i = 0; i < k->count; i++) {
        struct walk_hold h = k->held[i];
        bool lost = is_in(w, h, p) && is_lost(w, w->tasks[h.task].id);

        if (is_in(w, h, p) && walk_verdict(w, h, lost ? "lost" : "OK", before))
            w->tasks[h.task].leased = before + (int64_t)lease;
        if (!lost)
            k->held[kept++] = h;
        else if (walk_chance(w, 30))
            lose(w, h);
    }
    k->count = kept;
}

void step_crash(struct walk *w)
{
    struct walk_worker *k = any_worker(w);

    for (int i = 0; i < k->count; i++)
        if (walk_chance(w, 60))
            lose(w, k->held[i]);
    k->count = 0;
    lua_deafen(w->l, k->wid);
    (void)snprintf(k->wid, sizeof(k->wid), "w%d", w->next_wid++);
    lua_listen(w->l, k->wid);
}

void step_retry(struct walk *w)
{
    struct walk_worker *k = any_worker(w);
    struct walk_hold h;
    struct walk_task *t;
    int64_t before = walk_now();

    if (!grab(w, k, &h))
        return;
    t = &w->tasks[h.task];
    walk_use(w, t->owner);
    (void)move_retry(w->l, t->id, h.fence, walk_random(w, 20));
    if (!walk_verdict(w, h, lua_at(w->l, ""), before))
        return;
    t->running = false;
    if ((strcmp(lua_at(w->l, ""), "DEAD") == 0) != (t->attempt == t->attempts))
        walk_violation(w, "%s: attempt %u of %u: %s", t->id, t->attempt, t->attempts,
                       lua_at(w->l, ""));
    if (t->attempt == t->attempts) {
        walk_know_end(w, t, 'e');
    }
}

void step_release(struct walk *w)
{
    struct walk_worker *k = any_worker(w);
    struct walk_hold h;
    struct walk_task *t;
    int64_t before = walk_now();

    if (!grab(w, k, &h))
        return;
    t = &w->tasks[h.task];
    walk_use(w, t->owner);
    (void)move_release(w->l, t->id, h.fence);
    if (!walk_verdict(w, h, lua_at(w->l, "0"), before))
        return;
    t->running = false;
    t->next = t->attempt;
}

/* Says something about a job and goes on with it. */
void step_say(struct walk *w)
{
    struct walk_worker *k = any_worker(w);
    bool report = walk_chance(w, 50);
    int64_t before = walk_now();
    struct walk_hold h;
    struct walk_task *t;
    char text[16];

    if (!grab(w, k, &h))
        return;
    t = &w->tasks[h.task];
    walk_use(w, t->owner);
    (void)snprintf(text, sizeof(text), "%u", walk_random(w, 1000));
    if (report)
        (void)move_report(w->l, t->id, h.fence, text, NULL);
    else
        (void)move_handle(w->l, t->id, h.fence, text);
    if (walk_verdict(w, h, lua_at(w->l, ""), before) && !report)
        (void)snprintf(t->handle, sizeof(t->handle), "%s", text);
    walk_hold(w, k, h);
}

void step_talk(struct walk *w)
{
    struct walk_worker *k = any_worker(w);
    struct walk_hold h;

    if (!grab(w, k, &h))
        return;
    walk_use(w, w->tasks[h.task].owner);
    talk(w, h);
    walk_hold(w, k, h);
}
