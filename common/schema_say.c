#include "common/schema_inside.h"

#include <assert.h>
#include <string.h>

enum { SHOWN_MAX = 60, LIST_MAX = 400, PATH_MAX_BYTES = 400 };

/* --- pieces --- */

static void add_step(struct buf *out, const struct value *v)
{
    if (v->name.p == NULL) {
        buf_addf(out, "/%u", v->place);
        return;
    }
    buf_addc(out, '/');
    for (size_t i = 0; i < v->name.n && out->n < PATH_MAX_BYTES; i++) {
        if (v->name.p[i] == '~' || v->name.p[i] == '/')
            buf_adds(out, v->name.p[i] == '~' ? "~0" : "~1");
        else
            buf_addc(out, v->name.p[i]);
    }
}

static void add_steps(struct buf *out, const struct value *v)
{
    if (v->up == NULL)
        return;
    add_steps(out, v->up);
    if (!v->is_name)
        add_step(out, v);
}

/* A JSON pointer as a JSON string, so that no name can look like more than a name. */
static void add_pointer(struct buf *out, const struct value *v, const struct value *missing)
{
    struct buf path;

    buf_init(&path, 4096);
    add_steps(&path, v);
    if (missing != NULL) {
        struct value name = {.name = missing->text};

        add_step(&path, &name);
    }
    buf_add_json(out, path.n != 0 ? buf_span(&path) : (struct span){"", 0});
    buf_fini(&path);
}

void schema_add_path(struct buf *out, const struct value *v)
{
    add_pointer(out, v, NULL);
}

static void add_subject(struct buf *out, const struct value *v)
{
    if (v->is_name) {
        buf_adds(out, "the name ");
        buf_add_json(out, v->name);
        buf_adds(out, v->up->up != NULL ? " in " : "");
        if (v->up->up != NULL)
            add_pointer(out, v->up, NULL);
    } else if (v->up == NULL) {
        buf_adds(out, "the whole");
    } else {
        add_pointer(out, v, NULL);
    }
}

/* Not more than max bytes of it, whole characters. */
static void add_cut(struct buf *out, struct span raw, size_t max)
{
    size_t n = raw.n < max ? raw.n : max;

    while (n < raw.n && n > 0 && ((unsigned char)raw.p[n] & 0xc0U) == 0x80U)
        n--;
    buf_add(out, raw.p, n);
    if (n < raw.n)
        buf_adds(out, "...");
}

static void add_found(struct buf *out, const struct value *v)
{
    static const char *const kinds[] = {
        [JSON_STRING] = "the string ", [JSON_NUMBER] = "the number "};

    if (v->type == JSON_ARRAY) {
        buf_addf(out, "a list of %zu", v->count);
    } else if (v->type == JSON_OBJECT) {
        buf_addf(out, "an object of %zu", v->count);
    } else if (v->is_name) {
        buf_adds(out, "that");
    } else {
        buf_adds(out, v->type == JSON_STRING || v->type == JSON_NUMBER ? kinds[v->type] : "");
        add_cut(out, v->raw, SHOWN_MAX);
    }
}

/* "a, b or c" */
static void add_list(struct buf *out, const struct value *list, const char *last)
{
    const size_t from = out->n;

    for (const struct value *v = list->first; v != NULL; v = v->next) {
        if (out->n - from > LIST_MAX) {
            buf_addf(out, ", ... (%zu in all)", list->count);
            return;
        }
        if (v->place != 0)
            buf_adds(out, v->next == NULL ? last : ", ");
        if (list->type == JSON_OBJECT)
            buf_add_json(out, v->name);
        else
            add_cut(out, v->raw, SHOWN_MAX);
    }
}

static void add_types(struct buf *out, const struct rule *r)
{
    static const char *const names[] = {"an integer", "null",   "a boolean", "a number",
                                        "a string",   "a list", "an object"};
    unsigned left = r->types;

    buf_adds(out, "be ");
    for (unsigned i = 0; i < 7; i++) {
        if ((r->types >> i & 1U) == 0)
            continue;
        left &= ~(1U << i);
        buf_adds(out, names[i]);
        if (left != 0)
            buf_adds(out, (left & (left - 1)) == 0 ? " or " : ", ");
    }
}

/* --- what is expected --- */

struct phrase {
    check_fn *check;
    const char *before;
    const char *after; /* the keyword's value stands between them */
};

static const struct phrase phrases[] = {
    {check_const, "be ", ""},
    {check_multiple, "be a multiple of ", ""},
    {check_minimum, "be at least ", ""},
    {check_maximum, "be at most ", ""},
    {check_above, "be more than ", ""},
    {check_below, "be less than ", ""},
    {check_min_length, "have at least ", " characters"},
    {check_max_length, "have at most ", " characters"},
    {check_pattern, "match the pattern ", ""},
    {check_min_members, "have at least ", " members"},
    {check_max_members, "have at most ", " members"},
    {check_min_items, "have at least ", " items"},
    {check_max_items, "have at most ", " items"},
    {check_not, "not fit ", ""},
};

static void add_expected(struct buf *out, const struct rule *r)
{
    if (r->key->check == check_type) {
        add_types(out, r);
    } else if (r->key->check == check_enum) {
        buf_adds(out, r->arg->count > 1 ? "be one of " : "be ");
        add_list(out, r->arg, " or ");
    } else {
        for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
            if (phrases[i].check != r->key->check)
                continue;
            buf_adds(out, phrases[i].before);
            add_cut(out, r->arg->raw, LIST_MAX);
            buf_adds(out, phrases[i].after);
            return;
        }
    }
}

/* --- sentences --- */

static void say_missing(struct buf *out, const struct failure *f)
{
    add_pointer(out, f->at, f->name);
    buf_adds(out, " is missing");
    assert(f->rule != NULL);
    if (f->rule->key->check == check_required)
        return;
    buf_adds(out, ", which is required because of ");
    buf_add_json(out, f->name->up->name);
}

static void say_unknown(struct buf *out, const struct failure *f)
{
    const struct rule *known = f->rule != NULL ? rule_beside(f->rule, "properties") : NULL;

    add_subject(out, f->at);
    buf_adds(out, " is not allowed");
    if (known != NULL && known->arg->count != 0 && f->at->name.p != NULL) {
        buf_adds(out, "; there is ");
        add_list(out, known->arg, " and ");
    }
}

/* None of several fitted: what each of them lacks. */
static void say_none(struct eval *e, struct buf *out, const struct failure *f, bool deeper)
{
    const struct failure whole = *f;

    add_subject(out, whole.at);
    buf_addf(out, " fits none of %zu alternatives", whole.rule->arg->count);
    for (size_t i = 0; deeper && i < whole.rule->arg->count && i < 5; i++) {
        struct buf one;

        if (node_fits(e, whole.rule->nodes[i], whole.at, NULL) || e->stop != NULL)
            continue;
        buf_init(&one, 8192);
        if (e->fail.rule != NULL && (e->fail.rule->key->check == check_any ||
                                     (e->fail.rule->key->check == check_one && e->fail.n == 0))) {
            struct failure inner = e->fail;

            say_none(e, &one, &inner, false);
        } else {
            schema_say(e, &e->fail, &one);
        }
        buf_adds(out, i == 0 ? ": " : "; or: ");
        buf_add_span(out, buf_span(&one));
        buf_fini(&one);
    }
}

static void say_contains(struct buf *out, const struct failure *f)
{
    const struct rule *least = rule_beside(f->rule, "minContains");
    const struct rule *most = rule_beside(f->rule, "maxContains");

    add_subject(out, f->at);
    buf_adds(out, " must have ");
    if (most != NULL && (double)f->n > most->arg->number)
        buf_addf(out, "at most %.0f", most->arg->number);
    else
        buf_addf(out, "at least %.0f", least != NULL ? least->arg->number : 1);
    buf_adds(out, " items that fit ");
    add_cut(out, f->rule->arg->raw, LIST_MAX);
    buf_addf(out, ", but has %zu", f->n);
}

static bool is_about_extra(const struct rule *r)
{
    check_fn *c = r->key->check;

    return c == check_additional || c == check_rest || c == check_items ||
           c == check_unevaluated_members || c == check_unevaluated_items;
}

void schema_say(struct eval *e, const struct failure *f, struct buf *out)
{
    check_fn *c = f->rule != NULL ? f->rule->key->check : NULL;

    if (f->name != NULL) {
        say_missing(out, f);
    } else if (f->rule == NULL || is_about_extra(f->rule)) {
        say_unknown(out, f);
    } else if (c == check_any || (c == check_one && f->n == 0)) {
        say_none(e, out, f, true);
    } else if (c == check_one) {
        add_subject(out, f->at);
        buf_addf(out, " must fit exactly one of %zu alternatives, but fits %zu",
                 f->rule->arg->count, f->n);
    } else if (c == check_contains) {
        say_contains(out, f);
    } else if (c == check_unique) {
        add_subject(out, f->at);
        buf_adds(out, " is there twice: ");
        add_cut(out, f->at->raw, SHOWN_MAX);
    } else {
        add_subject(out, f->at);
        buf_adds(out, " must ");
        add_expected(out, f->rule);
        buf_adds(out, ", but is ");
        add_found(out, f->at);
    }
}
