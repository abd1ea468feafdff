#include "worker/template.h"

#include "common/json.h"
#include "common/mem.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_ROOM = 128, TEXT_MAX = 4 << 20 };

static const char env_head[] = "${env:";
static const char no_text[] = "an argument holds U+0000, which cannot be sent in a text";
static const char no_text_job[] =
    "the handle of the job holds U+0000, which cannot be sent in a text";
static const char too_long[] = "what is to be sent is too long";

/* --- places --- */

enum place_kind { PLACE_NONE, PLACE_ENV, PLACE_VALUE, PLACE_BAD };

struct place {
    enum place_kind kind;
    size_t n; /* of the text */
    char name[NAME_ROOM];
};

static struct place place_of(const char *p, size_t head, const char *allowed, enum place_kind kind,
                             enum place_kind otherwise)
{
    size_t n = strspn(p + head, allowed);
    struct place found = {.kind = otherwise, .n = 1};

    if (n == 0 || n >= NAME_ROOM || p[head + n] != '}')
        return found;
    found.kind = kind;
    found.n = head + n + 1;
    memcpy(found.name, p + head, n);
    return found;
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

static struct place place_at(const char *p)
{
    if (p[0] == '$' && p[1] == '{')
        return strncmp(p, env_head, sizeof(env_head) - 1) == 0
                   ? place_of(p, sizeof(env_head) - 1, LETTERS, PLACE_ENV, PLACE_BAD)
                   : (struct place){.kind = PLACE_BAD, .n = 1};
    if (p[0] == '{')
        return place_of(p, 1, LETTERS ".-", PLACE_VALUE, PLACE_NONE);
    return (struct place){.kind = PLACE_NONE, .n = 1};
}

/* --- checking --- */

struct checking {
    struct template_use *use;
    template_env_fn *on_env;
    void *arg;
    struct buf *why;
};

static bool check_env(const struct checking *c, const char *name)
{
    const char *value = getenv(name);

    if (value == NULL) {
        buf_addf(c->why, "the variable %s is not set; set it in the environment of the worker",
                 name);
        return false;
    }
    c->on_env(c->arg, name);
    return true;
}

static bool check_text(const struct checking *c, const char *text)
{
    struct place at;

    for (const char *p = text; *p != '\0'; p += at.n) {
        at = place_at(p);
        if (at.kind == PLACE_BAD) {
            buf_adds(c->why, "\"${\" is no variable; write ${env:NAME}");
            return false;
        }
        if (at.kind == PLACE_ENV && !check_env(c, at.name))
            return false;
        if (at.kind != PLACE_VALUE)
            continue;
        c->use->job = c->use->job || strcmp(at.name, "job") == 0;
        c->use->callback_url = c->use->callback_url || strcmp(at.name, "callbackUrl") == 0;
        c->use->callback_secret = c->use->callback_secret || strcmp(at.name, "callbackSecret") == 0;
    }
    return true;
}

static const char *after_scheme(const char *url)
{
    if (strncmp(url, "http://", 7) == 0)
        return url + 7;
    return strncmp(url, "https://", 8) == 0 ? url + 8 : NULL;
}

/* No value stands before the first slash: whom we talk to is the author's word alone. */
static bool check_url(const char *url, struct buf *why)
{
    const char *p = after_scheme(url);
    struct place at;

    if (p == NULL && strncmp(url, env_head, sizeof(env_head) - 1) != 0) {
        buf_adds(why, "it is no URL; write one that begins with http:// or https://, or with a "
                      "variable that does");
        return false;
    }
    for (p = p != NULL ? p : url; *p != '\0' && strchr("/?#", *p) == NULL; p += at.n) {
        at = place_at(p);
        if (at.kind != PLACE_VALUE)
            continue;
        buf_adds(why, "a value cannot choose the server; write {...} in the path or the query");
        return false;
    }
    return true;
}

bool template_check(const char *text, enum template_kind kind, struct template_use *use,
                    template_env_fn *on_env, void *arg, struct buf *why)
{
    const struct checking c = {use, on_env, arg, why};

    if (kind == TEMPLATE_HEADER && strpbrk(text, "\r\n") != NULL) {
        buf_adds(why, "it has a line break, which no header can carry");
        return false;
    }
    return check_text(&c, text) && (kind != TEMPLATE_URL || check_url(text, why));
}

/* A decoded string, owned; NULL when it holds U+0000. */
static char *text_of(struct span string)
{
    char *text = mem_alloc(string.n + 1);

    if (json_string(string, text, string.n + 1) >= 0)
        return text;
    free(text);
    return NULL;
}

static bool check_value(const struct checking *c, struct span value)
{
    size_t cursor = 0;
    struct span name;
    struct span item;
    char *text;
    bool ok;

    if (json_type(value) == JSON_STRING) {
        text = text_of(value);
        ok = text != NULL && check_text(c, text);
        if (text == NULL)
            buf_adds(c->why, "a text holds U+0000; take it out");
        free(text);
        return ok;
    }
    if (json_type(value) != JSON_OBJECT && json_type(value) != JSON_ARRAY)
        return true;
    while (json_next(value, &cursor, &name, &item))
        if (!check_value(c, item))
            return false;
    return true;
}

bool template_check_json(struct span json, struct template_use *use, template_env_fn *on_env,
                         void *arg, struct buf *why)
{
    const struct checking c = {use, on_env, arg, why};

    return check_value(&c, json);
}

/* --- values --- */

/* The value of a place as JSON, in own when it must be made; p NULL: there is none. */
static struct span value_of(const struct template_facts *f, const char *name, struct buf *own)
{
    const struct {
        const char *name;
        const char *text;
    } texts[] = {{"taskId", f->task},
                 {"principal", f->principal},
                 {"callbackUrl", f->callback_url},
                 {"callbackSecret", f->callback_secret}};

    if (strcmp(name, "arguments") == 0)
        return f->arguments;
    if (strcmp(name, "job") == 0)
        return f->job;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strcmp(name, texts[i].name) != 0)
            continue;
        buf_add_json(own, span_of(texts[i].text));
        return buf_span(own);
    }
    return json_get(f->arguments, name);
}

static void add_encoded(struct buf *out, const char *text)
{
    static const char plain[] = LETTERS "-.~";

    for (const char *p = text; *p != '\0'; p++) {
        if (strchr(plain, *p) != NULL)
            buf_addc(out, *p);
        else
            buf_addf(out, "%%%02X", (unsigned)(unsigned char)*p);
    }
}

static const char *add_value(struct buf *out, const char *name, enum template_kind kind,
                             const struct template_facts *facts)
{
    struct buf own;
    struct span value;
    char *text;

    buf_init(&own, TEXT_MAX);
    value = value_of(facts, name, &own);
    text = json_type(value) == JSON_STRING ? text_of(value)
                                           : mem_dup(value.p != NULL ? value.p : "", value.n);
    buf_fini(&own);
    if (text == NULL)
        return strcmp(name, "job") == 0 ? no_text_job : no_text;
    if (kind == TEMPLATE_URL)
        add_encoded(out, text);
    else
        buf_adds(out, text);
    free(text);
    return NULL;
}

/* --- filling --- */

/* A segment that means another folder, to us or to the server. */
static bool climbs(const char *url)
{
    const char *end = url + strcspn(url, "?#");

    for (const char *p = strchr(url, '/'); p != NULL && p < end; p = strchr(p + 1, '/')) {
        size_t n = strcspn(p + 1, "/?#");

        if ((n == 1 && p[1] == '.') || (n == 2 && p[1] == '.' && p[2] == '.'))
            return true;
    }
    return false;
}

static const char *check_filled(const char *text, enum template_kind kind)
{
    if (kind == TEMPLATE_HEADER) {
        for (const char *p = text; *p != '\0'; p++)
            if ((unsigned char)*p < ' ' && *p != '\t')
                return "a value holds a control character, which no header can carry";
    }
    if (kind == TEMPLATE_URL) {
        if (after_scheme(text) == NULL)
            return "what the URL begins with is neither http:// nor https://";
        if (climbs(after_scheme(text)))
            return "a value may not be . or .. in the path of a URL";
    }
    return NULL;
}

const char *template_fill(struct buf *out, const char *text, enum template_kind kind,
                          const struct template_facts *facts)
{
    size_t from = out->n;
    const char *bad = NULL;
    struct place at;

    for (const char *p = text; *p != '\0' && bad == NULL; p += at.n) {
        at = place_at(p);
        if (at.kind == PLACE_ENV)
            buf_adds(out, getenv(at.name) != NULL ? getenv(at.name) : "");
        else if (at.kind == PLACE_VALUE)
            bad = add_value(out, at.name, kind, facts);
        else
            buf_addc(out, *p);
    }
    if (bad == NULL && !buf_ok(out))
        bad = too_long;
    return bad != NULL || out->n == from ? bad : check_filled(out->p + from, kind);
}

/* Is this nothing but one place? Then the value: p NULL when there is none. */
static bool is_one(const char *text, const struct template_facts *facts, struct buf *own,
                   struct span *value)
{
    struct place at = place_at(text);

    if (at.kind != PLACE_VALUE || text[at.n] != '\0')
        return false;
    *value = value_of(facts, at.name, own);
    return true;
}

static bool is_absent(struct span json, const struct template_facts *facts)
{
    struct span value = json;
    struct buf own;
    char *text;

    if (json_type(json) != JSON_STRING)
        return false;
    buf_init(&own, TEXT_MAX);
    text = text_of(json);
    if (text != NULL)
        (void)is_one(text, facts, &own, &value);
    free(text);
    buf_fini(&own);
    return value.p == NULL;
}

static const char *fill_string(struct buf *out, struct span json,
                               const struct template_facts *facts)
{
    char *text = text_of(json);
    const char *bad = NULL;
    struct span value;
    struct buf own;
    struct buf filled;

    buf_init(&own, TEXT_MAX);
    buf_init(&filled, TEXT_MAX);
    if (text == NULL) {
        bad = no_text;
    } else if (is_one(text, facts, &own, &value)) {
        buf_add_span(out, value.p != NULL ? value : SPAN("null"));
    } else if (strpbrk(text, "{") == NULL) {
        buf_add_span(out, json);
    } else {
        bad = template_fill(&filled, text, TEMPLATE_TEXT, facts);
        buf_add_json(out, buf_span(&filled));
    }
    buf_wipe(&filled);
    buf_fini(&own);
    free(text);
    return bad;
}

static const char *fill_value(struct buf *out, struct span json,
                              const struct template_facts *facts);

static const char *fill_members(struct buf *out, struct span json,
                                const struct template_facts *facts)
{
    bool is_object = json_type(json) == JSON_OBJECT;
    const char *bad = NULL;
    bool first = true;
    size_t cursor = 0;
    struct span name;
    struct span value;

    buf_addc(out, is_object ? '{' : '[');
    while (bad == NULL && json_next(json, &cursor, &name, &value)) {
        if (is_object && is_absent(value, facts))
            continue;
        buf_adds(out, first ? "" : ",");
        first = false;
        if (is_object)
            buf_addf(out, "\"%.*s\":", (int)name.n, name.p);
        bad = fill_value(out, value, facts);
    }
    buf_addc(out, is_object ? '}' : ']');
    return bad;
}

static const char *fill_value(struct buf *out, struct span json, const struct template_facts *facts)
{
    if (json_type(json) == JSON_STRING)
        return fill_string(out, json, facts);
    if (json_type(json) == JSON_OBJECT || json_type(json) == JSON_ARRAY)
        return fill_members(out, json, facts);
    buf_add_span(out, json);
    return NULL;
}

const char *template_fill_json(struct buf *out, struct span json,
                               const struct template_facts *facts)
{
    const char *bad = fill_value(out, json, facts);

    return bad == NULL && !buf_ok(out) ? too_long : bad;
}
