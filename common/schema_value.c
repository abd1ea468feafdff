#include "common/schema_value.h"

#include "common/json_raw.h"
#include "common/mem.h"
#include "common/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096, DEPTH_MAX = 128, SMALL = 8 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t used;
    size_t room;
};

void arena_fini(struct arena *a)
{
    while (a->head != NULL) {
        struct arena_chunk *next = a->head->next;

        free(a->head);
        a->head = next;
    }
}

void *arena_get(struct arena *a, size_t n)
{
    struct arena_chunk *c = a->head;
    void *p;

    n = (n + 15U) & ~(size_t)15U;
    if (c == NULL || c->room - c->used < n) {
        size_t room = n + CHUNK;

        c = mem_alloc(sizeof(*c) + 16 + room);
        *c = (struct arena_chunk){.next = a->head, .used = 16 - sizeof(*c) % 16, .room = room};
        a->head = c;
    }
    p = (char *)(c + 1) + c->used;
    c->used += n;
    memset(p, 0, n);
    return p;
}

/* --- reading: the grammar has been checked --- */

struct reader {
    struct arena *a;
    const char *p;
    const char *end;
    size_t left; /* values */
    unsigned depth;
    const char *why;
};

static struct value *read_value(struct reader *r);

static void skip_space(struct reader *r)
{
    while (r->p < r->end && json_is_space(*r->p))
        r->p++;
}

static unsigned hex4(const char *p)
{
    unsigned v = 0;

    for (int i = 0; i < 4; i++) {
        unsigned c = (unsigned char)p[i];

        v = v * 16U + (c <= '9' ? c - '0' : (c | 0x20U) - 'a' + 10U);
    }
    return v;
}

static char *put_utf8(char *out, unsigned c)
{
    if (c < 0x80) {
        *out++ = (char)c;
        return out;
    }
    if (c >= 0x10000) {
        *out++ = (char)(0xf0U | c >> 18U);
        *out++ = (char)(0x80U | (c >> 12U & 0x3fU));
    } else if (c >= 0x800) {
        *out++ = (char)(0xe0U | c >> 12U);
    }
    if (c >= 0x800)
        *out++ = (char)(0x80U | (c >> 6U & 0x3fU));
    else
        *out++ = (char)(0xc0U | c >> 6U);
    *out++ = (char)(0x80U | (c & 0x3fU));
    return out;
}

/* What the escape at p, a backslash, stands for. */
static const char *decode_escape(const char *p, char **out)
{
    static const char from[] = "bfnrt";
    static const char to[] = "\b\f\n\r\t";
    const char *known = strchr(from, p[1]);
    unsigned c;

    if (p[1] != 'u') {
        *(*out)++ = known != NULL ? to[known - from] : p[1];
        return p + 2;
    }
    c = hex4(p + 2);
    p += 6;
    if (c >= 0xd800 && c <= 0xdbff) {
        c = 0x10000U + ((c - 0xd800U) << 10U) + (hex4(p + 2) - 0xdc00U);
        p += 6;
    }
    *out = put_utf8(*out, c);
    return p;
}

static struct span decode(struct arena *a, struct span inside)
{
    const char *end = inside.p + inside.n;
    char *text = arena_get(a, inside.n + 1);
    char *out = text;

    for (const char *p = inside.p; p < end;) {
        if (*p == '\\')
            p = decode_escape(p, &out);
        else
            *out++ = *p++;
    }
    return (struct span){text, (size_t)(out - text)};
}

/* At the opening quote; the text between the quotes. */
static struct span read_text(struct reader *r)
{
    const char *start = ++r->p;
    bool escaped = false;
    struct span inside;

    while (r->p < r->end && *r->p != '"') {
        escaped = escaped || *r->p == '\\';
        r->p += *r->p == '\\' ? 2 : 1;
    }
    inside = (struct span){start, (size_t)(r->p - start)};
    r->p++;
    return escaped ? decode(r->a, inside) : inside;
}

static void read_number(struct reader *r, struct value *v)
{
    const char *start = r->p;
    struct span raw;

    while (r->p < r->end && strchr("+-.0123456789eE", *r->p) != NULL)
        r->p++;
    raw = (struct span){start, (size_t)(r->p - start)};
    v->is_exact = json_int(raw, &v->whole);
    if (v->is_exact)
        v->number = (double)v->whole;
    else if (!json_number(raw, &v->number))
        v->number = *start == '-' ? -HUGE_VAL : HUGE_VAL;
    v->is_integer = v->is_exact || fabs(v->number) >= 9007199254740992.0;
}

static int by_name(const void *a, const void *b)
{
    const struct span x = (*(struct value *const *)a)->name;
    const struct span y = (*(struct value *const *)b)->name;
    int d = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);

    if (d != 0)
        return d;
    return x.n < y.n ? -1 : x.n > y.n;
}

/* Are the names all different? A large object is sorted on the way. */
static bool index_names(struct arena *a, struct value *object)
{
    struct value **all;
    size_t n = 0;

    if (object->count <= SMALL) {
        for (const struct value *x = object->first; x != NULL; x = x->next)
            for (const struct value *y = x->next; y != NULL; y = y->next)
                if (span_equal(x->name, y->name))
                    return false;
        return true;
    }
    all = arena_get(a, object->count * sizeof(struct value *));
    for (struct value *x = object->first; x != NULL; x = x->next)
        all[n++] = x;
    qsort(all, n, sizeof(struct value *), by_name);
    for (size_t i = 1; i < n; i++)
        if (span_equal(all[i - 1]->name, all[i]->name))
            return false;
    object->sorted = all;
    return true;
}

static bool read_child(struct reader *r, struct value *parent, struct value ***last)
{
    struct span name = {NULL, 0};
    struct value *child;

    if (parent->type == JSON_OBJECT) {
        name = read_text(r);
        skip_space(r);
        r->p++; /* the colon */
    }
    child = read_value(r);
    if (child == NULL)
        return false;
    child->name = name;
    child->up = parent;
    child->place = (unsigned)parent->count++;
    **last = child;
    *last = &child->next;
    return true;
}

static bool read_children(struct reader *r, struct value *v)
{
    const char close = v->type == JSON_OBJECT ? '}' : ']';
    struct value **last = &v->first;

    r->p++;
    skip_space(r);
    if (++r->depth > DEPTH_MAX) {
        r->why = "it is nested too deeply";
        return false;
    }
    while (r->p < r->end && *r->p != close) {
        if (!read_child(r, v, &last))
            return false;
        skip_space(r);
        if (r->p < r->end && *r->p == ',')
            r->p++;
        skip_space(r);
    }
    r->p++;
    r->depth--;
    if (v->type == JSON_ARRAY || index_names(r->a, v))
        return true;
    r->why = "an object has two members of one name";
    return false;
}

static struct value *read_value(struct reader *r)
{
    struct value *v;
    const char *start;

    if (r->left-- == 0) {
        r->why = "it holds too many values";
        return NULL;
    }
    v = arena_get(r->a, sizeof(*v));
    skip_space(r);
    start = r->p;
    v->type = json_type((struct span){start, start < r->end});
    if (v->type == JSON_OBJECT || v->type == JSON_ARRAY) {
        if (!read_children(r, v))
            return NULL;
    } else if (v->type == JSON_STRING) {
        v->text = read_text(r);
    } else if (v->type == JSON_NUMBER) {
        read_number(r, v);
    } else {
        v->truth = start < r->end && *start == 't';
        while (r->p < r->end && *r->p >= 'a' && *r->p <= 'z')
            r->p++;
    }
    v->raw = (struct span){start, (size_t)(r->p - start)};
    return v;
}

struct value *value_parse(struct arena *a, struct span text, size_t values_max, const char **why)
{
    struct reader r = {.a = a, .p = text.p, .end = text.p + text.n, .left = values_max};
    struct value *v = read_value(&r);

    *why = r.why;
    return v;
}

/* --- looking --- */

struct value *value_get(const struct value *object, struct span name)
{
    struct value wanted = {.name = name};
    const struct value *key = &wanted;
    struct value **found;

    if (object->type != JSON_OBJECT)
        return NULL;
    if (object->sorted == NULL) {
        for (struct value *v = object->first; v != NULL; v = v->next)
            if (span_equal(v->name, name))
                return v;
        return NULL;
    }
    found = bsearch(&key, object->sorted, object->count, sizeof(struct value *), by_name);
    return found != NULL ? *found : NULL;
}

struct value *value_find(const struct value *object, const char *name)
{
    return value_get(object, span_of(name));
}

struct value *value_at(const struct value *array, size_t place)
{
    struct value *v = array->type == JSON_ARRAY ? array->first : NULL;

    while (v != NULL && v->place < place)
        v = v->next;
    return v;
}

size_t value_length(const struct value *string)
{
    size_t n = 0;

    for (size_t i = 0; i < string->text.n; i++)
        n += !utf8_is_tail((unsigned char)string->text.p[i]);
    return n;
}
