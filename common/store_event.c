/* What is published to us, read strictly: a message that is not exactly as docs/store.md says is
 * dropped and counted. */
#include "common/buf.h"
#include "common/id.h"
#include "common/metric.h"
#include "common/store_inside.h"

enum { MESSAGE_MAX = 64 * 1024 };

struct reader {
    const char *p;
    const char *end;
    bool bad;
};

/* The bytes up to the next space, which is eaten; the last word ends with the text. */
static struct span word(struct reader *r)
{
    const char *at = r->p;
    const char *stop = r->p < r->end ? memchr(at, ' ', (size_t)(r->end - at)) : NULL;

    if (stop == NULL)
        stop = r->end;
    r->bad = r->bad || stop == at;
    r->p = stop < r->end ? stop + 1 : stop;
    return (struct span){at, (size_t)(stop - at)};
}

static uint64_t number(struct reader *r)
{
    struct span w = word(r);
    uint64_t n = 0;

    if (w.n == 0 || w.n > 19)
        r->bad = true;
    for (size_t i = 0; i < w.n && !r->bad; i++) {
        if (w.p[i] < '0' || w.p[i] > '9')
            r->bad = true;
        n = n * 10 + (uint64_t)(unsigned char)(w.p[i] - '0');
    }
    return n;
}

static char letter(struct reader *r, const char *one_of)
{
    struct span w = word(r);

    if (w.n != 1 || strchr(one_of, w.p[0]) == NULL)
        r->bad = true;
    return r->bad ? '\0' : w.p[0];
}

static struct span id(struct reader *r)
{
    struct span w = word(r);

    r->bad = r->bad || w.n != ID_LEN;
    return w;
}

/* "-" stands for none. */
static struct span optional(struct reader *r)
{
    struct span w = word(r);

    return span_is(w, "-") ? (struct span){NULL, 0} : w;
}

static struct span take(struct reader *r, uint64_t n)
{
    struct span s = {r->p, (size_t)n};

    if (n > (uint64_t)(r->end - r->p)) {
        r->bad = true;
        return (struct span){NULL, 0};
    }
    r->p += n;
    return s;
}

static void read_head(struct reader *r, struct task *t)
{

    r->bad = r->bad || !task_state_of(letter(r, "wirex"), &t->state);
    t->is_error = letter(r, "01") == '1';
    t->hidden = letter(r, "tc") == 'c';
    t->dialect = letter(r, "LM");
    t->created_ms = number(r);
    t->updated_ms = number(r);
    t->expires_ms = number(r);
    t->poll_ms = number(r);
    t->version = number(r);
    t->seq = number(r);
    t->id = id(r);
    t->tool = word(r);
    t->session = optional(r);
}

static bool read_task(struct reader *r, struct store_event *ev)
{
    const char *line = memchr(r->p, '\n', (size_t)(r->end - r->p));
    struct reader head = {r->p, line, line == NULL};
    uint64_t message;
    uint64_t progress;
    struct span outcome;

    if (line == NULL)
        return false;
    read_head(&head, &ev->task);
    message = number(&head);
    progress = number(&head);
    outcome = word(&head);
    r->p = line + 1;
    r->bad = head.bad || head.p != head.end || line[-1] == ' ';
    ev->task.message = take(r, message);
    ev->task.progress = take(r, progress);
    ev->outcome_omitted = span_is(outcome, "-2");
    if (!ev->outcome_omitted && !span_is(outcome, "-1")) {
        struct reader len = {outcome.p, outcome.p + outcome.n, r->bad};
        uint64_t n = number(&len);

        r->bad = r->bad || len.bad;
        ev->task.outcome = take(r, r->bad ? 0 : n);
    }
    return !r->bad && r->p == r->end;
}

bool store_task_text(struct span text, struct task *out)
{
    struct reader r = {text.p, text.p + text.n, false};
    struct store_event ev = {.kind = STORE_EV_TASK};

    if (text.n == 0 || !read_task(&r, &ev))
        return false;
    *out = ev.task;
    return true;
}

static bool read_stream_id(struct reader *r, struct span *out)
{
    *out = word(r);
    return !r->bad && out->n == ID_SHORT_LEN;
}

/* <stream> <entry> <d|t> <length>\n<data> */
static bool read_stream(struct reader *r, struct store_event *ev)
{
    const char *line = memchr(r->p, '\n', (size_t)(r->end - r->p));
    struct reader head = {r->p, line, line == NULL};

    if (line == NULL || !read_stream_id(&head, &ev->stream))
        return false;
    ev->entry = word(&head);
    ev->is_task = letter(&head, "dt") == 't';
    ev->data.n = number(&head);
    ev->data.p = line + 1;
    if (head.bad || head.p != head.end || line[-1] == ' ' ||
        ev->data.n != (uint64_t)(r->end - ev->data.p))
        return false;
    if (!ev->is_task)
        return true;
    if (!store_task_text(ev->data, &ev->task))
        return false;
    ev->data = (struct span){NULL, 0};
    return true;
}

static bool read_input(struct reader *r, struct store_event *ev)
{
    ev->task.id = id(r);
    ev->key = (struct span){r->p, (size_t)(r->end - r->p)};
    return !r->bad && ev->key.n > 0;
}

static bool read_id(struct reader *r, struct span *out)
{
    *out = id(r);
    return !r->bad && r->p == r->end;
}

static bool read_wake(const struct store *s, struct reader *r, struct store_event *ev)
{
    uint64_t p = number(r);

    ev->partition = (unsigned)p;
    return !r->bad && r->p == r->end && p < (s->partitions != 0 ? s->partitions : 1);
}

static bool read_request(struct reader *r, struct store_event *ev)
{
    ev->session = id(r);
    ev->request = (struct span){r->p, (size_t)(r->end - r->p)};
    return !r->bad && ev->request.n > 0;
}

static bool read_updated(struct reader *r, struct store_event *ev)
{
    ev->server = word(r);
    ev->uri = (struct span){r->p, (size_t)(r->end - r->p)};
    return !r->bad && ev->uri.n > 0;
}

static const struct {
    char letter;
    enum store_event_kind kind;
} kinds[] = {
    {'T', STORE_EV_TASK},         {'O', STORE_EV_CROWDED},       {'K', STORE_EV_WAKE},
    {'C', STORE_EV_CANCEL},       {'I', STORE_EV_INPUT},         {'H', STORE_EV_CALLED},
    {'S', STORE_EV_STREAM},       {'G', STORE_EV_STREAM_TAKEN},  {'V', STORE_EV_STREAM_SILENT},
    {'A', STORE_EV_STREAM_LEADS}, {'E', STORE_EV_SESSION_ENDED}, {'Q', STORE_EV_CANCEL_REQUEST},
    {'L', STORE_EV_TOOLS},        {'P', STORE_EV_KEYS},          {'W', STORE_EV_WANTED},
    {'U', STORE_EV_UPDATED},
};

static bool read_kind(struct reader *r, struct store_event *ev)
{
    char first = word(r).p[0];

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        ev->kind = kinds[i].kind;
        if (kinds[i].letter == first)
            return true;
    }
    return false;
}

static bool read_rest(const struct store *s, struct reader *r, struct store_event *ev)
{
    switch (ev->kind) {
    case STORE_EV_TASK:
        return read_task(r, ev);
    case STORE_EV_CROWDED:
    case STORE_EV_CANCEL:
    case STORE_EV_CALLED:
        return read_id(r, &ev->task.id);
    case STORE_EV_WAKE:
        return read_wake(s, r, ev);
    case STORE_EV_INPUT:
        return read_input(r, ev);
    case STORE_EV_STREAM:
        return read_stream(r, ev);
    case STORE_EV_STREAM_TAKEN:
    case STORE_EV_STREAM_SILENT:
    case STORE_EV_STREAM_LEADS:
        return read_stream_id(r, &ev->stream) && r->p == r->end;
    case STORE_EV_SESSION_ENDED:
        return read_id(r, &ev->session);
    case STORE_EV_CANCEL_REQUEST:
        return read_request(r, ev);
    case STORE_EV_UPDATED:
        return read_updated(r, ev);
    case STORE_EV_TOOLS:
    case STORE_EV_KEYS:
    case STORE_EV_WANTED:
        break;
    }
    return r->p == r->end;
}

static bool read_message(const struct store *s, struct span text, struct store_event *ev)
{
    struct reader r = {text.p, text.p + text.n, false};

    if (text.n == 0 || (text.n > 1 && text.p[1] != ' '))
        return false;
    if (strchr("TSIU", text.p[0]) == NULL && text.p[text.n - 1] == ' ')
        return false;
    return read_kind(&r, ev) && read_rest(s, &r, ev);
}

void store_on_message(void *arg, struct span channel, struct span payload)
{
    struct store *s = arg;
    struct store_event ev = {.kind = STORE_EV_TASK};

    (void)channel;
    if (s->closing)
        return;
    if (!read_message(s, payload, &ev)) {
        s->dropped++;
        metric_add(METRIC_STORE_DROPPED, NULL, 1);
        return;
    }
    if (s->on_event != NULL)
        s->on_event(s->arg, &ev);
}

uint64_t store_dropped(const struct store *s)
{
    return s->dropped;
}

static void on_told(void *arg, enum err e, const struct redisReply *reply)
{
    (void)arg;
    (void)e;
    (void)reply;
}

void store_tell_all(struct store *s, const char *kind, struct span a, struct span b)
{
    struct span argv[3] = {SPAN("PUBLISH"), span_of(s->channel_all)};
    struct buf text;

    buf_init(&text, MESSAGE_MAX);
    buf_adds(&text, kind);
    if (a.p != NULL) {
        buf_addc(&text, ' ');
        buf_add_span(&text, a);
    }
    if (b.p != NULL) {
        buf_addc(&text, ' ');
        buf_add_span(&text, b);
    }
    argv[2] = buf_span(&text);
    if (buf_ok(&text))
        store_command(s, 3, argv, on_told, NULL);
    buf_fini(&text);
}
