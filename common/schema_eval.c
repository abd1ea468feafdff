#include "common/schema_inside.h"

#include "common/mem.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum {
    VALUES_MAX = 500000,
    STEPS_MAX = 1000000, /* and STEPS_EACH for each byte of the text */
    STEPS_EACH = 2,
    DEPTH_MAX = 1000,
    MATCH_MAX_US = 100000,
};

bool eval_fail(struct eval *e, const struct rule *r, const struct value *v)
{
    e->fail = (struct failure){.at = v, .rule = r};
    return false;
}

bool eval_stop(struct eval *e, const char *why)
{
    if (e->stop == NULL)
        e->stop = why;
    return false;
}

/* --- a schema --- */

static bool run_rules(struct eval *e, const struct node *n, const struct value *v,
                      unsigned char *marks)
{
    const unsigned type = 1U << v->type;

    for (size_t i = 0; i < n->n; i++) {
        const struct rule *r = &n->rules[i];

        if (r->key->check == NULL || (r->key->on != ON_ANY && (r->key->on & type) == 0))
            continue;
        if (!r->key->check(e, r, v, marks))
            return false;
    }
    return true;
}

/* The rules mark what they evaluate; the marks of a schema that fits count for whom it is part of.
 */
static bool run_marking(struct eval *e, const struct node *n, const struct value *v,
                        unsigned char *marks)
{
    unsigned char *own = mem_zalloc(v->count + 1);
    bool fits;

    e->steps += v->count / 32;
    fits = run_rules(e, n, v, own);
    for (size_t i = 0; fits && marks != NULL && i < v->count; i++)
        marks[i] |= own[i];
    free(own);
    return fits;
}

bool node_fits(struct eval *e, const struct node *n, const struct value *v, unsigned char *marks)
{
    bool fits;

    if (e->stop != NULL)
        return false;
    if (++e->steps > e->steps_max)
        return eval_stop(e, "it takes too many steps");
    if (n->is_false)
        return eval_fail(e, NULL, v);
    if (n->n == 0)
        return true;
    if (++e->depth > DEPTH_MAX)
        return eval_stop(e, "the schema goes round in circles, or too deep");
    if (v->count != 0 && (marks != NULL || n->wants_marks))
        fits = run_marking(e, n, v, marks);
    else
        fits = run_rules(e, n, v, NULL);
    e->depth--;
    return fits && e->stop == NULL;
}

bool schema_check(const struct schema *s, struct span instance, struct buf *why)
{
    struct eval e = {.draft = s->draft,
                     .steps_max = STEPS_MAX + instance.n * STEPS_EACH,
                     .match_us = MATCH_MAX_US};
    const struct value *v = value_parse(&e.arena, instance, VALUES_MAX, &e.stop);
    bool fits = v != NULL && node_fits(&e, s->root, v, NULL);

    if (!fits && e.stop == NULL)
        schema_say(&e, &e.fail, why);
    else if (!fits)
        buf_addf(why, "it cannot be checked: %s", e.stop);
    arena_fini(&e.arena);
    return fits;
}

/* --- any value --- */

bool check_type(struct eval *e, const struct rule *r, const struct value *v, unsigned char *marks)
{
    (void)marks;
    if ((r->types >> v->type & 1U) != 0 || (v->is_integer && (r->types & 1U) != 0))
        return true;
    return eval_fail(e, r, v);
}

bool check_enum(struct eval *e, const struct rule *r, const struct value *v, unsigned char *marks)
{
    (void)marks;
    for (const struct value *x = r->arg->first; x != NULL; x = x->next)
        if (value_equal(x, v, &e->steps))
            return true;
    return eval_fail(e, r, v);
}

bool check_const(struct eval *e, const struct rule *r, const struct value *v, unsigned char *marks)
{
    (void)marks;
    return value_equal(r->arg, v, &e->steps) || eval_fail(e, r, v);
}

/* --- numbers --- */

/* Decimal fractions are not exact: 19.99 is a multiple of 0.01. */
static bool is_multiple(const struct value *v, const struct value *of)
{
    double q;

    if (v->is_exact && of->is_exact)
        return v->whole % of->whole == 0;
    q = v->number / of->number;
    return isfinite(q) && fabs(q - rint(q)) <= 4 * DBL_EPSILON * fabs(q);
}

bool check_multiple(struct eval *e, const struct rule *r, const struct value *v,
                    unsigned char *marks)
{
    (void)marks;
    return is_multiple(v, r->arg) || eval_fail(e, r, v);
}

bool check_minimum(struct eval *e, const struct rule *r, const struct value *v,
                   unsigned char *marks)
{
    (void)marks;
    return value_compare_numbers(v, r->arg) >= 0 || eval_fail(e, r, v);
}

bool check_maximum(struct eval *e, const struct rule *r, const struct value *v,
                   unsigned char *marks)
{
    (void)marks;
    return value_compare_numbers(v, r->arg) <= 0 || eval_fail(e, r, v);
}

bool check_above(struct eval *e, const struct rule *r, const struct value *v, unsigned char *marks)
{
    (void)marks;
    return value_compare_numbers(v, r->arg) > 0 || eval_fail(e, r, v);
}

bool check_below(struct eval *e, const struct rule *r, const struct value *v, unsigned char *marks)
{
    (void)marks;
    return value_compare_numbers(v, r->arg) < 0 || eval_fail(e, r, v);
}

/* --- strings --- */

static double length_of(struct eval *e, const struct value *v)
{
    e->steps += v->text.n / 16;
    return (double)value_length(v);
}

bool check_min_length(struct eval *e, const struct rule *r, const struct value *v,
                      unsigned char *marks)
{
    (void)marks;
    return length_of(e, v) >= r->arg->number || eval_fail(e, r, v);
}

bool check_max_length(struct eval *e, const struct rule *r, const struct value *v,
                      unsigned char *marks)
{
    (void)marks;
    return length_of(e, v) <= r->arg->number || eval_fail(e, r, v);
}

bool check_pattern(struct eval *e, const struct rule *r, const struct value *v,
                   unsigned char *marks)
{
    enum matched m = pattern_match(r->patterns[0], v->text, &e->match_us);

    (void)marks;
    e->steps += v->text.n / 16;
    if (m == MATCH_LIMIT)
        return eval_stop(e, "a pattern takes too long");
    return m == MATCH_YES || eval_fail(e, r, v);
}
