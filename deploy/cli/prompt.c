#include "deploy/cli/prompt.h"

#include "common/elicit.h"
#include "common/json.h"
#include "common/mem.h"
#include "deploy/cli/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* --- the choices --- */

struct choice {
    struct span value;
    struct span title; /* or {NULL, 0} */
};

static struct span nth(struct span list, size_t n)
{
    size_t cursor = 0;
    struct span none;
    struct span item;

    while (json_type(list) == JSON_ARRAY && json_next(list, &cursor, &none, &item))
        if (n-- == 0)
            return item;
    return (struct span){NULL, 0};
}

static bool get_choice(const struct prompt *f, size_t n, struct choice *c)
{
    struct span item = nth(elicit_choices(f->property, elicit_kind_of(f->property)), n);

    *c = (struct choice){item, nth(json_get(f->property, "enumNames"), n)};
    if (json_type(item) == JSON_OBJECT)
        *c = (struct choice){json_get(item, "const"), json_get(item, "title")};
    return item.p != NULL;
}

static void say_choice(struct buf *out, const struct choice *c)
{
    say_string(out, json_type(c->title) == JSON_STRING ? c->title : c->value, false);
}

static bool is_text(struct span json, struct span word)
{
    char *text = mem_alloc(json.n + 1);
    long n = json_string(json, text, json.n + 1);
    bool same = n >= 0 && (size_t)n == word.n && strncasecmp(text, word.p, word.n) == 0;

    free(text);
    return same;
}

static size_t number_of(struct span word)
{
    size_t n = 0;

    if (word.n == 0 || word.n > 6)
        return 0;
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] < '0' || word.p[i] > '9')
            return 0;
        n = n * 10 + (size_t)(word.p[i] - '0');
    }
    return n;
}

static bool find_choice(const struct prompt *f, struct span word, struct choice *c)
{
    size_t number = number_of(word);

    if (number > 0 && get_choice(f, number - 1, c))
        return true;
    for (size_t i = 0; get_choice(f, i, c); i++)
        if (is_text(c->value, word) || is_text(c->title, word))
            return true;
    return false;
}

/* --- what is said --- */

static void say_name(struct buf *out, const struct prompt *f)
{
    struct span title = json_get(f->property, "title");

    if (json_type(title) == JSON_STRING && title.n > 2)
        say_string(out, title, false);
    else
        say_string(out, (struct span){f->name.p - 1, f->name.n + 2}, false);
}

void prompt_introduce(struct buf *out, const struct prompt *f)
{
    struct span description = json_get(f->property, "description");
    struct choice c;

    if (json_type(description) == JSON_STRING && description.n > 2) {
        say_name(out, f);
        buf_adds(out, ": ");
        say_string(out, description, false);
        buf_addc(out, '\n');
    }
    for (size_t i = 0; get_choice(f, i, &c); i++) {
        buf_addf(out, "  %zu) ", i + 1);
        say_choice(out, &c);
        buf_addc(out, '\n');
    }
}

static void say_range(struct buf *out, const struct prompt *f, const char *least, const char *most)
{
    struct span low = json_get(f->property, least);
    struct span high = json_get(f->property, most);

    if (low.p != NULL && high.p != NULL)
        buf_addf(out, ", %.*s to %.*s", (int)low.n, low.p, (int)high.n, high.p);
    else if (low.p != NULL)
        buf_addf(out, ", at least %.*s", (int)low.n, low.p);
    else if (high.p != NULL)
        buf_addf(out, ", at most %.*s", (int)high.n, high.p);
}

static void say_kind(struct buf *out, const struct prompt *f)
{
    static const char *const words[] = {
        [ELICIT_STRING] = "text",
        [ELICIT_NUMBER] = "number",
        [ELICIT_INTEGER] = "whole number",
        [ELICIT_BOOLEAN] = "y or n",
        [ELICIT_CHOICE] = "one of these",
        [ELICIT_CHOICES] = "some of these, with commas",
        [ELICIT_NONE] = "",
    };
    enum elicit_kind kind = elicit_kind_of(f->property);
    struct span format = json_get(f->property, "format");

    if (kind == ELICIT_STRING && format.p != NULL)
        say_string(out, format, false);
    else
        buf_adds(out, words[kind]);
    if (kind == ELICIT_STRING)
        say_range(out, f, "minLength", "maxLength");
    else if (kind == ELICIT_CHOICES)
        say_range(out, f, "minItems", "maxItems");
    else
        say_range(out, f, "minimum", "maximum");
    if (kind == ELICIT_STRING && (json_get(f->property, "maxLength").p != NULL ||
                                  json_get(f->property, "minLength").p != NULL))
        buf_adds(out, " characters");
    if (!f->required)
        buf_adds(out, ", may be left empty");
}

static void say_chosen(struct buf *out, const struct prompt *f, struct span value)
{
    struct choice c;

    for (size_t i = 0; get_choice(f, i, &c); i++) {
        if (!span_equal(c.value, value))
            continue;
        say_choice(out, &c);
        return;
    }
    say_string(out, value, false);
}

static void say_default(struct buf *out, const struct prompt *f, struct span value)
{
    size_t cursor = 0;
    size_t n = 0;
    struct span none;
    struct span item;
    bool truth;

    if (json_bool(value, &truth)) {
        buf_addc(out, truth ? 'y' : 'n');
    } else if (json_type(value) == JSON_STRING) {
        say_chosen(out, f, value);
    } else if (json_type(value) == JSON_ARRAY) {
        while (json_next(value, &cursor, &none, &item)) {
            buf_adds(out, n++ > 0 ? ", " : "");
            say_chosen(out, f, item);
        }
    } else {
        buf_add_span(out, value);
    }
}

void prompt_ask(struct buf *out, const struct prompt *f)
{
    struct span value = json_get(f->property, "default");

    say_name(out, f);
    buf_adds(out, " (");
    say_kind(out, f);
    buf_addc(out, ')');
    if (value.p != NULL) {
        buf_adds(out, " [");
        say_default(out, f, value);
        buf_addc(out, ']');
    }
    buf_adds(out, ": ");
}

/* --- what is read --- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct span trim(struct span s)
{
    while (s.n > 0 && is_blank(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n > 0 && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

static bool read_boolean(struct span line, struct buf *value)
{
    static const struct {
        const char *word;
        const char *json;
    } words[] = {{"y", "true"},  {"yes", "true"}, {"true", "true"},
                 {"n", "false"}, {"no", "false"}, {"false", "false"}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i].word) == line.n && strncasecmp(words[i].word, line.p, line.n) == 0) {
            buf_adds(value, words[i].json);
            return true;
        }
    }
    return false;
}

static bool read_choice(const struct prompt *f, struct span word, struct buf *value,
                        struct buf *why)
{
    struct choice c;

    if (find_choice(f, word, &c)) {
        buf_add_span(value, c.value);
        return true;
    }
    buf_addc(why, '"');
    say_clean(why, word, false);
    buf_adds(why, "\" is none of what was offered");
    return false;
}

static bool read_choices(const struct prompt *f, struct span line, struct buf *value,
                         struct buf *why)
{
    size_t n = 0;

    buf_addc(value, '[');
    while (line.n > 0) {
        const char *comma = memchr(line.p, ',', line.n);
        size_t length = comma != NULL ? (size_t)(comma - line.p) : line.n;
        struct span word = trim((struct span){line.p, length});

        if (word.n > 0 && n++ > 0)
            buf_addc(value, ',');
        if (word.n > 0 && !read_choice(f, word, value, why))
            return false;
        length += comma != NULL;
        line.p += length;
        line.n -= length;
    }
    buf_addc(value, ']');
    return true;
}

static bool read_number(struct span line, struct buf *value, struct buf *why)
{
    if (json_check(line, NULL, NULL) == ERR_OK && json_type(line) == JSON_NUMBER) {
        buf_add_span(value, line);
        return true;
    }
    buf_addc(why, '"');
    say_clean(why, line, false);
    buf_adds(why, "\" is no number");
    return false;
}

static bool read_kind(const struct prompt *f, struct span line, struct buf *value, struct buf *why)
{
    switch (elicit_kind_of(f->property)) {
    case ELICIT_BOOLEAN:
        if (!read_boolean(line, value))
            buf_adds(why, "answer with y or n");
        return why->n == 0;
    case ELICIT_NUMBER:
    case ELICIT_INTEGER:
        return read_number(line, value, why);
    case ELICIT_CHOICE:
        return read_choice(f, line, value, why);
    case ELICIT_CHOICES:
        return read_choices(f, line, value, why);
    case ELICIT_STRING:
    case ELICIT_NONE:
        break;
    }
    buf_add_json(value, line);
    return true;
}

static enum prompt_end read_nothing(const struct prompt *f, struct buf *value, struct buf *why)
{
    struct span standard = json_get(f->property, "default");

    if (standard.p != NULL) {
        buf_add_span(value, standard);
        return PROMPT_VALUE;
    }
    if (!f->required)
        return PROMPT_SKIPPED;
    buf_adds(why, "this one must be answered");
    return PROMPT_WRONG;
}

enum prompt_end prompt_read(const struct prompt *f, struct span line, struct buf *value,
                            struct buf *why)
{
    bool may_be_none = f->required && elicit_kind_of(f->property) == ELICIT_CHOICES;

    line = trim(line);
    if (line.n == 0 && (!may_be_none || json_get(f->property, "default").p != NULL))
        return read_nothing(f, value, why);
    if (!read_kind(f, line, value, why) ||
        !elicit_check_value(f->property, f->name, buf_span(value), why))
        return PROMPT_WRONG;
    return PROMPT_VALUE;
}
