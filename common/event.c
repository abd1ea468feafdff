#include "common/event.h"

#include "common/buf.h"
#include "common/clock.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
    FIELDS_MAX = 12,
    KEY_MAX = 20,
    FIELD_COST = KEY_MAX + 12, /* a key with its quotes, colon, comma and an ellipsis */
    SOURCE_MAX = EVENT_LINE_MAX,
};

static const struct {
    const char *name;
    enum event_level level;
    const char *text;
    const char *fields;
} rows[] = {
#define X(name, level, text, fields) {#name, EVENT_##level, text, fields},
#include "common/event.def"
#undef X
};

static const char *const level_names[] = {"debug", "info", "warn", "error"};

static struct {
    const char *program;
    enum event_format format;
    enum event_level level;
    atomic_ullong counts[EVENT_COUNT];
} setup = {.program = "errand", .format = EVENT_LOGFMT, .level = EVENT_INFO};

void event_setup(const char *program, enum event_format format, enum event_level level)
{
    setup.program = program;
    setup.format = format;
    setup.level = level;
}

void event_setup_named(const char *program, const char *format, const char *level)
{
    unsigned n = strcmp(level, "none") == 0 ? EVENT_ERROR + 1 : EVENT_INFO;

    for (unsigned i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++)
        if (strcmp(level, level_names[i]) == 0)
            n = i;
    event_setup(program, strcmp(format, "json") == 0 ? EVENT_JSON : EVENT_LOGFMT,
                (enum event_level)n);
}

uint64_t event_count(enum event_kind e)
{
    return atomic_load_explicit(&setup.counts[e], memory_order_relaxed);
}

const char *event_name(enum event_kind e)
{
    return rows[e].name;
}

enum event_level event_level(enum event_kind e)
{
    return rows[e].level;
}

const char *event_text(enum event_kind e)
{
    return rows[e].text;
}

const char *event_fields(enum event_kind e)
{
    return rows[e].fields;
}

/* The length of one character of what buf_add_json wrote: an escape or a UTF-8 sequence. */
static size_t unit_len(const char *p)
{
    unsigned char c = (unsigned char)p[0];

    if (c == '\\')
        return p[1] == 'u' ? 6 : 2;
    if (c < 0x80)
        return 1;
    return c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* What some terminals and log readers take for a command or a new line: C1 controls and the
 * Unicode line separators. JSON lets them stand, we do not. 0: harmless. */
static unsigned hidden(const char *p, size_t n)
{
    const unsigned char *u = (const unsigned char *)p;

    if (n == 2 && u[0] == 0xc2 && u[1] < 0xa0)
        return u[1];
    if (n == 3 && u[0] == 0xe2 && u[1] == 0x80 && (u[2] == 0xa8 || u[2] == 0xa9))
        return 0x2000U + (u[2] - 0x80U);
    return 0;
}

static bool is_plain(struct span s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_.:/@%+,-[]";

    for (size_t i = 0; i < s.n; i++)
        if (memchr(plain, s.p[i], sizeof(plain) - 1) == NULL)
            return false;
    return s.n != 0;
}

/* The value between quotes, escaped, in at most room bytes and an ellipsis. */
static void add_quoted(struct buf *line, struct span value, size_t room)
{
    struct buf escaped;
    size_t at = 1;
    size_t end = line->n + room;
    bool cut = value.n > SOURCE_MAX;

    buf_init(&escaped, 6 * SOURCE_MAX + 16);
    buf_add_json(&escaped, (struct span){value.p, cut ? SOURCE_MAX : value.n});
    buf_addc(line, '"');
    while (at < escaped.n - 1) {
        size_t len = unit_len(escaped.p + at);
        unsigned code = hidden(escaped.p + at, len);

        cut = cut || line->n + (code != 0 ? 6 : len) > end;
        if (line->n + (code != 0 ? 6 : len) > end)
            break;
        if (code != 0)
            buf_addf(line, "\\u%04x", code);
        else
            buf_add(line, escaped.p + at, len);
        at += len;
    }
    buf_adds(line, cut ? "\xe2\x80\xa6\"" : "\"");
    buf_fini(&escaped);
}

static void add_text(struct buf *line, struct span value, size_t room)
{
    if (value.p == NULL)
        buf_adds(line, setup.format == EVENT_JSON ? "null" : "\"\"");
    else if (setup.format == EVENT_LOGFMT && is_plain(value) && value.n <= room)
        buf_add_span(line, value);
    else
        add_quoted(line, value, room);
}

static void add_key(struct buf *line, struct span key)
{
    bool json = setup.format == EVENT_JSON;

    if (line->n > 1)
        buf_addc(line, json ? ',' : ' ');
    buf_adds(line, json ? "\"" : "");
    buf_add_span(line, key);
    buf_adds(line, json ? "\":" : "=");
}

/* The next word of a row's fields; {NULL, 0} after the last. */
static struct span next_key(const char **at)
{
    size_t n = strcspn(*at, " ");
    struct span key = {n != 0 ? *at : NULL, n};

    *at += n;
    *at += strspn(*at, " ");
    return key;
}

static const struct event_field *find(const struct event_field *fields, struct span key)
{
    for (; fields != NULL && fields->key != NULL; fields++)
        if (span_is(key, fields->key))
            return fields;
    return NULL;
}

/* How many fields are given; every one must be the row's, and none twice. */
static size_t check_keys(enum event_kind e, const struct event_field *fields)
{
    const char *at = rows[e].fields;
    size_t given = 0;
    size_t found = 0;

    while (fields != NULL && fields[given].key != NULL)
        given++;
    for (struct span key = next_key(&at); key.p != NULL; key = next_key(&at)) {
        assert(key.n <= KEY_MAX);
        found += find(fields, key) != NULL;
    }
    assert(found == given && "a key of this line is not in its row of event.def, or stands twice");
    assert(given <= FIELDS_MAX);
    return given;
}

static void add_head(struct buf *line, enum event_kind e)
{
    bool json = setup.format == EVENT_JSON;

    buf_adds(line, json ? "{" : "");
    add_key(line, SPAN("time"));
    buf_adds(line, json ? "\"" : "");
    buf_add_time(line, clock_wall_ms());
    buf_adds(line, json ? "\"" : "");
    add_key(line, SPAN("level"));
    add_text(line, span_of(level_names[rows[e].level]), KEY_MAX);
    add_key(line, SPAN("process"));
    add_text(line, span_of(setup.program), 64);
    add_key(line, SPAN("pid"));
    buf_add_u64(line, (uint64_t)getpid());
    add_key(line, SPAN("event"));
    add_text(line, span_of(rows[e].name), 64);
    add_key(line, SPAN("text"));
    add_text(line, span_of(rows[e].text), 256);
}

/* Every field gets its share of the room that is left; what one does not use is the next one's. */
static void add_fields(struct buf *line, enum event_kind e, const struct event_field *fields,
                       size_t n)
{
    const char *at = rows[e].fields;

    for (struct span key = next_key(&at); key.p != NULL; key = next_key(&at)) {
        const struct event_field *f = find(fields, key);

        if (f == NULL)
            continue;
        assert(n > 0);
        add_key(line, key);
        if (f->is_number)
            buf_add_u64(line, f->number);
        else
            add_text(line, f->text, (EVENT_LINE_MAX - 4 - line->n) / n - FIELD_COST);
        n--;
    }
}

void event_log(enum event_kind e, const struct event_field *fields)
{
    int saved = errno;
    size_t n = check_keys(e, fields);
    struct buf line;
    ssize_t rc;

    (void)atomic_fetch_add_explicit(&setup.counts[e], 1, memory_order_relaxed);
    if (rows[e].level < setup.level)
        return;
    buf_init(&line, EVENT_LINE_MAX);
    add_head(&line, e);
    add_fields(&line, e, fields, n);
    buf_adds(&line, setup.format == EVENT_JSON ? "}\n" : "\n");
    assert(buf_ok(&line));
    /* One write, so that lines of several processes on one pipe do not mix. When it fails there is
     * nowhere to say so. */
    rc = write(STDERR_FILENO, line.p, line.n);
    (void)rc;
    buf_fini(&line);
    errno = saved;
}

void event_docs(struct buf *out)
{
    buf_adds(out, "# Events\n\n"
                  "Every line that a program can write to standard error. Each starts with `time`, "
                  "`level`, `process`, `pid`,\n`event` and `text`, and goes on with the fields of "
                  "its row; with `--log json` the same names are the members\nof one object. "
                  "Values are escaped, so none can forge a line, and a line has at most 4096 "
                  "bytes: values that do\nnot fit are cut and end in an ellipsis. Every event "
                  "counts in `errand_events_total{event=\"...\"}`, also when\n`--log-level` keeps "
                  "it out of the log. A repeated event at `warn` or `error` is worth an alert.\n\n"
                  "| event | level | text | fields |\n|---|---|---|---|\n");
    for (size_t e = 0; e < EVENT_COUNT; e++) {
        const char *at = rows[e].fields;
        const char *before = "";

        buf_addf(out, "| `%s` | %s | %s | ", rows[e].name, level_names[rows[e].level],
                 rows[e].text);
        for (struct span key = next_key(&at); key.p != NULL; key = next_key(&at)) {
            buf_addf(out, "%s`%.*s`", before, (int)key.n, key.p);
            before = " ";
        }
        buf_adds(out, " |\n");
    }
}
