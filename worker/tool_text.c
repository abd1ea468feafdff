#include "worker/tool_text.h"

#include <stdlib.h>

enum {
    NAME_ROOM = 256,
    SECRET_MIN = 4,
    SECRET_MAX = 1 << 20,
};

static const char open_mark[] = "${env:";

/* The name that begins at p, after the mark; NULL when it is none, or does not end. */
static const char *name_end(const char *p)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    size_t n = strspn(p, allowed);

    return n > 0 && n < NAME_ROOM && p[n] == '}' ? p + n : NULL;
}

bool text_check(const char *value, struct buf *why)
{
    for (const char *p = strstr(value, open_mark); p != NULL; p = strstr(p + 1, open_mark)) {
        if (name_end(p + sizeof(open_mark) - 1) == NULL) {
            buf_adds(why, "it names no variable; write ${env:API_TOKEN}");
            return false;
        }
    }
    return true;
}

static bool add_variable(struct buf *out, const char *name, size_t n, struct buf *why)
{
    char room[NAME_ROOM];
    const char *value;

    memcpy(room, name, n);
    room[n] = '\0';
    value = getenv(room);
    if (value == NULL) {
        buf_addf(why, "the variable %s is not set where this worker runs", room);
        return false;
    }
    buf_adds(out, value);
    return true;
}

bool text_expand(struct buf *out, const char *value, struct buf *why)
{
    const char *p = value;
    const char *mark;

    while ((mark = strstr(p, open_mark)) != NULL) {
        const char *name = mark + sizeof(open_mark) - 1;
        const char *end = name_end(name);

        buf_add(out, p, (size_t)(mark - p));
        if (end == NULL || !add_variable(out, name, (size_t)(end - name), why))
            return false;
        p = end + 1;
    }
    buf_adds(out, p);
    return true;
}

void text_hide(struct buf *text, const char *secret)
{
    const size_t n = strlen(secret);
    struct buf out;
    const char *from = text->p;
    const char *at;

    if (n < SECRET_MIN || text->n == 0 || strstr(from, secret) == NULL)
        return;
    buf_init(&out, text->max);
    while ((at = strstr(from, secret)) != NULL) {
        buf_add(&out, from, (size_t)(at - from));
        buf_adds(&out, "***");
        from = at + n;
    }
    buf_adds(&out, from);
    buf_wipe(text);
    *text = out;
}

void text_hide_named(struct buf *text, const char *value)
{
    const char *p = value;
    const char *end;

    while ((p = strstr(p, open_mark)) != NULL) {
        struct buf secret;
        struct buf why;

        p += sizeof(open_mark) - 1;
        end = name_end(p);
        if (end == NULL)
            return;
        buf_init_secret(&secret, SECRET_MAX);
        buf_init(&why, NAME_ROOM + 64);
        if (add_variable(&secret, p, (size_t)(end - p), &why))
            text_hide(text, buf_span(&secret).p);
        buf_fini(&why);
        buf_wipe(&secret);
    }
}
