#include "worker/upstream/lines.h"

enum { KEPT_MAX = 64 << 10 };

void lines_init(struct lines *l, lines_fn *on_line, lines_long_fn *on_long, void *arg)
{
    *l = (struct lines){.on_line = on_line, .on_long = on_long, .arg = arg};
    buf_init(&l->in, LINES_MAX + 1);
}

void lines_fini(struct lines *l)
{
    buf_fini(&l->in);
}

/* --- the id of a line that is too long --- */

static void scan_string(struct lines_scan *s, char c)
{
    if (s->is_key && s->key_n < sizeof(s->key))
        s->key[s->key_n++] = c;
    if (s->is_escaped)
        s->is_escaped = false;
    else if (c == '\\')
        s->is_escaped = true;
    else if (c == '"')
        s->in_string = false;
}

static bool is_id(const struct lines_scan *s)
{
    return s->key_n == 3 && memcmp(s->key, "id\"", 3) == 0;
}

static void scan_mark(struct lines_scan *s, char c)
{
    if (c == '"') {
        s->in_string = true;
    } else if (c == '{' || c == '[') {
        s->depth++;
        s->is_key = s->depth == 1;
        s->key_n = 0;
    } else if (c == '}' || c == ']') {
        s->depth--;
        s->wants = false;
    } else if (s->depth == 1 && c == ':') {
        s->wants = is_id(s);
        s->id_n = s->wants ? 0 : s->id_n;
        s->is_key = false;
    } else if (s->depth == 1 && c == ',') {
        s->wants = false;
        s->is_key = true;
        s->key_n = 0;
    }
}

static void scan_char(struct lines_scan *s, char c)
{
    bool wanted = s->wants;
    bool was_string = s->in_string;

    if (s->in_string)
        scan_string(s, c);
    else
        scan_mark(s, c);
    if (wanted && s->wants && (was_string || strchr(" \t\r", c) == NULL) && s->id_n < LINES_ID_ROOM)
        s->id[s->id_n++] = c;
}

static void scan(struct lines_scan *s, struct span bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        scan_char(s, bytes.p[i]);
}

/* --- lines --- */

static void add(struct lines *l, struct span part)
{
    if (!l->is_long && l->in.n + part.n > LINES_MAX) {
        l->is_long = true;
        l->scan = (struct lines_scan){0};
        scan(&l->scan, buf_span(&l->in));
        buf_fini(&l->in);
    }
    if (l->is_long)
        scan(&l->scan, part);
    else
        buf_add_span(&l->in, part);
}

static void tell_long(struct lines *l)
{
    bool has_id = l->scan.id_n > 0 && l->scan.id_n < LINES_ID_ROOM;
    const struct span id = {has_id ? l->scan.id : NULL, has_id ? l->scan.id_n : 0};

    l->is_long = false;
    l->on_long(l->arg, id);
}

static void tell(struct lines *l)
{
    struct span text = buf_span(&l->in);

    while (text.n > 0 && strchr(" \t\r", text.p[text.n - 1]) != NULL)
        text.n--;
    if (text.n > 0)
        l->on_line(l->arg, text);
    if (l->in.room > KEPT_MAX)
        buf_fini(&l->in);
    else
        buf_reset(&l->in);
}

void lines_feed(struct lines *l, struct span bytes)
{
    while (bytes.n > 0) {
        const char *end = memchr(bytes.p, '\n', bytes.n);
        size_t n = end != NULL ? (size_t)(end - bytes.p) : bytes.n;

        add(l, (struct span){bytes.p, n});
        if (end == NULL)
            return;
        if (l->is_long)
            tell_long(l);
        else
            tell(l);
        bytes = (struct span){end + 1, bytes.n - n - 1};
    }
}
