/* The steps of streams and of what is said on them. */
#include "tests/lib/walk_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The question will be, or has been, sent on this stream. */
static void sent_on(struct walk *w, struct walk_key *key, int stream)
{
    w->streams[stream].due++;
    key->stream = stream;
    key->sent = true;
}

static bool stands_in_io(struct walk *w, const struct walk_task *t, int k)
{
    char io[256];

    (void)snprintf(io, sizeof(io), "\n%s\n", field(w->l, t->id, "io"));
    return strstr(io, k == 0 ? "\nk\n" : k == 1 ? "\nx y\n" : "\nh\n") != NULL;
}

/* --- what jobs say --- */

static void ask(struct walk *w, struct walk_hold h, int k)
{
    struct walk_task *t = &w->tasks[h.task];
    struct walk_key *key = &t->keys[k];
    bool hosted = k == 2;
    bool listed = stands_in_io(w, t, k);
    int64_t before = walk_now();
    int stream;

    (void)lua_do(w->l, "ask", "t:%s ls : %s|%u|%s|elicitation/create|{\"q\":1}|%d", t->id, t->id,
                 h.fence, walk_key(k), hosted);
    if (strcmp(lua_at(w->l, "0"), "ANSWERED") == 0) {
        if (!key->answered)
            walk_violation(w, "%s: an answer that nobody gave", t->id);
        (void)walk_verdict(w, h, "OK", before);
        if (hosted && key->sent && !key->settled)
            key->fence = h.fence;
        return;
    }
    if (!walk_verdict(w, h, lua_at(w->l, "0"), before))
        return;
    if (key->answered)
        walk_violation(w, "%s: answered, and asked again", t->id);
    key->asked = true;
    key->fence = h.fence;
    if (listed || t->stateless)
        return;
    stream = walk_carrier(w, t);
    if (stream >= 0 && stream != key->stream && w->streams[stream].has_session)
        sent_on(w, key, stream);
}

static void unask(struct walk *w, struct walk_hold h, int k)
{
    struct walk_task *t = &w->tasks[h.task];
    struct walk_key *key = &t->keys[k];
    bool final = walk_chance(w, 50);
    int64_t before = walk_now();

    (void)lua_do(w->l, "unask", "t:%s ls : %s|%u|%s|%s", t->id, t->id, h.fence, walk_key(k),
                 final ? "{\"final\":1}" : "");
    if (!walk_verdict(w, h, lua_at(w->l, ""), before) || !key->asked)
        return;
    if (key->sent && !key->answered && k != 2)
        (void)walk_carrier(w, t); /* made anew to call it back */
    key->asked = key->answered = key->settled = final;
    key->stream = -1;
    key->sent = false;
}

static void say_line(struct walk *w, struct walk_hold h)
{
    struct walk_task *t = &w->tasks[h.task];
    int64_t before = walk_now();
    int stream = -1;

    if (w->log_count == WALK_LOGS)
        return;
    (void)lua_do(w->l, "log", "t:%s : %s|%u|error||{\"n\":%d}", t->id, t->id, h.fence,
                 w->log_count);
    if (walk_verdict(w, h, lua_at(w->l, ""), before) && t->logs)
        stream = walk_carrier(w, t);
    if (stream >= 0)
        w->streams[stream].due++;
    w->log_stream[w->log_count++] = stream;
}

static void say_progress(struct walk *w, struct walk_hold h)
{
    struct walk_task *t = &w->tasks[h.task];
    int value = t->progress - 3 + (int)walk_random(w, 10);
    int64_t before = walk_now();
    int stream;

    if (value < 0)
        value = 0;
    (void)lua_do(w->l, "report", "t:%s : %s|%u|0||1|{\"progress\":%d}|%d", t->id, t->id, h.fence,
                 value, value);
    if (!walk_verdict(w, h, lua_at(w->l, ""), before) || !t->token || value <= t->progress)
        return;
    t->progress = value;
    stream = walk_carrier(w, t);
    if (stream >= 0)
        w->streams[stream].due++;
}

static void say_one_thing(struct walk *w, struct walk_hold h)
{
    unsigned what = walk_random(w, 10);
    int k = (int)walk_random(w, WALK_KEYS);

    if (what < 4)
        ask(w, h, k);
    else if (what < 6)
        unask(w, h, k);
    else if (what < 8)
        say_line(w, h);
    else
        say_progress(w, h);
}

void talk(struct walk *w, struct walk_hold h)
{
    for (unsigned times = 1 + walk_random(w, 4); times > 0; times--) {
        say_one_thing(w, h);
        walk_hear(w);
    }
}

/* --- streams --- */

/* What is open in the task is asked again on its new stream. */
static void expect_again(struct walk *w, struct walk_task *t, int stream)
{
    for (int k = 0; k < WALK_KEYS; k++)
        if (!t->stateless && stands_in_io(w, t, k) && !t->keys[k].answered &&
            t->keys[k].stream != stream)
            sent_on(w, &t->keys[k], stream);
}

static void take_lead(struct walk *w, struct walk_stream *s, int broker)
{
    int stream = (int)(s - w->streams);

    s->exists = true;
    s->has_session = true;
    s->holder = broker;
    if (s->task < 0)
        w->get_stream[s->owner] = stream;
    else if (w->tasks[s->task].end == '\0')
        w->tasks[s->task].stream = stream;
}

static void check_due(struct walk *w, struct walk_stream *s)
{
    if (s->due != 0)
        walk_violation(w, "%s: %d messages are missing in the answer", s->id, s->due);
}

static void open_stream(struct walk *w, struct walk_stream *s, char kind)
{
    struct walk_task *t = s->task >= 0 ? &w->tasks[s->task] : NULL;
    int broker = (int)walk_random(w, WALK_BROKERS);
    int due = s->due;

    walk_use(w, s->owner);
    if (t != NULL)
        expect_again(w, t, (int)(s - w->streams));
    (void)lua_do(w->l, "stream_open",
                 "sm:%s sx:%s se:session-%d t:%s : %s|%c|session-%d|%s|%s|7|%s|600000", s->id,
                 s->id, s->owner, t != NULL ? t->id : "", s->id, kind, s->owner,
                 walk_owner(s->owner), t != NULL ? t->id : "", walk_broker(broker));
    if (lua_count(w->l, "") == 0) {
        if (t == NULL)
            walk_violation(w, "a GET stream was not opened");
        else
            check_absent(w, t);
        s->due = due;
        return;
    }
    take_lead(w, s, broker);
    walk_read_events(w, s, 1, 0);
    check_due(w, s);
}

static void open_any(struct walk *w)
{
    unsigned what = walk_random(w, 10);
    struct walk_task *t = any_task(w);
    struct walk_stream *s = NULL;
    char kind = what < 3 ? 'g' : what < 7 ? 'r' : 'c';

    for (int i = 0; i < 40 && t != NULL && !(t->running && (kind != 'c' || t->own_stream >= 0));
         i++)
        t = any_task(w);
    if (t == NULL || !w->session[t->owner])
        return;
    if (kind == 'c')
        s = t->own_stream >= 0 ? &w->streams[t->own_stream] : NULL;
    else
        s = walk_stream(w, t->owner, kind == 'g' ? -1 : (int)(t - w->tasks));
    if (s != NULL)
        open_stream(w, s, kind);
}

static void resume(struct walk *w, struct walk_stream *s)
{
    struct walk_task *t = s->task >= 0 ? &w->tasks[s->task] : NULL;
    int last = (int)walk_random(w, (unsigned)s->count + 1) - 1;
    int broker = (int)walk_random(w, WALK_BROKERS);
    bool may = w->session[s->owner] && s->has_session;

    if (may && t != NULL)
        expect_again(w, t, (int)(s - w->streams));
    (void)lua_do(w->l, "stream_resume", "sm:%s sx:%s se:session-%d : %s|%s|session-%d|%s|%s|600000",
                 s->id, s->id, s->owner, s->id, last >= 0 ? s->entries[last] : "0", s->owner,
                 walk_owner(s->owner), walk_broker(broker));
    if ((lua_count(w->l, "") > 0) != may) {
        walk_violation(w, "%s: resumed %d, expected %d", s->id, !may, may);
        return;
    }
    if (!may)
        return;
    if (!lua_is(w->l, "4", "0"))
        walk_violation(w, "%s: a gap", s->id);
    take_lead(w, s, broker);
    walk_read_events(w, s, 5, last + 1);
    check_due(w, s);
}

static void let_go(struct walk *w, struct walk_stream *s)
{
    int broker =
        s->holder >= 0 && walk_chance(w, 70) ? s->holder : (int)walk_random(w, WALK_BROKERS);

    (void)lua_do(w->l, "stream_drop", "sm:%s sx:%s : %s|%s|600000", s->id, s->id, s->id,
                 walk_broker(broker));
    if (!lua_is(w->l, "", s->holder == broker ? "1" : "0"))
        walk_violation(w, "%s: let go by %s, held by %d", s->id, walk_broker(broker), s->holder);
    if (s->holder == broker)
        s->holder = -1;
}

/* As if its time were over. */
static void vanish(struct walk *w, struct walk_stream *s)
{
    check_due(w, s);
    (void)lua_redis(w->l, "DEL %ssm:%s %ssx:%s", w->l->T, s->id, w->l->T, s->id);
    s->exists = false;
    s->holder = -1;
    s->count = 0;
}

void step_stream(struct walk *w)
{
    struct walk_stream *s = NULL;
    unsigned what = walk_random(w, 10);

    for (int i = 0; i < 20 && w->stream_count > 0 && (s == NULL || !s->exists); i++)
        s = &w->streams[w->stream_count - 1 -
                        (int)walk_random(w, w->stream_count > 60 ? 60 : (unsigned)w->stream_count)];
    if (what < 4 || s == NULL || !s->exists) {
        open_any(w);
        return;
    }
    walk_read_stream(w, s);
    walk_use(w, s->owner);
    if (what < 7)
        resume(w, s);
    else if (what < 9)
        let_go(w, s);
    else
        vanish(w, s);
}

void step_promote(struct walk *w)
{
    struct walk_task *t = any_task(w);

    for (int i = 0; i < 20 && t != NULL && !t->hidden; i++)
        t = any_task(w);
    if (t == NULL)
        return;
    walk_use(w, t->owner);
    (void)move_promote(w->l, t->id, walk_owner(t->owner));
    if (lua_count(w->l, "") == 0) {
        check_absent(w, t);
        return;
    }
    if (strcmp(lua_at(w->l, "0"), "OK") != 0)
        return;
    if (t->end != '\0')
        walk_violation(w, "%s ended as %c and was promoted", t->id, t->end);
    t->hidden = false;
}
