/* The model: tasks, who waits for them, what a verdict may be, what must be published. */
#include "tests/lib/walk.h"

#include "common/mem.h"

#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

unsigned walk_random(struct walk *w, unsigned below)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (unsigned)((w->random >> 16) % below);
}

bool walk_chance(struct walk *w, unsigned percent)
{
    return walk_random(w, 100) < percent;
}

int64_t walk_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

void walk_violation(struct walk *w, const char *format, ...)
{
    va_list ap;

    if (w->violations++ >= 10)
        return;
    (void)fprintf(stderr, "  seed %llu step %u (%s): ", (unsigned long long)w->seed, w->step,
                  w->doing);
    va_start(ap, format);
    (void)vfprintf(stderr, format, ap);
    va_end(ap);
    (void)fputc('\n', stderr);
}

static const char *const partitions[WALK_PARTITIONS] = {"0", "1"};

void walk_use(struct walk *w, int owner)
{
    lua_use(w->l, partitions[owner % WALK_PARTITIONS]);
}

const char *walk_owner(int owner)
{
    static const char *const names[WALK_OWNERS] = {"owner-0000000000", "owner-1111111111",
                                                   "owner-2222222222", "owner-3333333333",
                                                   "owner-4444444444", "owner-5555555555"};

    return names[owner];
}

const char *walk_tool(int tool)
{
    static const char *const names[WALK_TOOLS] = {"a", "b", "c"};

    return names[tool];
}

const char *walk_broker(int broker)
{
    static const char *const names[WALK_BROKERS] = {"b0", "b1", "b2", "b3", "b4",
                                                    "b5", "b6", "b7", "b8", "b9"};

    return names[broker];
}

unsigned walk_limit(int owner)
{
    static const unsigned limits[WALK_OWNERS] = {3, 2, 0, 4, 1, 3};

    return limits[owner];
}

bool walk_ended(char state)
{
    return state == 'r' || state == 'e' || state == 'x';
}

/* --- tasks --- */

struct walk_task *walk_find(struct walk *w, const char *id)
{
    int i = strncmp(id, "AA", 2) == 0 ? (int)strtol(id + 2, NULL, 10) : -1;

    return i >= 0 && i < w->count && strcmp(w->tasks[i].id, id) == 0 ? &w->tasks[i] : NULL;
}

static const char *cell(struct walk *w, const char *row, int i)
{
    char path[16];

    (void)snprintf(path, sizeof(path), "%s%s%d", row, row[0] != '\0' ? "." : "", i);
    return lua_at(w->l, path);
}

struct walk_task *walk_add(struct walk *w, const struct walk_task *like, const char *path)
{
    struct walk_task *t = &w->tasks[w->count];

    *t = *like;
    (void)snprintf(t->id, sizeof(t->id), "AA%022d", w->count++);
    t->expires = strtoll(cell(w, path, 7), NULL, 10);
    t->seq = strtoll(cell(w, path, 10), NULL, 10);
    t->next = 1;
    t->version = 1;
    if (strcmp(cell(w, path, 0), t->id) != 0)
        walk_violation(w, "%s was answered for %s", cell(w, path, 0), t->id);
    return t;
}

void walk_wait(struct walk_task *t, int broker)
{
    for (int i = 0; i < t->waiting_count; i++)
        if (t->waiting[i] == broker)
            return;
    if (t->waiting_count == WALK_WAITING_MAX) {
        memmove(t->waiting, t->waiting + 1, sizeof(t->waiting) - sizeof(t->waiting[0]));
        t->waiting_count--;
    }
    t->waiting[t->waiting_count++] = broker;
}

void walk_know_end(struct walk *w, struct walk_task *t, char end)
{
    if (t->end == end)
        return;
    if (t->end != '\0')
        walk_violation(w, "%s ended as %c, then as %c", t->id, t->end, end);
    t->end = end;
    t->fresh = true;
    t->running = false;
}

/* --- claims and verdicts --- */

void walk_hand(const struct walk_worker *k, struct hand *h)
{
    static const char *const pools[] = {"p0", "p1"};

    *h = (struct hand){.wid = k->wid, .pool = pools[k->pool], .lease = 60000};
    h->tools[0] = walk_tool(k->pool);
    h->tools[1] = walk_tool(k->pool + 1);
}

static void check_claim(struct walk *w, const struct walk_task *t, unsigned fence, unsigned attempt,
                        int64_t before)
{
    int64_t now = walk_now();

    if (t->end != '\0')
        walk_violation(w, "%s was handed out after its end (%c)", t->id, t->end);
    if (fence <= t->fence)
        walk_violation(w, "%s has fence %u after %u", t->id, fence, t->fence);
    if (t->running && now < t->leased)
        walk_violation(w, "%s was handed out %lld ms before its lease ended", t->id,
                       (long long)(t->leased - now));
    if (before > t->expires)
        walk_violation(w, "%s was handed out after it expired", t->id);
    if (attempt != t->next || attempt > t->attempts)
        walk_violation(w, "%s: attempt %u of %u, not %u", t->id, attempt, t->attempts, t->next);
}

/* A worker that is handed a job it still holds drops the older one: beat names ids only. */
void walk_hold(struct walk *w, struct walk_worker *k, struct walk_hold h)
{
    for (int i = 0; i < k->count; i++) {
        if (k->held[i].task == h.task) {
            if (h.fence > k->held[i].fence)
                k->held[i] = h;
            return;
        }
    }
    if (k->count < WALK_HELD)
        k->held[k->count++] = h;
    else
        walk_violation(w, "%s holds too much", k->wid);
}

void walk_claimed(struct walk *w, struct walk_worker *k, const char *path, int64_t before,
                  uint64_t lease)
{
    struct walk_task *t = walk_find(w, cell(w, path, 0));
    unsigned fence = (unsigned)strtoul(cell(w, path, 1), NULL, 10);

    if (t == NULL) {
        walk_violation(w, "an unknown task was handed out: %s", cell(w, path, 0));
        return;
    }
    check_claim(w, t, fence, (unsigned)strtoul(cell(w, path, 2), NULL, 10), before);
    if (t->tool != k->pool && t->tool != k->pool + 1)
        walk_violation(w, "%s was handed to one who does not serve it", t->id);
    if (strcmp(cell(w, path, 10), t->handle) != 0)
        walk_violation(w, "%s: handle \"%s\", not \"%s\"", t->id, cell(w, path, 10), t->handle);
    t->fence = fence;
    t->attempt = t->next;
    t->next = t->attempt + 1; /* if the lease lapses */
    t->running = true;
    t->leased = before + (int64_t)lease;
    (void)snprintf(t->wid, sizeof(t->wid), "%s", k->wid);
    walk_hold(w, k, (struct walk_hold){(int)(t - w->tasks), fence});
}

bool walk_verdict(struct walk *w, struct walk_hold h, const char *verdict, int64_t before)
{
    const struct walk_task *t = &w->tasks[h.task];
    bool ok = strcmp(verdict, "OK") == 0 || strcmp(verdict, "DEAD") == 0;
    bool is_holder = t->running && t->end == '\0' && h.fence == t->fence;
    int64_t now = walk_now();

    if (ok && !is_holder)
        walk_violation(w, "%s: fence %u was believed (newest %u, end %c)", t->id, h.fence, t->fence,
                       t->end != '\0' ? t->end : '-');
    if (ok && before > t->expires)
        walk_violation(w, "%s: OK after it expired", t->id);
    if (!ok && is_holder && now < t->leased && now < t->expires)
        walk_violation(w, "%s: %s to its holder", t->id, verdict);
    if (strcmp(verdict, "GONE") == 0 && now < t->expires)
        walk_violation(w, "%s: GONE before it expired", t->id);
    return ok;
}

/* --- what is published --- */

static bool waits(const struct walk_task *t, int broker)
{
    for (int i = 0; i < t->waiting_count; i++)
        if (t->waiting[i] == broker)
            return true;
    return false;
}

const char *walk_word(const char *text, int n)
{
    for (; n > 0 && text != NULL; n--) {
        text = strchr(text, ' ');
        text = text != NULL ? text + 1 : NULL;
    }
    return text != NULL ? text : "";
}

static void heard_task(struct walk *w, int broker, const char *text)
{
    char state = walk_word(text, 1)[0];
    unsigned version = (unsigned)strtoul(walk_word(text, 9), NULL, 10);
    char id[25];
    struct walk_task *t;

    (void)snprintf(id, sizeof(id), "%s", walk_word(text, 11));
    t = walk_find(w, id);
    if (t == NULL || version == 0) {
        walk_violation(w, "a message that cannot be read: %.80s", text);
        return;
    }
    if (version < t->version)
        walk_violation(w, "%s: version %u after %u", id, version, t->version);
    t->version = version;
    if (!waits(t, broker))
        walk_violation(w, "%s: %s was told and does not wait", id, walk_broker(broker));
    if (walk_ended(state)) {
        walk_know_end(w, t, state);
        t->told[broker]++;
    } else if (t->end != '\0' && !t->fresh) {
        walk_violation(w, "%s: told as %c after its end", id, state);
    }
}

static void heard(void *arg, struct redisReply *message)
{
    struct walk *w = arg;
    const char *process = lua_process_of(message);
    const char *text = message->element[2]->str;
    int broker = (int)strtol(process + 1, NULL, 10);

    if (process[0] == 'b' && text[0] == 'T')
        heard_task(w, broker, text);
    if (process[0] == 'b' && text[0] == 'S')
        walk_heard_stream(w, broker, text);
    if (process[0] == 'b' &&
        (text[0] == 'V' || text[0] == 'A' || (text[0] == 'G' && strlen(text) == 10)))
        walk_heard_moved(w, broker, text);
    freeReplyObject(message);
}

/* Every process that waits is told of an end once, nobody else, and never again. */
void walk_hear(struct walk *w)
{
    lua_hear_each(w->l, heard, w);
    walk_check_due(w);
    for (int i = 0; i < w->count; i++) {
        struct walk_task *t = &w->tasks[i];

        if (!t->fresh)
            continue;
        t->fresh = false;
        for (int b = 0; b < WALK_BROKERS; b++)
            if (t->told[b] != waits(t, b))
                walk_violation(w, "%s: %s was told %d times of its end, %d times expected", t->id,
                               walk_broker(b), t->told[b], waits(t, b));
    }
}

/* --- begin and end --- */

void walk_start(struct walk *w, struct lua *l, uint64_t seed)
{
    memset(w, 0, sizeof(*w));
    w->l = l;
    w->seed = seed;
    w->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    w->tasks = mem_zalloc(WALK_TASKS * sizeof(*w->tasks));
    w->doing = "start";
    w->began = walk_now();
    lua_flush(l);
    for (int o = 0; o < WALK_OWNERS; o++)
        w->idem_of[o] = w->get_stream[o] = -1;
    for (int k = 0; k < WALK_WORKERS; k++) {
        w->workers[k].pool = k % 2;
        (void)snprintf(w->workers[k].wid, sizeof(w->workers[k].wid), "w%d", w->next_wid++);
        lua_listen(l, w->workers[k].wid);
    }
    for (int p = 0; p < WALK_PARTITIONS; p++) {
        lua_use(l, partitions[p]);
        (void)lua_do(l, "serve", "pl:a pl:b : p0|a|b");
        (void)lua_do(l, "serve", "pl:b pl:c : p1|b|c");
    }
}

void walk_end(struct walk *w)
{
    for (int k = 0; k < WALK_WORKERS; k++)
        lua_deafen(w->l, w->workers[k].wid);
    for (int i = 0; i < w->stream_count; i++)
        free(w->streams[i].entries);
    free(w->tasks);
}
