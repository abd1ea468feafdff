#include "common/cfg_file.h"

#include "common/json.h"
#include "common/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20, SHOWN_MAX = 64 };

static const char *const wanted[] = {
    [CFG_TEXT] = "a string",
    [CFG_TIME] = "a string like \"10s\"",
    [CFG_SIZE] = "a number of bytes or a string like \"16m\"",
    [CFG_COUNT] = "a whole number",
    [CFG_RATE] = "a string like \"5/s\"",
    [CFG_BOOL] = "true or false",
    [CFG_LIST] = "an array of strings",
};

static bool load(struct buf *text, const char *path, struct buf *why)
{
    char block[16384];
    ssize_t n = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd != -1) {
        while ((n = read(fd, block, sizeof(block))) > 0 && buf_ok(text))
            buf_add(text, block, (size_t)n);
    }
    if (n < 0)
        buf_addf(why, "cannot be read: %s", strerror(errno));
    else if (!buf_ok(text))
        buf_addf(why, "is larger than %d bytes", FILE_MAX);
    if (fd != -1)
        (void)close(fd);
    return n == 0 && buf_ok(text);
}

static struct span trimmed(struct span s)
{
    static const char space[] = " \t\r\n";

    while (s.n != 0 && strchr(space, s.p[s.n - 1]) != NULL && s.p[s.n - 1] != '\0')
        s.n--;
    while (s.n != 0 && strchr(space, s.p[0]) != NULL && s.p[0] != '\0') {
        s.p++;
        s.n--;
    }
    return s;
}

static bool check(struct span text, struct buf *why)
{
    const char *problem = NULL;
    size_t at = 0;
    unsigned line = 1;

    if (json_check(text, &problem, &at) == ERR_OK) {
        if (json_type(text) == JSON_OBJECT)
            return true;
        buf_adds(why, "must hold one JSON object, like {\"redis\": \"redis://127.0.0.1:6379/0\"}");
        return false;
    }
    for (size_t i = 0; i < at && i < text.n; i++)
        line += text.p[i] == '\n';
    buf_addf(why, "line %u: it is not valid JSON: %s", line, problem);
    return false;
}

/* What stands there instead; strings are not shown, for they may be secrets. */
static bool refuse_type(const struct cfg_row *row, struct span value, struct buf *why)
{
    switch (json_type(value)) {
    case JSON_NULL:
    case JSON_BOOL:
    case JSON_NUMBER:
        buf_adds(why, "found ");
        buf_add(why, value.p, value.n < SHOWN_MAX ? value.n : SHOWN_MAX);
        break;
    case JSON_ARRAY:
        buf_adds(why, "found an array");
        break;
    case JSON_OBJECT:
        buf_adds(why, "found an object");
        break;
    case JSON_STRING:
    case JSON_NONE:
        buf_adds(why, "found a string that cannot be used");
        break;
    }
    buf_addf(why, "; write %s", wanted[row->type]);
    return false;
}

static bool set_string(const struct cfg_row *row, void *conf, struct span value, struct buf *why)
{
    char *text = mem_alloc(value.n + 1);
    bool ok = json_string(value, text, value.n + 1) >= 0;

    ok = ok ? cfg_row_set(row, conf, text, why) : refuse_type(row, value, why);
    explicit_bzero(text, value.n);
    free(text);
    return ok;
}

static bool set_number(const struct cfg_row *row, void *conf, struct span value, struct buf *why)
{
    bool plain = row->type == CFG_COUNT || row->type == CFG_SIZE;
    struct buf text;
    int64_t v;
    bool ok;

    if (!json_int(value, &v) || v < 0 || row->type == CFG_TEXT || row->type == CFG_BOOL ||
        row->type == CFG_LIST || (v != 0 && !plain))
        return refuse_type(row, value, why);
    buf_init(&text, 32);
    buf_add_u64(&text, (uint64_t)v);
    ok = cfg_row_set(row, conf, text.p, why);
    buf_fini(&text);
    return ok;
}

static bool set_array(const struct cfg_row *row, void *conf, struct span value, struct buf *why)
{
    size_t cursor = 0;
    struct span name;
    struct span item;

    if (row->type != CFG_LIST)
        return refuse_type(row, value, why);
    while (json_next(value, &cursor, &name, &item)) {
        char *text = mem_alloc(item.n + 1);
        bool ok = json_string(item, text, item.n + 1) > 0;

        if (ok)
            cfg_row_add(row, conf, text);
        free(text);
        if (!ok) {
            buf_adds(why, "found an item that is empty or no string; write an array of "
                          "strings");
            return false;
        }
    }
    return true;
}

static bool set_member(const struct cfg_row *row, void *conf, struct span value, struct buf *why)
{
    cfg_row_clear(row, conf);
    switch (json_type(value)) {
    case JSON_STRING:
        return set_string(row, conf, value, why);
    case JSON_NUMBER:
        return set_number(row, conf, value, why);
    case JSON_ARRAY:
        return set_array(row, conf, value, why);
    case JSON_BOOL:
        if (row->type == CFG_BOOL)
            return cfg_row_set(row, conf, value.p[0] == 't' ? "on" : "off", why);
        break;
    case JSON_NULL:
    case JSON_OBJECT:
    case JSON_NONE:
        break;
    }
    return refuse_type(row, value, why);
}

static bool refuse_name(const struct cfg *c, struct span name, struct buf *why)
{
    const char *near = cfg_row_near(c, name);

    buf_addf(why, "%s has no such option", c->program);
    if (near != NULL)
        buf_addf(why, "; did you mean \"%s\"?", near);
    return false;
}

static bool read_member(const struct cfg *c, void *conf, struct span name, struct span value,
                        struct buf *why)
{
    struct cfg_base *base = conf;
    const struct cfg_row *row = cfg_row_find(c->rows, c->count, name);

    buf_addf(why, ": \"%.*s\": ", (int)(name.n < SHOWN_MAX ? name.n : SHOWN_MAX), name.p);
    if (row == NULL)
        return refuse_name(c, name, why);
    if (base->from[row - c->rows] == CFG_FROM_FILE) {
        buf_adds(why, "it stands there twice; keep one");
        return false;
    }
    if (!set_member(row, conf, value, why))
        return false;
    base->from[row - c->rows] = CFG_FROM_FILE;
    return true;
}

bool cfg_file_read(const struct cfg *c, void *conf, const char *path, struct buf *why)
{
    struct buf text;
    size_t cursor = 0;
    struct span name;
    struct span value;
    bool ok;

    buf_init(&text, FILE_MAX);
    buf_addf(why, "--config %s: ", path);
    ok = load(&text, path, why) && check(trimmed(buf_span(&text)), why);
    while (ok && json_next(trimmed(buf_span(&text)), &cursor, &name, &value)) {
        buf_reset(why);
        buf_adds(why, path);
        ok = read_member(c, conf, name, value, why);
    }
    if (ok)
        buf_reset(why);
    buf_wipe(&text);
    return ok;
}
