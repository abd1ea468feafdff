#include "common/cfg_row.h"

#include "common/mem.h"

#include <stdlib.h>
#include <string.h>

static void *field(const struct cfg_row *row, void *conf)
{
    return (char *)conf + row->offset;
}

enum cfg_unit cfg_row_unit(const struct cfg_row *row)
{
    switch (row->type) {
    case CFG_TIME:
        return CFG_UNIT_TIME;
    case CFG_SIZE:
        return CFG_UNIT_SIZE;
    case CFG_RATE:
        return CFG_UNIT_RATE;
    case CFG_COUNT:
    case CFG_TEXT:
    case CFG_BOOL:
    case CFG_LIST:
        break;
    }
    return CFG_UNIT_COUNT;
}

void cfg_row_clear(const struct cfg_row *row, void *conf)
{
    if (row->type == CFG_TEXT) {
        char **text = field(row, conf);

        if (*text != NULL) /* it may have been a secret */
            explicit_bzero(*text, strlen(*text));
        free(*text);
        *text = NULL;
    } else if (row->type == CFG_LIST) {
        struct cfg_list *list = field(row, conf);

        for (size_t i = 0; i < list->n; i++)
            free(list->items[i]);
        free(list->items);
        *list = (struct cfg_list){.n = 0};
    } else if (row->type == CFG_BOOL) {
        *(bool *)field(row, conf) = false;
    } else {
        *(uint64_t *)field(row, conf) = 0;
    }
}

static bool is_choice(const char *choices, const char *text)
{
    size_t n = strlen(text);

    for (const char *at = choices; n != 0; at++) {
        size_t len = strcspn(at, "|");

        if (len == n && memcmp(at, text, n) == 0)
            return true;
        at += len;
        if (*at == '\0')
            break;
    }
    return false;
}

static bool set_text(const struct cfg_row *row, void *conf, const char *text, struct buf *why)
{
    size_t n = strlen(text);
    char **out = field(row, conf);

    if (row->choices != NULL && !is_choice(row->choices, text)) {
        cfg_add_quoted(why, text);
        buf_adds(why, " is not one of ");
        for (const char *p = row->choices; *p != '\0'; p++)
            buf_add(why, *p == '|' ? ", " : p, *p == '|' ? 2 : 1);
        return false;
    }
    if (n == 0 && row->min != 0) {
        buf_adds(why, "must not be empty");
        return false;
    }
    if (row->max != 0 && n > row->max) {
        buf_addf(why, "is longer than %lu bytes", (unsigned long)row->max);
        return false;
    }
    cfg_row_clear(row, conf);
    *out = mem_strdup(text);
    return true;
}

static bool set_number(const struct cfg_row *row, void *conf, const char *text, struct buf *why)
{
    enum cfg_unit unit = cfg_row_unit(row);
    uint64_t v;

    if (!cfg_number(unit, text, &v, why))
        return false;
    if (v < row->min || (row->max != 0 && v > row->max)) {
        bool small = v < row->min;

        cfg_add_quoted(why, text);
        buf_adds(why, small ? " is too small; the least is " : " is too large; the most is ");
        cfg_add_number(why, unit, small ? row->min : row->max);
        return false;
    }
    *(uint64_t *)field(row, conf) = v;
    return true;
}

static bool set_bool(const struct cfg_row *row, void *conf, const char *text, struct buf *why)
{
    if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0) {
        cfg_add_quoted(why, text);
        buf_adds(why, " is not one of on, off");
        return false;
    }
    *(bool *)field(row, conf) = strcmp(text, "on") == 0;
    return true;
}

void cfg_row_add(const struct cfg_row *row, void *conf, const char *item)
{
    struct cfg_list *list = field(row, conf);

    list->items = mem_grow(list->items, (list->n + 1) * sizeof(*list->items));
    list->items[list->n++] = mem_strdup(item);
}

static bool add_items(const struct cfg_row *row, void *conf, const char *text, struct buf *why)
{
    size_t n = strlen(text);

    if (n == 0 || text[0] == ',' || text[n - 1] == ',' || strstr(text, ",,") != NULL) {
        cfg_add_quoted(why, text);
        buf_adds(why, " has an empty item; write the items with one comma between them");
        return false;
    }
    while (*text != '\0') {
        size_t len = strcspn(text, ",");
        char *item = mem_dup(text, len);

        cfg_row_add(row, conf, item);
        free(item);
        text += len + (text[len] == ',');
    }
    return true;
}

bool cfg_row_set(const struct cfg_row *row, void *conf, const char *text, struct buf *why)
{
    switch (row->type) {
    case CFG_TEXT:
        return set_text(row, conf, text, why);
    case CFG_BOOL:
        return set_bool(row, conf, text, why);
    case CFG_LIST:
        return add_items(row, conf, text, why);
    case CFG_TIME:
    case CFG_SIZE:
    case CFG_COUNT:
    case CFG_RATE:
        break;
    }
    return set_number(row, conf, text, why);
}

const struct cfg_row *cfg_row_find(const struct cfg_row *rows, size_t count, struct span name)
{
    for (size_t i = 0; i < count; i++)
        if (span_is(name, rows[i].name))
            return &rows[i];
    return NULL;
}

enum { NAME_MAX_LEN = 32 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many letters must be changed, added or removed; both at most NAME_MAX_LEN long. */
static unsigned distance(struct span a, struct span b)
{
    unsigned row[NAME_MAX_LEN + 1];

    for (unsigned k = 0; k <= b.n; k++)
        row[k] = k;
    for (unsigned i = 0; i < a.n; i++) {
        unsigned corner = row[0];

        row[0] = i + 1;
        for (unsigned k = 0; k < b.n; k++) {
            unsigned swapped = corner + (a.p[i] != b.p[k]);

            corner = row[k + 1];
            row[k + 1] = least(swapped, least(row[k], corner) + 1);
        }
    }
    return row[b.n];
}

const char *cfg_row_near(const struct cfg *c, struct span name)
{
    const char *near = NULL;
    unsigned best = 3;

    for (size_t i = 0; i < c->count && name.n > 2 && name.n <= NAME_MAX_LEN; i++) {
        struct span other = span_of(c->rows[i].name);
        unsigned d = other.n <= NAME_MAX_LEN ? distance(name, other) : best;

        if (d < best) {
            best = d;
            near = c->rows[i].name;
        }
    }
    return near;
}

void cfg_row_variable(struct buf *out, const struct cfg_row *row)
{
    buf_adds(out, "ERRAND_");
    for (const char *p = row->name; *p != '\0'; p++) {
        bool lower = *p >= 'a' && *p <= 'z';

        buf_addc(out, *p == '-' ? '_' : lower ? (char)(*p - 'a' + 'A') : *p);
    }
}
