/* What the model knows of streams: who holds each, what must be on it, what is. */
#include "tests/lib/walk.h"

#include "common/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *walk_key(int key)
{
    static const char *const names[WALK_KEYS] = {"k", "x y", "h"};

    return names[key];
}

struct walk_stream *walk_stream(struct walk *w, int owner, int task)
{
    struct walk_stream *s;

    if (w->stream_count == WALK_STREAMS)
        return NULL;
    s = &w->streams[w->stream_count];
    *s = (struct walk_stream){.owner = owner, .task = task, .holder = -1};
    (void)snprintf(s->id, sizeof(s->id), "st%06u", (unsigned)w->stream_count++ % 1000000);
    return s;
}

bool walk_is_there(const struct walk *w, int stream)
{
    return stream >= 0 && w->streams[stream].exists;
}

int walk_carrier(struct walk *w, struct walk_task *t)
{
    if (t->stateless && !t->hidden)
        return -1;
    if (walk_is_there(w, t->stream))
        return t->stream;
    if (t->hidden && t->own_stream >= 0) {
        struct walk_stream *s = &w->streams[t->own_stream];

        if (!s->exists) {
            s->exists = true;
            s->has_session = t->sessioned;
            s->holder = t->waiting_count > 0 ? t->waiting[0] : -1;
        }
        t->stream = t->own_stream;
        return t->stream;
    }
    if (t->sessioned && walk_is_there(w, w->get_stream[t->owner]))
        return w->get_stream[t->owner];
    return -1;
}

/* --- events --- */

static bool is_after(const char *entry, const char *last)
{
    char *a;
    char *b;
    long long after = strtoll(entry, &a, 10) - strtoll(last, &b, 10);

    return after > 0 || (after == 0 && strtoll(a, NULL, 10) < strtoll(b, NULL, 10)); /* "-<n>" */
}

static void keep_entry(struct walk *w, struct walk_stream *s, const char *entry)
{
    if (s->count > 0 && !is_after(entry, s->entries[s->count - 1]))
        walk_violation(w, "%s: %s after %s", s->id, entry, s->entries[s->count - 1]);
    if (s->count == s->room) {
        s->room = 2 * s->room + 8;
        s->entries = mem_grow(s->entries, (size_t)s->room * sizeof(s->entries[0]));
    }
    (void)snprintf(s->entries[s->count++], sizeof(s->entries[0]), "%s", entry);
}

/* "<task>/<key>/<n>" */
static struct walk_task *parse_id(struct walk *w, const char *text, int *key, unsigned *n)
{
    char id[25];
    struct walk_task *t;

    (void)snprintf(id, sizeof(id), "%s", text);
    t = walk_find(w, id);
    for (*key = 0; t != NULL && *key < WALK_KEYS; ++*key) {
        size_t length = strlen(walk_key(*key));

        if (strncmp(text + 25, walk_key(*key), length) == 0 && text[25 + length] == '/') {
            *n = (unsigned)strtoul(text + 26 + length, NULL, 10);
            return *n > 0 && *n < 64 ? t : NULL;
        }
    }
    return NULL;
}

static void seen_request(struct walk *w, struct walk_stream *s, const char *data, const char *id)
{
    struct walk_task *t;
    unsigned n;
    int k;

    if ((t = parse_id(w, id, &k, &n)) == NULL) {
        walk_violation(w, "%s: an id that is none: %.120s", s->id, data);
        return;
    }
    if ((t->keys[k].ids >> n & 1) != 0)
        walk_violation(w, "%s: %s/%u was used twice", t->id, walk_key(k), n);
    t->keys[k].ids |= UINT64_C(1) << n;
    if (t->owner != s->owner || t->stateless || !s->has_session)
        walk_violation(w, "%s: asked where it must not be", t->id);
    s->due -= strstr(data, "\"tasks/cancel\"") == NULL;
}

/* Where it was asked may be a stream that we have not read yet. */
static void seen_cancelled(struct walk *w, const struct walk_stream *s, const char *data,
                           const char *id)
{
    struct walk_task *t;
    unsigned n;
    int k;

    if ((t = parse_id(w, id, &k, &n)) == NULL) {
        walk_violation(w, "%s: an id that is none: %.120s", s->id, data);
        return;
    }
    t->keys[k].cancelled |= UINT64_C(1) << n;
    if ((strstr(data, "related-task") != NULL) == t->hidden && s->holder >= 0)
        walk_violation(w, "%s: a hidden call is named, or a task is not", t->id);
}

static void seen_status(struct walk *w, const struct walk_stream *s, const char *data)
{
    char id[25];
    const struct walk_task *t;

    (void)snprintf(id, sizeof(id), "%s", walk_word(data, 10));
    if ((t = walk_find(w, id)) == NULL)
        walk_violation(w, "a status that cannot be read: %.80s", data);
    else if (s->task >= 0 || t->owner != s->owner || !t->sessioned ||
             (s->holder >= 0 && (t->hidden || &w->streams[w->get_stream[s->owner]] != s)))
        walk_violation(w, "%s: its status stands on %s", t->id, s->id);
}

static void seen_log(struct walk *w, struct walk_stream *s, const char *number)
{
    int n = (int)strtol(number, NULL, 10);

    if (n < 0 || n >= w->log_count || w->log_stream[n] != s - w->streams)
        walk_violation(w, "%s: log line %d, which belongs to %d", s->id, n,
                       n < w->log_count ? w->log_stream[n] : -3);
    else
        w->log_stream[n] = -2;
    s->due--;
}

void walk_event(struct walk *w, struct walk_stream *s, const char *entry, const char *kind,
                const char *data)
{
    const char *at;

    keep_entry(w, s, entry);
    w->events++;
    if (kind[0] == 't')
        seen_status(w, s, data);
    else if ((at = strstr(data, "\"requestId\":\"")) != NULL)
        seen_cancelled(w, s, data, at + strlen("\"requestId\":\""));
    else if ((at = strstr(data, "\"id\":\"")) != NULL)
        seen_request(w, s, data, at + strlen("\"id\":\""));
    else if ((at = strstr(data, "\"data\":{\"n\":")) != NULL)
        seen_log(w, s, at + strlen("\"data\":{\"n\":"));
    else if (strstr(data, "\"progressToken\":1,\"progress\":") != NULL)
        s->due--;
    else
        walk_violation(w, "%s: what is this? %.80s", s->id, data);
}

static struct walk_stream *find(struct walk *w, const char *id)
{
    int i = strncmp(id, "st", 2) == 0 ? (int)strtol(id + 2, NULL, 10) : -1;

    return i >= 0 && i < w->stream_count ? &w->streams[i] : NULL;
}

/* A task that ends calls its questions back, for which it may have to make its stream anew. */
static void made_at_the_end(struct walk_stream *s, int broker, const char *text)
{
    if (s->exists || s->task < 0 || strstr(text, "\"method\":\"") == NULL ||
        (strstr(text, "/cancelled\"") == NULL && strstr(text, "tasks/cancel\"") == NULL))
        return;
    s->exists = true;
    s->has_session = true;
    s->holder = broker;
}

/* S <st> <entry> <d|t> <length>\n<data> */
void walk_heard_stream(struct walk *w, int broker, const char *text)
{
    const char *data = strchr(text, '\n');
    struct walk_stream *s = find(w, walk_word(text, 1));
    char entry[32];

    if (data == NULL || s == NULL || strlen(data + 1) != strtoul(walk_word(text, 4), NULL, 10)) {
        walk_violation(w, "an event that cannot be read: %.80s", text);
        return;
    }
    (void)snprintf(entry, sizeof(entry), "%.*s", (int)strcspn(walk_word(text, 2), " "),
                   walk_word(text, 2));
    made_at_the_end(s, broker, data);
    if (!s->exists || s->holder != broker)
        walk_violation(w, "%s: %s was told and does not hold it", s->id, walk_broker(broker));
    walk_event(w, s, entry, walk_word(text, 3), data + 1);
}

/* A: the one that led is not held any more, and this one is. */
static void heard_lead(struct walk *w, int broker, const struct walk_stream *s)
{
    int led = w->get_stream[s->owner];

    if (!s->exists || s->holder != broker || s->task >= 0 || led < 0 || &w->streams[led] == s ||
        w->streams[led].holder >= 0)
        walk_violation(w, "%s was told that %s leads", walk_broker(broker), s->id);
    w->get_stream[s->owner] = (int)(s - w->streams);
}

/* V: a newer one leads. G: another has it. */
void walk_heard_moved(struct walk *w, int broker, const char *text)
{
    const struct walk_stream *s = find(w, text + 2);

    if (s != NULL && text[0] == 'A')
        heard_lead(w, broker, s);
    else if (s == NULL || (s->holder == broker) != (text[0] == 'V') ||
             (text[0] == 'V' && &w->streams[w->get_stream[s->owner]] == s))
        walk_violation(w, "%s was told %s", walk_broker(broker), text);
}

void walk_read_events(struct walk *w, struct walk_stream *s, size_t at, int known)
{
    size_t n = lua_count(w->l, "");
    char words[3][32 * 1024];

    for (; at + 2 < n; at += 3) {
        char path[16];

        for (size_t i = 0; i < 3; i++) {
            (void)snprintf(path, sizeof(path), "%zu", at + i);
            (void)snprintf(words[i], sizeof(words[i]), "%s", lua_at(w->l, path));
        }
        if (known == s->count)
            walk_event(w, s, words[0], words[1], words[2]);
        else if (strcmp(words[0], s->entries[known]) != 0)
            walk_violation(w, "%s: %s is read where %s stood", s->id, words[0], s->entries[known]);
        known++;
    }
    if (known != s->count)
        walk_violation(w, "%s: %d events are lost", s->id, s->count - known);
}

void walk_read_stream(struct walk *w, struct walk_stream *s)
{
    walk_use(w, s->owner);
    (void)lua_do(w->l, "stream_read", "sx:%s : %s|%s", s->id, s->id,
                 s->count > 0 ? s->entries[s->count - 1] : "0");
    walk_read_events(w, s, 0, s->count);
}

/* --- checks --- */

void walk_check_due(struct walk *w)
{
    for (int i = 0; i < w->stream_count; i++) {
        struct walk_stream *s = &w->streams[i];

        if (s->due == 0 || !s->exists || s->holder < 0)
            continue;
        walk_violation(w, "%s: %d messages too %s", s->id, abs(s->due),
                       s->due > 0 ? "few" : "many");
        s->due = 0;
    }
}

static bool has_line(const char *lines, const char *line)
{
    size_t n = strlen(line);

    for (const char *at = lines; (at = strstr(at, line)) != NULL; at++)
        if ((at == lines || at[-1] == '\n') && (at[n] == '\0' || at[n] == '\n'))
            return true;
    return false;
}

bool walk_waits_for(const struct walk_task *t, int k)
{
    const struct walk_key *key = &t->keys[k];

    return key->asked && key->fence == t->fence && (!key->answered || (k == 2 && !key->settled));
}

/* What its attempt waits for stands in io, and then, and only then, the task waits for input. */
static void check_io(struct walk *w, const struct walk_task *t)
{
    bool holds;
    char io[256];
    char state;
    unsigned open = 0;

    walk_use(w, t->owner);
    state = field(w->l, t->id, "s")[0];
    if (walk_ended(state) || walk_now() >= t->expires)
        return;
    holds = strtoul(field(w->l, t->id, "n"), NULL, 10) == t->fence;
    (void)snprintf(io, sizeof(io), "%s", field(w->l, t->id, "io"));
    if (strcmp(io, "nil") == 0)
        io[0] = '\0';
    if ((state == 'i') != (io[0] != '\0'))
        walk_violation(w, "%s is %c and waits for \"%s\"", t->id, state, io);
    for (int k = 0; k < WALK_KEYS; k++) {
        if (has_line(io, walk_key(k)) != (holds && walk_waits_for(t, k)))
            walk_violation(w, "%s: %s among \"%s\"?", t->id, walk_key(k), io);
        open += holds && walk_waits_for(t, k) && !t->keys[k].answered;
    }
    (void)lua_do(w->l, "questions", "t:%s : %s|%s", t->id, t->id, walk_owner(t->owner));
    if (lua_count(w->l, "") != 3 * (size_t)open)
        walk_violation(w, "%s: %zu questions, not %u", t->id, lua_count(w->l, "") / 3, open);
}

void walk_check_talk(struct walk *w)
{
    walk_hear(w);
    for (int i = 0; i < w->stream_count; i++) {
        struct walk_stream *s = &w->streams[i];

        if (!s->exists)
            continue;
        walk_read_stream(w, s);
        if (s->due != 0)
            walk_violation(w, "%s: %d messages too %s", s->id, abs(s->due),
                           s->due > 0 ? "few" : "many");
    }
    for (int i = 0; i < w->count; i++) {
        if (w->tasks[i].end == '\0')
            check_io(w, &w->tasks[i]);
        for (int k = 0; k < WALK_KEYS; k++)
            if ((w->tasks[i].keys[k].cancelled & ~w->tasks[i].keys[k].ids) != 0)
                walk_violation(w, "%s: cancelled what was not asked", w->tasks[i].id);
    }
}
