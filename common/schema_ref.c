#include "common/schema_inside.h"

#include <string.h>

enum { URI_MAX = 4096 };

/* --- identifiers: RFC 3986, as far as it takes to tell resources of one document apart --- */

struct uri {
    struct span scheme; /* with its colon; empty when there is none */
    struct span authority; /* with its two slashes */
    struct span path;
    struct span rest; /* query */
};

static struct span until(struct span *s, const char *stops)
{
    struct span taken = {s->p, 0};

    while (taken.n < s->n && strchr(stops, s->p[taken.n]) == NULL)
        taken.n++;
    *s = (struct span){s->p + taken.n, s->n - taken.n};
    return taken;
}

static struct uri split(struct span s)
{
    struct uri u = {{NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}};
    struct span whole = s;
    struct span first = until(&s, ":/?#");

    if (s.n != 0 && s.p[0] == ':' && first.n != 0) {
        u.scheme = (struct span){first.p, first.n + 1};
        s = (struct span){s.p + 1, s.n - 1};
    } else {
        s = whole;
    }
    if (s.n >= 2 && s.p[0] == '/' && s.p[1] == '/') {
        struct span slashes = {s.p, 2};

        s = (struct span){s.p + 2, s.n - 2};
        u.authority = (struct span){slashes.p, 2 + until(&s, "/?#").n};
    }
    u.path = until(&s, "?#");
    u.rest = s;
    return u;
}

/* Takes the last segment away again, but not what stands before from. */
static void cut_segment(struct buf *out, size_t from)
{
    while (out->n > from && out->p[out->n - 1] != '/')
        out->n--;
    if (out->n > from)
        out->n--;
}

static void add_path(struct buf *out, struct span path)
{
    const size_t from = out->n;

    while (path.n != 0) {
        struct span rest = {path.p + 1, path.n - 1};
        struct span segment;
        bool slash = path.p[0] == '/';

        if (!slash)
            rest = path;
        segment = until(&rest, "/");
        if (span_is(segment, "..")) {
            cut_segment(out, from);
        } else if (!span_is(segment, ".")) {
            buf_adds(out, slash ? "/" : "");
            buf_add_span(out, segment);
            path = rest;
            continue;
        }
        if (rest.n == 0)
            buf_adds(out, "/");
        path = rest;
    }
}

/* A path that does not begin with a slash takes the place of what follows the base's last one. */
static void add_merged(struct buf *out, const struct uri *base, struct span path)
{
    struct span folder = base->path;
    struct buf joined;

    buf_init(&joined, URI_MAX);
    while (folder.n != 0 && folder.p[folder.n - 1] != '/')
        folder.n--;
    if (folder.n == 0 && base->authority.n != 0)
        buf_adds(&joined, "/");
    buf_add_span(&joined, folder);
    buf_add_span(&joined, path);
    add_path(out, buf_span(&joined));
    buf_fini(&joined);
}

void uri_resolve(struct buf *out, struct span base, struct span ref)
{
    struct uri b = split(base);
    struct uri r = split(ref);

    if (r.scheme.n != 0) {
        buf_add_span(out, ref);
        return;
    }
    buf_add_span(out, b.scheme);
    buf_add_span(out, r.authority.n != 0 ? r.authority : b.authority);
    if (r.authority.n != 0 || (r.path.n != 0 && r.path.p[0] == '/')) {
        add_path(out, r.path);
    } else if (r.path.n == 0) {
        buf_add_span(out, b.path);
        if (r.rest.n == 0 || r.rest.p[0] != '?')
            buf_add_span(out, until(&b.rest, "#"));
    } else {
        add_merged(out, &b, r.path);
    }
    buf_add_span(out, r.rest);
}

/* Before and after the first #. */
static struct span without_fragment(struct span uri, struct span *fragment)
{
    struct span before = until(&uri, "#");

    *fragment = uri.n != 0 ? (struct span){uri.p + 1, uri.n - 1} : (struct span){"", 0};
    return before;
}

/* --- what the document names --- */

static const struct resource *resource_of(const struct value *v)
{
    while (v->resource == NULL && v->up != NULL)
        v = v->up;
    return v->resource;
}

static struct span base_of(const struct value *v)
{
    const struct resource *r = v != NULL ? resource_of(v) : NULL;

    return r != NULL ? r->uri : (struct span){"", 0};
}

static struct span keep(struct schema *s, struct span text)
{
    char *copy = arena_get(&s->arena, text.n + 1);

    if (text.n != 0)
        memcpy(copy, text.p, text.n);
    return (struct span){copy, text.n};
}

static const struct resource *find_resource(const struct schema *s, struct span uri)
{
    for (const struct resource *r = s->resources; r != NULL; r = r->next)
        if (span_equal(r->uri, uri))
            return r;
    return NULL;
}

static bool add_resource(struct schema *s, struct value *v, struct span id)
{
    struct resource *r = arena_get(&s->arena, sizeof(*r));
    struct span base = base_of(v->up);
    struct span fragment;
    struct span uri;
    struct buf full;
    bool known;

    buf_init(&full, URI_MAX);
    uri_resolve(&full, base, id);
    uri = full.n != 0 ? without_fragment(buf_span(&full), &fragment) : (struct span){"", 0};
    *r = (struct resource){.next = s->resources, .root = v, .uri = keep(s, uri)};
    known = find_resource(s, r->uri) != NULL || !buf_ok(&full);
    buf_fini(&full);
    s->resources = r;
    v->resource = r;
    return !known || schema_refuse(s, v, "$id", "is there twice, or too long");
}

static void add_anchor(struct schema *s, struct value *v, struct span name)
{
    struct anchor *a = arena_get(&s->arena, sizeof(*a));

    *a = (struct anchor){.next = s->anchors, .in = resource_of(v), .name = name, .at = v};
    s->anchors = a;
}

static bool is_text(const struct value *v)
{
    return v != NULL && v->type == JSON_STRING;
}

static struct span dialect_of(const struct value *v)
{
    const struct value *dialect = value_find(v, "$schema");

    return is_text(dialect) ? dialect->text : (struct span){"", 0};
}

/* The root has an identifier, if only an empty one. */
static bool index_names(struct schema *s, struct value *v)
{
    const struct value *id = value_find(v, "$id");
    const struct value *anchor = value_find(v, "$anchor");
    bool old = s->draft == DRAFT_07;
    bool is_fragment;

    if (!is_text(id) || (old && value_find(v, "$ref") != NULL))
        id = NULL;
    is_fragment = id != NULL && old && id->text.n != 0 && id->text.p[0] == '#';
    if (v->up == NULL && (id == NULL || is_fragment) && !add_resource(s, v, (struct span){"", 0}))
        return false;
    if (is_fragment)
        add_anchor(s, v, (struct span){id->text.p + 1, id->text.n - 1});
    else if (id != NULL && !add_resource(s, v, id->text))
        return false;
    if (is_text(anchor) && !old)
        add_anchor(s, v, anchor->text);
    if (id != NULL && v->up != NULL && is_text(value_find(v, "$schema")) &&
        !span_equal(dialect_of(v), dialect_of(s->doc)))
        return schema_refuse(s, v, "$schema", "changes the dialect, which is not supported");
    return true;
}

static bool index_schema(struct schema *s, struct value *v);

static bool index_children(struct schema *s, struct value *v)
{
    for (struct value *c = v->first; c != NULL; c = c->next)
        if (c->type == JSON_OBJECT && !index_schema(s, c))
            return false;
    return true;
}

static bool index_under(struct schema *s, const struct keyword *k, struct value *v)
{
    if (k->shape < SHAPE_SCHEMA)
        return true;
    if (k->shape == SHAPE_SCHEMA || (k->shape == SHAPE_ITEMS && v->type == JSON_OBJECT))
        return v->type != JSON_OBJECT || index_schema(s, v);
    return index_children(s, v);
}

/* Only where schemas stand: an "$id" in an example names nothing. As deep as the text. */
static bool index_schema(struct schema *s, struct value *v)
{
    if (!index_names(s, v))
        return false;
    for (const struct keyword *k = schema_keywords; k->name != NULL; k++) {
        struct value *under = (k->drafts & s->draft) != 0 ? value_find(v, k->name) : NULL;

        if (under != NULL && !index_under(s, k, under))
            return false;
    }
    return true;
}

bool schema_index(struct schema *s)
{
    return index_schema(s, s->doc);
}

/* --- following --- */

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *p = c != '\0' ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;

    return p != NULL ? (int)(p - digits) : -1;
}

/* %41 is A, and in a pointer's step ~1 is / and ~0 is ~. */
static void decode(struct buf *out, struct span step, bool tildes)
{
    for (size_t i = 0; i < step.n; i++) {
        char c = step.p[i];

        if (c == '%' && i + 2 < step.n && hex_digit(step.p[i + 1]) >= 0 &&
            hex_digit(step.p[i + 2]) >= 0) {
            c = (char)(hex_digit(step.p[i + 1]) * 16 + hex_digit(step.p[i + 2]));
            i += 2;
        }
        if (tildes && c == '~' && i + 1 < step.n && (step.p[i + 1] == '0' || step.p[i + 1] == '1'))
            c = step.p[++i] == '0' ? '~' : '/';
        buf_addc(out, c);
    }
}

static struct value *step_into(struct value *v, struct span step)
{
    struct span name;
    struct buf out;
    size_t place = 0;

    buf_init(&out, URI_MAX);
    buf_adds(&out, "");
    decode(&out, step, true);
    name = (struct span){out.n != 0 ? out.p : "", out.n};
    if (v->type == JSON_ARRAY) {
        bool digits = name.n != 0 && name.n < 8;

        for (size_t i = 0; i < name.n; i++) {
            digits = digits && name.p[i] >= '0' && name.p[i] <= '9';
            place = place * 10 + (size_t)(name.p[i] - '0');
        }
        v = digits && place < v->count ? value_at(v, place) : NULL;
    } else {
        v = value_get(v, name);
    }
    buf_fini(&out);
    return v;
}

static struct value *follow(struct value *v, struct span pointer)
{
    while (v != NULL && pointer.n != 0) {
        pointer = (struct span){pointer.p + 1, pointer.n - 1};
        v = step_into(v, until(&pointer, "/"));
    }
    return v;
}

static struct value *find_anchor(const struct schema *s, const struct resource *in,
                                 struct span name)
{
    for (const struct anchor *a = s->anchors; a != NULL; a = a->next)
        if (a->in == in && span_equal(a->name, name))
            return a->at;
    return NULL;
}

struct value *schema_resolve(const struct schema *s, const struct value *from, struct span ref)
{
    struct value *found = NULL;
    const struct resource *r;
    struct span fragment;
    struct span uri;
    struct buf full;

    buf_init(&full, URI_MAX);
    uri_resolve(&full, base_of(from), ref);
    uri = full.n != 0 ? buf_span(&full) : (struct span){"", 0};
    uri = without_fragment(uri, &fragment);
    r = buf_ok(&full) ? find_resource(s, uri) : NULL;
    if (r != NULL && (fragment.n == 0 || fragment.p[0] == '/'))
        found = follow(r->root, fragment);
    else if (r != NULL)
        found = find_anchor(s, r, fragment);
    buf_fini(&full);
    return found;
}
