/* The steps of operators and of time, and the choice among all. */
#include "tests/lib/walk_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void step_requeue(struct walk *w)
{
    unsigned p = walk_random(w, WALK_PARTITIONS);
    const struct walk_task *old;
    struct walk_task like;
    char entry[40];
    char id[25];

    walk_use(w, (int)p);
    (void)lua_do(w->l, "dead_list", "dq : 1");
    if (lua_count(w->l, "") == 0 || w->count == WALK_TASKS)
        return;
    (void)snprintf(entry, sizeof(entry), "%s", lua_at(w->l, "0"));
    old = walk_find(w, lua_at(w->l, "1"));
    if (old == NULL) {
        walk_violation(w, "a dead letter of an unknown task");
        return;
    }
    next_id(w, id);
    (void)lua_do(w->l, "dead_requeue", "dq sq ix t:%s : %s|%s", id, entry, id);
    if (strcmp(lua_at(w->l, "0"), "EXPIRED") == 0) {
        check_absent(w, old);
        (void)lua_do(w->l, "dead_drop", "dq : %s", entry);
        return;
    }
    if (!lua_is(w->l, "0", "OK"))
        walk_violation(w, "a dead letter of %s: %s", old->id, lua_at(w->l, "0"));
    like = (struct walk_task){.owner = old->owner,
                              .tool = old->tool,
                              .priority = old->priority,
                              .brief = old->brief,
                              .attempts = old->attempts,
                              .idem = -1,
                              .stateless = old->stateless,
                              .logs = !old->stateless,
                              .stream = -1,
                              .own_stream = -1};
    for (int k = 0; k < WALK_KEYS; k++)
        like.keys[k].stream = -1;
    w->requeued[old->owner]++;
    (void)lua_do(w->l, "get", "t:%s rl:x : %s|%s|0||0|0", id, id, walk_owner(like.owner));
    if (lua_count(w->l, "") == 16)
        (void)walk_add(w, &like, "");
    else
        walk_violation(w, "%s was requeued and is not there", id);
}

static void step_lapse(struct walk *w)
{
    struct walk_task *t = any_task(w);

    for (int i = 0; i < 20 && t != NULL && !t->running; i++)
        t = any_task(w);
    if (t == NULL || !t->running)
        return;
    walk_use(w, t->owner);
    lapse(w->l, t->id);
    t->leased = 0;
}

static void step_tick(struct walk *w)
{
    walk_use(w, (int)walk_random(w, WALK_PARTITIONS));
    (void)lua_do(w->l, "tick", "ls dl ix dq st : %u|%u", 1 + walk_random(w, 32),
                 walk_random(w, 1000000));
}

static const struct {
    const char *name;
    void (*take)(struct walk *w);
    unsigned weight;
} steps[] = {
    {"create", step_create, 26},  {"repeat", step_repeat, 3},   {"get", step_get, 5},
    {"cancel", step_cancel, 4},   {"answer", step_answer, 4},   {"session", step_session, 2},
    {"claim", step_claim, 18},    {"finish", step_finish, 17},  {"beat", step_beat, 5},
    {"crash", step_crash, 2},     {"retry", step_retry, 4},     {"release", step_release, 2},
    {"unclaim", step_unclaim, 2}, {"say", step_say, 8},         {"requeue", step_requeue, 1},
    {"lapse", step_lapse, 2},     {"tick", step_tick, 8},       {"talk", step_talk, 18},
    {"stream", step_stream, 12},  {"promote", step_promote, 2},
};

void walk_step(struct walk *w)
{
    unsigned total = 0;
    unsigned i = 0;
    unsigned at;

    for (unsigned k = 0; k < sizeof(steps) / sizeof(steps[0]); k++)
        total += steps[k].weight;
    for (at = walk_random(w, total); at >= steps[i].weight; i++)
        at -= steps[i].weight;
    w->step++;
    w->did[i]++;
    w->doing = steps[i].name;
    steps[i].take(w);
    walk_hear(w);
}
