/* The steps of brokers: they create, read, cancel and answer for their clients. */
#include "tests/lib/walk_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RATE_PER_S = 60, RATED_OWNER = 5 };

static const char idem_digest[] = "digest";

static void fill(struct walk *w, struct walk_task *t)
{
    *t = (struct walk_task){.owner = (int)walk_random(w, WALK_OWNERS),
                            .tool = (int)walk_random(w, WALK_TOOLS),
                            .priority = walk_random(w, 4),
                            .hidden = walk_chance(w, 20),
                            .brief = walk_chance(w, 10),
                            .attempts = walk_chance(w, 50) ? 2 : 4,
                            .idem = -1,
                            .sessioned = walk_chance(w, 60),
                            .stateless = walk_chance(w, 15),
                            .token = walk_chance(w, 50),
                            .progress = -1,
                            .stream = -1,
                            .own_stream = -1};
    t->logs = !t->stateless || walk_chance(w, 50);
    for (int k = 0; k < WALK_KEYS; k++)
        t->keys[k].stream = -1;
}

static uint64_t rate_of(int owner)
{
    return owner == RATED_OWNER ? RATE_PER_S * 1000 : 0;
}

/* True unless the rate spoke; counts what was let through. */
static bool within_rate(struct walk *w, int owner)
{
    bool refused = strcmp(lua_at(w->l, "0"), "RATE") == 0 && lua_count(w->l, "") == 2;

    if (owner == RATED_OWNER && !refused) {
        int64_t most = RATE_PER_S + RATE_PER_S * (walk_now() - w->began) / 1000 + 2;

        if (++w->allowed > most)
            walk_violation(w, "%d operations allowed, at most %lld", w->allowed, (long long)most);
    }
    if (refused && rate_of(owner) == 0)
        walk_violation(w, "refused by a rate that is none");
    return !refused;
}

struct wish {
    struct new_task n;
    char id[25];
    char idem[16];
    char session[25];
};

static void wish_for(struct walk *w, const struct walk_task *t, const char *id, int broker,
                     struct wish *out)
{
    memset(out, 0, sizeof(*out));
    (void)snprintf(out->id, sizeof(out->id), "%s", id);
    (void)snprintf(out->session, sizeof(out->session), "session-%d", t->owner);
    out->n = (struct new_task){.id = out->id,
                               .owner = walk_owner(t->owner),
                               .tool = walk_tool(t->tool),
                               .priority = t->priority,
                               .ttl = t->brief ? WALK_BRIEF_MS : 600000,
                               .max_active = WALK_MAX_ACTIVE,
                               .max_running = walk_limit(t->owner),
                               .attempts = t->attempts,
                               .rate = rate_of(t->owner),
                               .hidden = t->hidden,
                               .dialect = t->stateless ? 'M' : 'L',
                               .level = t->logs ? "debug" : NULL,
                               .token = t->token ? "1" : NULL};
    if (t->own_stream >= 0)
        out->n.stream = w->streams[t->own_stream].id;
    if (t->idem >= 0) {
        (void)snprintf(out->idem, sizeof(out->idem), "key-%d", t->idem);
        out->n.idem = out->idem;
        out->n.digest = idem_digest;
    }
    if (t->sessioned)
        out->n.session = out->session;
    if (broker >= 0)
        out->n.bid = walk_broker(broker);
    walk_use(w, t->owner);
}

void next_id(const struct walk *w, char out[25])
{
    (void)snprintf(out, 25, "AA%022d", w->count);
}

static void resend(struct walk *w, struct walk_task *t, struct wish *wish)
{
    long long seq = t->seq;

    (void)move_create(w->l, &wish->n);
    if (walk_now() > t->expires)
        return; /* perhaps a new one of the same id: brief ones are not asked about */
    if (!lua_is(w->l, "0", "DUP") || strtoll(lua_at(w->l, "1.10"), NULL, 10) != seq)
        walk_violation(w, "%s sent again: %s", t->id, lua_at(w->l, "0"));
}

void step_create(struct walk *w)
{
    struct walk_task t;
    struct walk_task *made;
    struct wish wish;
    char id[25];
    int broker = walk_chance(w, 60) ? (int)walk_random(w, WALK_BROKERS) : -1;

    if (w->count == WALK_TASKS)
        return;
    fill(w, &t);
    next_id(w, id);
    if (walk_chance(w, 15))
        t.idem = w->next_idem++;
    if (walk_chance(w, 4)) {
        t.end = 'r';
        broker = -1;
    }
    if (t.hidden && walk_chance(w, 60)) {
        struct walk_stream *s = walk_stream(w, t.owner, w->count);

        t.own_stream = s != NULL ? (int)(s - w->streams) : -1;
    }
    wish_for(w, &t, id, broker, &wish);
    wish.n.outcome = t.end != '\0' ? "{}" : NULL;
    (void)move_create(w->l, &wish.n);
    if (!within_rate(w, t.owner) || strcmp(lua_at(w->l, "0"), "LIMIT") == 0)
        return;
    if (!lua_is(w->l, "0", "OK")) {
        walk_violation(w, "create: %s", lua_at(w->l, "0"));
        return;
    }
    made = walk_add(w, &t, "1");
    w->ended[0] += made->end == 'r';
    if (broker >= 0)
        walk_wait(made, broker);
    if (made->idem >= 0)
        w->idem_of[t.owner] = (int)(made - w->tasks);
    if (walk_chance(w, 10) && !made->brief)
        resend(w, made, &wish);
}

/* The same idempotency key again, from another broker, as another kind of call. */
void step_repeat(struct walk *w)
{
    int owner = (int)walk_random(w, WALK_OWNERS);
    struct walk_task *old = w->idem_of[owner] >= 0 ? &w->tasks[w->idem_of[owner]] : NULL;
    int broker = (int)walk_random(w, WALK_BROKERS);
    bool differs = walk_chance(w, 20);
    struct walk_task like;
    struct wish wish;
    char id[25];

    if (old == NULL || old->brief || w->count == WALK_TASKS)
        return;
    next_id(w, id);
    like = *old;
    like.hidden = walk_chance(w, 50);
    wish_for(w, &like, id, broker, &wish);
    if (differs)
        wish.n.digest = "another digest";
    (void)move_create(w->l, &wish.n);
    if (!within_rate(w, owner))
        return;
    if (!lua_is(w->l, "0", differs ? "CONFLICT" : "DUP"))
        walk_violation(w, "a repeat of %s: %s", old->id, lua_at(w->l, "0"));
    if (differs)
        return;
    if (!lua_is(w->l, "1.0", old->id))
        walk_violation(w, "a repeat of %s gave %s", old->id, lua_at(w->l, "1.0"));
    if (!walk_ended(lua_at(w->l, "1.1")[0]))
        walk_wait(old, broker);
    old->hidden = old->hidden && like.hidden;
}

struct walk_task *any_task(struct walk *w)
{
    unsigned recent = w->count > 150 ? 150 : (unsigned)w->count;

    return recent == 0 ? NULL : &w->tasks[w->count - 1 - (int)walk_random(w, recent)];
}

void check_absent(struct walk *w, const struct walk_task *t)
{
    if (walk_now() < t->expires)
        walk_violation(w, "%s is not there before it expires", t->id);
}

static void get(struct walk *w, struct walk_task *t, int broker)
{
    const char *state;

    (void)lua_do(w->l, "get", "t:%s rl:%s : %s|%s|%llu|%s|1|1", t->id, walk_owner(t->owner), t->id,
                 walk_owner(t->owner), (unsigned long long)rate_of(t->owner), walk_broker(broker));
    if (!within_rate(w, t->owner))
        return;
    if (lua_count(w->l, "") != 16) {
        check_absent(w, t);
        return;
    }
    state = lua_at(w->l, "1");
    if (t->end != '\0' && state[0] != t->end)
        walk_violation(w, "%s ended as %c and reads as %s", t->id, t->end, state);
    if (!walk_ended(state[0]))
        walk_wait(t, broker);
}

/* A few tasks are asked for by many. */
void step_get(struct walk *w)
{
    struct walk_task *t = any_task(w);
    int times = walk_chance(w, 10) ? 2 * WALK_BROKERS : 1;

    if (t == NULL)
        return;
    walk_use(w, t->owner);
    for (int i = 0; i < times; i++)
        get(w, t, (int)walk_random(w, WALK_BROKERS));
}

void step_cancel(struct walk *w)
{
    struct walk_task *t = any_task(w);

    if (t == NULL)
        return;
    walk_use(w, t->owner);
    (void)lua_do(w->l, "cancel", "t:%s ls dl st oa:%s rl:%s : %s|%s|%llu|1", t->id,
                 walk_owner(t->owner), walk_owner(t->owner), t->id, walk_owner(t->owner),
                 (unsigned long long)rate_of(t->owner));
    if (!within_rate(w, t->owner))
        return;
    if (lua_count(w->l, "") == 0) {
        check_absent(w, t);
    } else if (strcmp(lua_at(w->l, "0"), "OK") == 0) {
        walk_know_end(w, t, 'x');
        w->ended[2]++;
    } else if (t->end != '\0' && lua_at(w->l, "1.1")[0] != t->end) {
        walk_violation(w, "%s: cancel says %s", t->id, lua_at(w->l, "1.1"));
    }
}

/* By the task's session, or in the stateless dialect, where nobody asks who was asked. */
void step_answer(struct walk *w)
{
    int k = (int)walk_random(w, WALK_KEYS);
    bool by_session = walk_chance(w, 50);
    struct walk_task *t = any_task(w);
    struct walk_key *key;
    char session[25] = "";
    bool open;

    for (int i = 0; i < 20 && t != NULL && !(t->keys[k].asked && t->end == '\0'); i++)
        t = any_task(w);
    if (t == NULL)
        return;
    key = &t->keys[k];
    open = t->end == '\0' && key->asked && !key->answered && (!by_session || key->sent);
    if (by_session)
        (void)snprintf(session, sizeof(session), "session-%d", t->owner);
    walk_use(w, t->owner);
    (void)lua_do(w->l, "answer", "t:%s se:%s : %s|%s|%s|%s|{\"a\":1}", t->id, session, t->id,
                 walk_owner(t->owner), session, walk_key(k));
    if (strcmp(lua_at(w->l, "0"), "OK") == 0) {
        if (!open)
            walk_violation(w, "%s: an answer to %s was taken", t->id, walk_key(k));
        key->answered = true;
    } else if (open && walk_now() < t->expires && !walk_ended(field(w->l, t->id, "s")[0])) {
        walk_violation(w, "%s: the answer to %s was not taken", t->id, walk_key(k));
    }
}

void step_session(struct walk *w)
{
    int owner = (int)walk_random(w, WALK_OWNERS);
    char id[16];

    walk_use(w, owner);
    (void)snprintf(id, sizeof(id), "session-%d", owner);
    if (!w->session[owner]) {
        (void)move_session(w->l, id, walk_owner(owner));
        w->session[owner] = true;
    } else if (walk_chance(w, 25)) {
        (void)lua_do(w->l, "session_end", "se:%s wt:%s so:%s : %s|%s", id, id, walk_owner(owner),
                     id, walk_owner(owner));
        w->session[owner] = false;
        w->get_stream[owner] = -1;
    }
}
