#include "deploy/cli/say.h"

#include "common/json.h"
#include "common/mem.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TEXT_MAX = 300 << 20, COLUMNS_MAX = 16 };

void say_clean(struct buf *out, struct span text, bool lines)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        bool line = c == '\n' || c == '\t';

        if (line && !lines)
            buf_addc(out, ' ');
        else if ((c < ' ' && !line) || c == 0x7f)
            buf_addc(out, '?');
        else
            buf_addc(out, (char)c);
    }
}

void say_string(struct buf *out, struct span json, bool lines)
{
    char *text = mem_alloc(json.n + 1);
    long n = json_string(json, text, json.n + 1);

    if (n > 0)
        say_clean(out, (struct span){text, (size_t)n}, lines);
    free(text);
}

void say_age(struct buf *out, uint64_t ms)
{
    uint64_t s = ms / 1000;

    if (s < 120)
        buf_addf(out, "%" PRIu64 "s", s);
    else if (s < 7200)
        buf_addf(out, "%" PRIu64 "m", s / 60);
    else if (s < 172800)
        buf_addf(out, "%" PRIu64 "h", s / 3600);
    else
        buf_addf(out, "%" PRIu64 "d", s / 86400);
}

bool say_time(struct span json, uint64_t *ms)
{
    char text[40];
    struct tm t = {.tm_isdst = 0};
    const char *rest;
    time_t s;

    if (json_string(json, text, sizeof(text)) <= 0)
        return false;
    rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &t);
    if (rest == NULL)
        return false;
    s = timegm(&t);
    if (s < 0)
        return false;
    *ms = (uint64_t)s * 1000;
    if (rest[0] == '.')
        *ms += (uint64_t)(strtod(rest, NULL) * 1000);
    return true;
}

static void add_text(struct buf *out, struct span json, bool clean)
{
    char *text = mem_alloc(json.n + 1);
    long n = json_string(json, text, json.n + 1);

    if (n > 0 && clean)
        say_clean(out, (struct span){text, (size_t)n}, true);
    else if (n > 0)
        buf_add(out, text, (size_t)n);
    free(text);
}

static void add_item(struct buf *out, struct span item, bool clean)
{
    struct span resource = json_get(item, "resource");
    struct span data = json_get(item, "data");

    if (json_is(json_get(item, "type"), "text")) {
        add_text(out, json_get(item, "text"), clean);
        return;
    }
    if (json_get(resource, "text").p != NULL) {
        add_text(out, json_get(resource, "text"), clean);
        return;
    }
    buf_addc(out, '[');
    say_string(out, json_get(item, "type"), false);
    buf_addc(out, ' ');
    say_string(out, json_get(resource.p != NULL ? resource : item, "mimeType"), false);
    buf_addc(out, ' ');
    say_string(out, json_get(resource.p != NULL ? resource : item, "uri"), false);
    if (data.n > 2)
        buf_addf(out, "%zu bytes", (data.n - 2) / 4 * 3);
    buf_addc(out, ']');
}

void say_result(struct buf *out, struct span result, bool clean)
{
    struct span content = json_get(result, "content");
    struct span name;
    struct span item;
    size_t cursor = 0;
    size_t n = 0;

    while (json_type(content) == JSON_ARRAY && json_next(content, &cursor, &name, &item)) {
        if (n++ > 0 && out->n > 0 && out->p[out->n - 1] != '\n')
            buf_addc(out, '\n');
        add_item(out, item, clean);
    }
    if (n == 0)
        buf_add_span(out, json_get(result, "structuredContent"));
}

void table_init(struct table *t, size_t columns)
{
    *t = (struct table){.columns = columns < COLUMNS_MAX ? columns : COLUMNS_MAX};
    buf_init(&t->text, TEXT_MAX);
}

void table_add(struct table *t, struct span cell)
{
    say_clean(&t->text, cell, false);
    buf_addc(&t->text, '\0');
    t->cells++;
}

void table_adds(struct table *t, const char *cell)
{
    table_add(t, span_of(cell));
}

void table_addf(struct table *t, const char *format, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    table_adds(t, text);
}

/* Characters, not bytes, as far as UTF-8 tells them apart. */
static size_t width_of(const char *cell)
{
    size_t n = 0;

    for (; *cell != '\0'; cell++)
        n += ((unsigned char)*cell & 0xc0) != 0x80;
    return n;
}

void table_text(struct table *t, struct buf *out)
{
    size_t width[COLUMNS_MAX] = {0};
    const char *cell = t->text.p;

    for (size_t i = 0; i < t->cells; i++, cell += strlen(cell) + 1)
        if (width_of(cell) > width[i % t->columns])
            width[i % t->columns] = width_of(cell);
    cell = t->text.p;
    for (size_t i = 0; i < t->cells; i++, cell += strlen(cell) + 1) {
        size_t column = i % t->columns;

        buf_adds(out, cell);
        if (column + 1 == t->columns)
            buf_addc(out, '\n');
        else
            buf_addf(out, "%*s", (int)(width[column] - width_of(cell) + 2), "");
    }
    buf_fini(&t->text);
}

void table_print(struct table *t)
{
    struct buf out;

    buf_init(&out, TEXT_MAX);
    table_text(t, &out);
    say_out(&out);
    buf_fini(&out);
}

void say_out(const struct buf *text)
{
    if (text->n == 0)
        return;
    (void)fwrite(text->p, 1, text->n, stdout);
    if (text->p[text->n - 1] != '\n')
        (void)fputc('\n', stdout);
}
