#include "tests/lib/moves.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_or(const char *given, const char *usual)
{
    return given != NULL ? given : usual;
}

static uint64_t number_or(uint64_t given, uint64_t usual)
{
    return given != 0 ? given : usual;
}

static void words(struct lua *l, const char *const *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        lua_bytes(l, span_of(text_or(v[i], "")));
}

static void create_keys(struct lua *l, const struct new_task *t)
{
    const char *owner = text_or(t->owner, OWNER);

    lua_key(l, "t:%s", t->id);
    lua_key(l, "o:%s", owner);
    lua_key(l, "oa:%s", owner);
    lua_key(l, "ix");
    lua_key(l, "sq");
    lua_key(l, "st");
    lua_key(l, "rl:%s", owner);
    lua_key(l, "rq:%s:%u", text_or(t->tool, "t"), t->priority);
    lua_key(l, "pl:%s", text_or(t->tool, "t"));
    if (t->idem != NULL)
        lua_key(l, "im:%s:%s", owner, t->idem);
}

void say_create(struct lua *l, const struct new_task *t)
{
    const uint64_t numbers[] = {t->priority,    number_or(t->ttl, 60000),  t->poll, t->max_active,
                                t->max_running, number_or(t->attempts, 3), t->rate};
    const char *const texts[] = {t->bid,    t->session, t->idem, t->digest, t->token,
                                 t->caller, t->trace,   t->caps, t->request};

    lua_fn(l, "create");
    create_keys(l, t);
    lua_arg(l, "%s", t->id);
    lua_arg(l, "%s", text_or(t->owner, OWNER));
    lua_arg(l, "%s", text_or(t->tool, "t"));
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        lua_arg(l, "%llu", (unsigned long long)numbers[i]);
    lua_arg(l, "%s", t->hidden ? "c" : "t");
    lua_arg(l, "%c", t->dialect != '\0' ? t->dialect : 'L');
    words(l, texts, sizeof(texts) / sizeof(texts[0]));
    lua_bytes(l, span_of(text_or(t->params, "{}")));
    lua_bytes(l, span_of(text_or(t->outcome, "")));
    lua_arg(l, "%d", t->is_error);
    lua_bytes(l, span_of(text_or(t->message, "")));
    lua_arg(l, "%s", text_or(t->stream, ""));
    lua_arg(l, "%s", text_or(t->level, ""));
    lua_arg(l, "%llu", (unsigned long long)t->ask_ms);
}

bool move_create(struct lua *l, const struct new_task *t)
{
    say_create(l, t);
    return lua_go(l);
}

static size_t tool_count(const struct hand *h)
{
    size_t n = 0;

    while (n < 4 && h->tools[n] != NULL)
        n++;
    return n;
}

static void tool_keys(struct lua *l, const struct hand *h)
{
    size_t n = tool_count(h);

    for (unsigned c = 0; c < 4; c++)
        for (size_t i = 0; i < (n > 0 ? n : 1); i++)
            lua_key(l, "rq:%s:%u", n > 0 ? h->tools[i] : "t", c);
}

static void tool_args(struct lua *l, const struct hand *h)
{
    size_t n = tool_count(h);

    for (size_t i = 0; i < (n > 0 ? n : 1); i++)
        lua_arg(l, "%s", n > 0 ? h->tools[i] : "t");
}

static void hand_args(struct lua *l, const struct hand *h, unsigned n)
{
    size_t tools = tool_count(h);

    lua_arg(l, "%s", text_or(h->wid, "w1"));
    lua_arg(l, "%s", text_or(h->pool, "p"));
    lua_arg(l, "%u", n);
    lua_arg(l, "%llu", (unsigned long long)number_or(h->lease, 60000));
    lua_arg(l, "%d", h->reversed);
    lua_arg(l, "%u", h->number);
    lua_arg(l, "%zu", tools > 0 ? tools : 1);
}

bool move_claim(struct lua *l, const struct hand *h, unsigned n)
{
    lua_fn(l, "claim");
    lua_key(l, "ls");
    lua_key(l, "il:%s", text_or(h->pool, "p"));
    lua_key(l, "lc:%s", text_or(h->wid, "w1"));
    tool_keys(l, h);
    hand_args(l, h, n);
    tool_args(l, h);
    return lua_go(l);
}

bool move_unclaim(struct lua *l, const char *wid, unsigned number)
{
    return lua_do(l, "unclaim", "ls lc:%s : %s|%u", wid, wid, number);
}

unsigned move_take(struct lua *l, const char *id)
{
    const struct hand usual = {.wid = NULL};

    if (!move_claim(l, &usual, 1) || strcmp(lua_at(l, "0.0"), id) != 0)
        return 0;
    return (unsigned)strtoul(lua_at(l, "0.1"), NULL, 10);
}

bool move_finish(struct lua *l, const struct hand *h, const struct end *ends, size_t count,
                 unsigned n)
{
    lua_fn(l, "finish");
    lua_key(l, "ls");
    lua_key(l, "il:%s", text_or(h->pool, "p"));
    lua_key(l, "st");
    lua_key(l, "dq");
    lua_key(l, "lc:%s", text_or(h->wid, "w1"));
    for (size_t i = 0; i < count; i++)
        lua_key(l, "t:%s", ends[i].id);
    tool_keys(l, h);
    hand_args(l, h, n);
    lua_arg(l, "%zu", count);
    tool_args(l, h);
    for (size_t i = 0; i < count; i++) {
        lua_arg(l, "%s", ends[i].id);
        lua_arg(l, "%u", ends[i].fence);
        lua_arg(l, "%c", ends[i].state != '\0' ? ends[i].state : 'r');
        lua_arg(l, "%d", ends[i].is_error);
        lua_bytes(l, span_of(text_or(ends[i].message, "")));
        lua_bytes(l, span_of(text_or(ends[i].outcome, "{}")));
        lua_arg(l, "%d", ends[i].dead);
    }
    return lua_go(l);
}

const char *move_end(struct lua *l, const char *id, unsigned fence, const char *outcome)
{
    const struct hand usual = {.wid = NULL};
    const struct end e = {.id = id, .fence = fence, .outcome = outcome};

    (void)move_finish(l, &usual, &e, 1, 0);
    return lua_at(l, "0.0");
}

bool move_beat(struct lua *l, const char *id, unsigned fence, uint64_t lease)
{
    return lua_do(l, "beat", "ls t:%s : w1|%llu|%s|%u", id, (unsigned long long)lease, id, fence);
}

/* The number in a progress object, or in its place. */
static const char *value_of(const char *progress)
{
    static char value[32];
    const char *at = strstr(text_or(progress, ""), "\"progress\":");

    at = at != NULL ? at + strlen("\"progress\":") : text_or(progress, "");
    (void)snprintf(value, sizeof(value), "%.*s", (int)strspn(at, "0123456789.-"), at);
    return value;
}

bool move_report(struct lua *l, const char *id, unsigned fence, const char *message,
                 const char *progress)
{
    return lua_do(l, "report", "t:%s : %s|%u|%d|%s|%d|%s|%s", id, id, fence, message != NULL,
                  text_or(message, ""), progress != NULL, text_or(progress, ""),
                  value_of(progress));
}

bool move_ask(struct lua *l, const char *id, unsigned fence, const char *key, const char *params)
{
    return lua_do(l, "ask", "t:%s ls : %s|%u|%s|elicitation/create|%s|0", id, id, fence, key,
                  params);
}

bool move_answer(struct lua *l, const char *id, const char *owner, const char *key,
                 const char *answer)
{
    return lua_do(l, "answer", "t:%s se: : %s|%s||%s|%s", id, id, owner, key, answer);
}

bool move_get(struct lua *l, const char *id, const char *owner, const char *bid)
{
    return lua_do(l, "get", "t:%s rl:%s : %s|%s|0|%s|1|0", id, owner, id, owner, bid);
}

bool move_cancel(struct lua *l, const char *id, const char *owner)
{
    return lua_do(l, "cancel", "t:%s ls dl st oa:%s rl:%s : %s|%s|0|0", id, owner, owner, id,
                  owner);
}

bool move_list(struct lua *l, const char *owner, uint64_t after, unsigned count)
{
    return lua_do(l, "list", "o:%s rl:%s : %s|%llu|%u|0", owner, owner, owner,
                  (unsigned long long)after, count);
}

bool move_tick(struct lua *l)
{
    return lua_do(l, "tick", "ls dl ix dq st : 128|12345");
}

void lapse(struct lua *l, const char *id)
{
    (void)lua_redis(l, "ZADD %sls XX 1 %s", l->T, id);
}

void come_due(struct lua *l, const char *id)
{
    (void)lua_redis(l, "ZADD %sdl XX 1 %s", l->T, id);
}

void expire(struct lua *l, const char *id, const char *owner)
{
    (void)lua_redis(l, "DEL %st:%s", l->T, id);
    (void)lua_redis(l, "ZADD %six XX 1 %s%s", l->T, id, owner);
}

const char *field(struct lua *l, const char *id, const char *name)
{
    (void)lua_redis(l, "HGET %st:%s %s", l->T, id, name);
    return lua_at(l, "");
}

bool field_is(struct lua *l, const char *id, const char *name, const char *value)
{
    const char *got = field(l, id, name);

    if (strcmp(got, value) == 0)
        return true;
    (void)fprintf(stderr, "  %s of %s is \"%s\", not \"%s\"\n", name, id, got, value);
    return false;
}

static bool is_ready(struct lua *l, const char *id)
{
    char tool[64];
    char priority[8];

    (void)snprintf(tool, sizeof(tool), "%s", field(l, id, "q"));
    (void)snprintf(priority, sizeof(priority), "%s", field(l, id, "c"));
    return lua_int(l, "LPOS %srq:%s:%s %s", l->T, tool, priority, id) >= 0;
}

static bool is_parked(struct lua *l, const char *id)
{
    char owner[64];

    (void)snprintf(owner, sizeof(owner), "%s", field(l, id, "o"));
    return lua_int(l, "ZSCORE %soa:%s %s", l->T, owner, id) >= INT64_C(1) << 52;
}

const char *place(struct lua *l, const char *id)
{
    const char *state = field(l, id, "s");

    if (strcmp(state, "nil") == 0)
        return "gone";
    if (strchr("rex", state[0]) != NULL)
        return "ended";
    if (lua_int(l, "ZSCORE %sls %s", l->T, id) >= 0)
        return "running";
    if (lua_int(l, "ZSCORE %sdl %s", l->T, id) >= 0)
        return "delayed";
    if (is_parked(l, id))
        return "parked";
    return is_ready(l, id) ? "ready" : "lost";
}

bool is_at(struct lua *l, const char *id, const char *where)
{
    const char *at = place(l, id);

    if (strcmp(at, where) == 0)
        return true;
    (void)fprintf(stderr, "  %s is %s, not %s\n", id, at, where);
    return false;
}
