#include "common/elicit_inside.h"

#include "common/mem.h"
#include "common/utf8.h"

#include <stdlib.h>
#include <string.h>

/* The decoded text, owned; NULL for what holds U+0000. */
static char *text_of(struct span value)
{
    char *text = mem_alloc(value.n + 1);

    if (json_string(value, text, value.n + 1) >= 0)
        return text;
    free(text);
    return NULL;
}

static size_t length_of(const char *text)
{
    size_t n = 0;

    for (; *text != '\0'; text++)
        n += !utf8_is_tail((unsigned char)*text);
    return n;
}

/* --- formats: what is plainly none of the kind is refused --- */

static bool has_shape(const char *text, const char *shape)
{
    for (; *shape != '\0'; shape++, text++)
        if (*shape == '0' ? *text < '0' || *text > '9' : *text != *shape)
            return false;
    return true;
}

static bool is_date(const char *text)
{
    int month;
    int day;

    if (!has_shape(text, "0000-00-00"))
        return false;
    month = (text[5] - '0') * 10 + text[6] - '0';
    day = (text[8] - '0') * 10 + text[9] - '0';
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static bool is_date_time(const char *text)
{
    const char *rest = text + 19;

    if (!is_date(text) || (text[10] != 'T' && text[10] != 't') || !has_shape(text + 11, "00:00:00"))
        return false;
    if (*rest == '.')
        rest += 1 + strspn(rest + 1, "0123456789");
    if (*rest == 'Z' || *rest == 'z')
        return rest[1] == '\0';
    return (*rest == '+' || *rest == '-') && has_shape(rest + 1, "00:00") && rest[6] == '\0';
}

static bool is_email(const char *text)
{
    const char *at = strrchr(text, '@');

    return at != NULL && at != text && at[1] != '\0' && strpbrk(text, " \t\r\n") == NULL;
}

static bool is_uri(const char *text)
{
    static const char scheme[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.";
    size_t n = strspn(text, scheme);

    return n > 0 && text[n] == ':' && text[n + 1] != '\0' && strpbrk(text, " \t\r\n<>\"") == NULL;
}

static bool fits_format(struct span format, const char *text)
{
    if (json_is(format, "email"))
        return is_email(text);
    if (json_is(format, "uri"))
        return is_uri(text);
    if (json_is(format, "date"))
        return is_date(text) && text[10] == '\0';
    return format.p == NULL || is_date_time(text);
}

/* --- values --- */

static bool at_least(struct span property, const char *member, double v)
{
    double limit;

    return !json_number(json_get(property, member), &limit) || v >= limit;
}

static bool at_most(struct span property, const char *member, double v)
{
    double limit;

    return !json_number(json_get(property, member), &limit) || v <= limit;
}

static const char *check_string(struct span property, struct span value)
{
    char *text = text_of(value);
    const char *what = NULL;

    if (text == NULL)
        what = "holds U+0000";
    else if (!at_least(property, "minLength", (double)length_of(text)))
        what = "is too short";
    else if (!at_most(property, "maxLength", (double)length_of(text)))
        what = "is too long";
    else if (!fits_format(json_get(property, "format"), text))
        what = "does not have the format that was asked for";
    free(text);
    return what;
}

static const char *check_number(struct span property, struct span value, bool whole)
{
    double v;
    int64_t n;

    if (json_type(value) != JSON_NUMBER || !json_number(value, &v))
        return "is no number";
    if (whole && !json_int(value, &n))
        return "is no whole number";
    if (!at_least(property, "minimum", v))
        return "is too small";
    return at_most(property, "maximum", v) ? NULL : "is too large";
}

static struct span choice_of(struct span item)
{
    return json_type(item) == JSON_OBJECT ? json_get(item, "const") : item;
}

static const char *check_choice(struct span choices, struct span value)
{
    char *text = json_type(value) == JSON_STRING ? text_of(value) : NULL;
    bool found = false;
    size_t cursor = 0;
    struct span none;
    struct span item;

    while (text != NULL && !found && json_next(choices, &cursor, &none, &item))
        found = json_is(choice_of(item), text);
    free(text);
    if (json_type(value) != JSON_STRING)
        return "is no text";
    return found ? NULL : "is none of what was offered";
}

/* --- lists of choices: sorted, for both what is offered and what was chosen may be long --- */

struct texts {
    char **all;
    size_t n;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What holds U+0000 can be chosen by nobody. */
static struct texts texts_of(struct span choices)
{
    struct texts t = {NULL, 0};
    size_t room = 0;
    size_t cursor = 0;
    struct span none;
    struct span item;

    while (json_next(choices, &cursor, &none, &item)) {
        char *text = text_of(choice_of(item));

        if (text == NULL)
            continue;
        if (t.n == room) {
            room = room * 2 + 16;
            t.all = mem_grow(t.all, room * sizeof(t.all[0]));
        }
        t.all[t.n++] = text;
    }
    if (t.n != 0)
        qsort(t.all, t.n, sizeof(t.all[0]), by_text);
    return t;
}

static void texts_free(struct texts *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->all[i]);
    free(t->all);
}

static const char *check_element(const struct texts *offered, struct span value)
{
    char *text;
    bool found;

    if (json_type(value) != JSON_STRING)
        return "is no text";
    text = text_of(value);
    found = text != NULL && offered->n != 0 &&
            bsearch(&text, offered->all, offered->n, sizeof(offered->all[0]), by_text) != NULL;
    free(text);
    return found ? NULL : "is none of what was offered";
}

static const char *check_choices(struct span property, struct span value)
{
    struct texts offered;
    const char *what = NULL;
    size_t cursor = 0;
    size_t n = 0;
    struct span none;
    struct span item;

    if (json_type(value) != JSON_ARRAY)
        return "is no list";
    offered = texts_of(elicit_choices(property, ELICIT_CHOICES));
    for (; what == NULL && json_next(value, &cursor, &none, &item); n++)
        what = check_element(&offered, item);
    texts_free(&offered);
    if (what == NULL && !at_least(property, "minItems", (double)n))
        what = "has too few elements";
    if (what == NULL && !at_most(property, "maxItems", (double)n))
        what = "has too many elements";
    return what;
}

static const char *check_kind(struct span property, struct span value)
{
    bool truth;

    switch (elicit_kind_of(property)) {
    case ELICIT_STRING:
        return json_type(value) != JSON_STRING ? "is no text" : check_string(property, value);
    case ELICIT_NUMBER:
        return check_number(property, value, false);
    case ELICIT_INTEGER:
        return check_number(property, value, true);
    case ELICIT_BOOLEAN:
        return json_bool(value, &truth) ? NULL : "is neither true nor false";
    case ELICIT_CHOICE:
        return check_choice(elicit_choices(property, ELICIT_CHOICE), value);
    case ELICIT_CHOICES:
        return check_choices(property, value);
    case ELICIT_NONE:
        break;
    }
    return "was not asked for";
}

bool elicit_check_value(struct span property, struct span name, struct span value, struct buf *why)
{
    const char *what = check_kind(property, value);

    return what == NULL || elicit_refuse(why, name, what);
}
