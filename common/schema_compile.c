#include "common/schema_inside.h"

#include "common/mem.h"

#include <stdlib.h>
#include <string.h>

enum { SCHEMA_VALUES_MAX = 100000, RULES_MAX = 64 };

bool schema_refuse(struct schema *s, const struct value *at, const char *keyword, const char *what)
{
    if (s->why->n != 0)
        return false;
    if (at->up != NULL) {
        schema_add_path(s->why, at);
        buf_adds(s->why, ": ");
    }
    buf_addf(s->why, "\"%s\" %s", keyword, what);
    return false;
}

static bool is_schema(const struct value *v)
{
    return v->type == JSON_OBJECT || v->type == JSON_BOOL;
}

struct node *schema_node(struct schema *s, struct value *v)
{
    if (v->node == NULL) {
        v->node = arena_get(&s->arena, sizeof(*v->node));
        v->node->src = v;
        v->node->pending = s->pending;
        s->pending = v->node;
    }
    return v->node;
}

/* --- what is made of a keyword's value: false after schema_refuse() --- */

static bool refuse_rule(struct schema *s, const struct rule *r, const char *what)
{
    return schema_refuse(s, r->owner->src, r->key->name, what);
}

static bool take_types(struct schema *s, struct rule *r)
{
    static const char *const names[] = {"integer", "null",  "boolean", "number",
                                        "string",  "array", "object"};
    const struct value *v = r->arg->type == JSON_ARRAY ? r->arg->first : r->arg;

    if (r->arg->type == JSON_ARRAY && v == NULL)
        return refuse_rule(s, r, "lists no type");
    for (; v != NULL; v = r->arg->type == JSON_ARRAY ? v->next : NULL) {
        size_t i = 0;

        while (i < 7 && !(v->type == JSON_STRING && span_is(v->text, names[i])))
            i++;
        if (i == 7)
            return refuse_rule(s, r,
                               "must be string, number, integer, boolean, null, array, object, or "
                               "a list of these");
        r->types |= 1U << i;
    }
    return true;
}

static bool take_names(struct schema *s, struct rule *r, const struct value *list)
{
    if (list->type != JSON_ARRAY)
        return refuse_rule(s, r, "must be a list of names");
    for (const struct value *v = list->first; v != NULL; v = v->next)
        if (v->type != JSON_STRING)
            return refuse_rule(s, r, "must be a list of names");
    return true;
}

static bool take_name_lists(struct schema *s, struct rule *r)
{
    if (r->arg->type != JSON_OBJECT)
        return refuse_rule(s, r, "must be an object of lists of names");
    for (const struct value *v = r->arg->first; v != NULL; v = v->next)
        if (!take_names(s, r, v))
            return false;
    return true;
}

static bool take_schema(struct schema *s, struct rule *r)
{
    if (!is_schema(r->arg))
        return refuse_rule(s, r,
                           r->arg->type == JSON_ARRAY && s->draft == DRAFT_2020 &&
                                   strcmp(r->key->name, "items") == 0
                               ? "must be a schema; a list of them is \"prefixItems\" in 2020-12"
                               : "must be a schema: an object, true or false");
    r->node = schema_node(s, r->arg);
    return true;
}

static bool take_schemas(struct schema *s, struct rule *r)
{
    const bool is_list = r->arg->type == JSON_ARRAY;

    r->nodes = arena_get(&s->arena, (r->arg->count + 1) * sizeof(struct node *));
    for (struct value *v = r->arg->first; v != NULL; v = v->next) {
        if (r->key->shape == SHAPE_DEPENDENCIES && v->type == JSON_ARRAY) {
            if (!take_names(s, r, v))
                return false;
            continue;
        }
        if (!is_schema(v))
            return refuse_rule(
                s, r, is_list ? "must be a list of schemas" : "must be an object of schemas");
        r->nodes[v->place] = schema_node(s, v);
    }
    return true;
}

static bool take_list(struct schema *s, struct rule *r)
{
    if (r->arg->type != JSON_ARRAY || r->arg->count == 0)
        return refuse_rule(s, r, "must be a list of schemas, at least one");
    return take_schemas(s, r);
}

static bool take_map(struct schema *s, struct rule *r)
{
    if (r->arg->type != JSON_OBJECT)
        return refuse_rule(s, r, "must be an object of schemas");
    return take_schemas(s, r);
}

static struct pattern *take_pattern(struct schema *s, const struct rule *r, struct span text)
{
    struct buf why;
    struct pattern *p;

    buf_init(&why, 512);
    p = pattern_new(s->all_patterns, text, &why);
    if (p == NULL)
        (void)refuse_rule(s, r, why.p);
    else
        s->all_patterns = p;
    buf_fini(&why);
    return p;
}

static bool take_patterns(struct schema *s, struct rule *r)
{
    if (!take_map(s, r))
        return false;
    r->patterns = arena_get(&s->arena, (r->arg->count + 1) * sizeof(struct pattern *));
    for (const struct value *v = r->arg->first; v != NULL; v = v->next) {
        r->patterns[v->place] = take_pattern(s, r, v->name);
        if (r->patterns[v->place] == NULL)
            return false;
    }
    return true;
}

static bool take_text(struct schema *s, struct rule *r)
{
    if (r->arg->type != JSON_STRING)
        return refuse_rule(s, r, "must be a string");
    if (r->key->shape != SHAPE_PATTERN)
        return true;
    r->patterns = arena_get(&s->arena, sizeof(struct pattern *));
    r->patterns[0] = take_pattern(s, r, r->arg->text);
    return r->patterns[0] != NULL;
}

static bool take_ref(struct schema *s, struct rule *r)
{
    struct value *to;

    if (r->arg->type != JSON_STRING)
        return refuse_rule(s, r, "must be a string");
    to = schema_resolve(s, r->owner->src, r->arg->text);
    if (to == NULL) {
        struct buf what;

        buf_init(&what, 512);
        buf_adds(&what, "points at nothing in this document, and nothing is fetched: ");
        buf_add(&what, r->arg->raw.p, r->arg->raw.n < 200 ? r->arg->raw.n : 200);
        (void)refuse_rule(s, r, what.p);
        buf_fini(&what);
        return false;
    }
    if (!is_schema(to))
        return refuse_rule(s, r, "points at what is no schema");
    r->node = schema_node(s, to);
    return true;
}

static bool take_number(struct schema *s, const struct rule *r)
{
    const struct value *v = r->arg; /* one that is no number is neither positive nor whole */

    if (r->key->shape == SHAPE_POSITIVE && !(v->number > 0))
        return refuse_rule(s, r, "must be a number greater than 0");
    if (r->key->shape == SHAPE_COUNT && !(v->is_integer && v->number >= 0))
        return refuse_rule(s, r, "must be a whole number, not negative");
    return v->type == JSON_NUMBER || refuse_rule(s, r, "must be a number");
}

static bool take(struct schema *s, struct rule *r)
{
    switch (r->key->shape) {
    case SHAPE_REFUSED:
        return refuse_rule(s, r, "is a keyword that is not supported");
    case SHAPE_TYPES:
        return take_types(s, r);
    case SHAPE_LIST:
        return r->arg->type == JSON_ARRAY || refuse_rule(s, r, "must be a list of values");
    case SHAPE_NUMBER:
    case SHAPE_POSITIVE:
    case SHAPE_COUNT:
        return take_number(s, r);
    case SHAPE_BOOL:
        return r->arg->type == JSON_BOOL || refuse_rule(s, r, "must be true or false");
    case SHAPE_TEXT:
    case SHAPE_PATTERN:
        return take_text(s, r);
    case SHAPE_REF:
        return take_ref(s, r);
    case SHAPE_NAMES:
        return take_names(s, r, r->arg);
    case SHAPE_NAME_LISTS:
        return take_name_lists(s, r);
    case SHAPE_SCHEMA:
        return take_schema(s, r);
    case SHAPE_SCHEMAS:
        return take_list(s, r);
    case SHAPE_ITEMS:
        return r->arg->type == JSON_ARRAY ? take_schemas(s, r) : take_schema(s, r);
    case SHAPE_MAP:
    case SHAPE_DEPENDENCIES:
    case SHAPE_DEFS:
        return take_map(s, r);
    case SHAPE_PATTERNS:
        return take_patterns(s, r);
    case SHAPE_ANY:
    case SHAPE_NOTED:
    default:
        return true;
    }
}

/* --- nodes --- */

static bool is_asked(const struct schema *s, const struct node *n, const struct keyword *k)
{
    if ((k->drafts & s->draft) == 0)
        return false;
    return s->draft != DRAFT_07 || k->shape == SHAPE_REF || value_find(n->src, "$ref") == NULL;
}

static bool compile_node(struct schema *s, struct node *n)
{
    n->is_false = n->src->type == JSON_BOOL && !n->src->truth;
    if (n->src->type == JSON_BOOL)
        return true;
    n->rules = arena_get(&s->arena, (n->src->count + 1) * sizeof(*n->rules));
    for (const struct keyword *k = schema_keywords; k->name != NULL; k++) {
        struct rule *r = &n->rules[n->n];

        if (!is_asked(s, n, k))
            continue;
        *r = (struct rule){.key = k, .arg = value_find(n->src, k->name), .owner = n};
        if (r->arg == NULL)
            continue;
        if (!take(s, r))
            return false;
        n->wants_marks = n->wants_marks || strncmp(k->name, "unevaluated", 11) == 0;
        n->n++;
    }
    return true;
}

static bool compile_all(struct schema *s)
{
    s->root = schema_node(s, s->doc);
    while (s->pending != NULL) {
        struct node *n = s->pending;

        s->pending = n->pending;
        if (!compile_node(s, n))
            return false;
    }
    return true;
}

/* --- the dialect --- */

static bool is_dialect(struct span uri, const char *name)
{
    if (uri.n != 0 && uri.p[uri.n - 1] == '#')
        uri.n--;
    return span_is(uri, name);
}

static bool take_dialect(struct schema *s)
{
    const struct value *v = value_find(s->doc, "$schema");

    s->draft = DRAFT_2020;
    if (v == NULL || v->type != JSON_STRING ||
        is_dialect(v->text, "https://json-schema.org/draft/2020-12/schema"))
        return true;
    s->draft = DRAFT_2019;
    if (is_dialect(v->text, "https://json-schema.org/draft/2019-09/schema"))
        return true;
    s->draft = DRAFT_07;
    if (is_dialect(v->text, "http://json-schema.org/draft-07/schema") ||
        is_dialect(v->text, "https://json-schema.org/draft-07/schema"))
        return true;
    return schema_refuse(s, s->doc, "$schema",
                         "names a dialect that is not supported; there are 2020-12, 2019-09 and "
                         "draft-07 (https://json-schema.org/draft/2020-12/schema)");
}

/* Only {"type":"object"} and annotations. */
static bool is_open(const struct schema *s)
{
    const struct node *n = s->root;

    if (n->is_false)
        return false;
    for (size_t i = 0; i < n->n; i++) {
        const struct rule *r = &n->rules[i];

        if (r->key->check != NULL &&
            !(r->key->shape == SHAPE_TYPES && (r->types >> JSON_OBJECT & 1U) != 0))
            return false;
    }
    return true;
}

struct schema *schema_new(struct span text, struct buf *why)
{
    struct schema *s = mem_zalloc(sizeof(*s));
    const char *reason = NULL;
    struct buf first;
    char *copy;
    bool ok = false;

    buf_init(&first, 2048);
    s->why = &first;
    copy = arena_get(&s->arena, text.n + 1);
    memcpy(copy, text.p, text.n);
    s->doc = value_parse(&s->arena, (struct span){copy, text.n}, SCHEMA_VALUES_MAX, &reason);
    if (s->doc == NULL)
        buf_addf(why, "the schema cannot be read: %s", reason);
    else if (!is_schema(s->doc))
        buf_adds(why, "a schema is an object, true or false");
    else
        ok = take_dialect(s) && schema_index(s) && compile_all(s);
    s->is_open = ok && is_open(s);
    buf_add_span(why, buf_span(&first));
    s->why = NULL;
    buf_fini(&first);
    if (ok)
        return s;
    schema_free(s);
    return NULL;
}

void schema_free(struct schema *s)
{
    if (s == NULL)
        return;
    pattern_free_all(s->all_patterns);
    arena_fini(&s->arena);
    free(s);
}

bool schema_is_open(const struct schema *s)
{
    return s->is_open;
}
