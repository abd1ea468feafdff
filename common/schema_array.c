#include "common/schema_inside.h"

bool check_min_items(struct eval *e, const struct rule *r, const struct value *v,
                     unsigned char *marks)
{
    (void)marks;
    return (double)v->count >= r->arg->number || eval_fail(e, r, v);
}

bool check_max_items(struct eval *e, const struct rule *r, const struct value *v,
                     unsigned char *marks)
{
    (void)marks;
    return (double)v->count <= r->arg->number || eval_fail(e, r, v);
}

bool check_unique(struct eval *e, const struct rule *r, const struct value *v, unsigned char *marks)
{
    const struct value *twice;

    (void)marks;
    if (!r->arg->truth)
        return true;
    twice = value_twice(v, &e->steps, e->steps_max);
    return twice == NULL || eval_fail(e, r, twice);
}

static void mark(unsigned char *marks, const struct value *child)
{
    if (marks != NULL)
        marks[child->place] = 1;
}

/* A schema for each of the first elements. */
bool check_prefix(struct eval *e, const struct rule *r, const struct value *v, unsigned char *marks)
{
    const struct value *c = v->first;

    for (size_t i = 0; i < r->arg->count && c != NULL; i++, c = c->next) {
        if (!node_fits(e, r->nodes[i], c, NULL))
            return false;
        mark(marks, c);
    }
    return true;
}

static bool each_from(struct eval *e, const struct rule *r, const struct value *c,
                      unsigned char *marks)
{
    for (; c != NULL; c = c->next) {
        if (r->node->is_false)
            return eval_fail(e, r, c);
        if (!node_fits(e, r->node, c, NULL))
            return false;
        mark(marks, c);
    }
    return true;
}

/* "items" before 2020-12: one schema for all elements, or one for each of the first. */
bool check_items(struct eval *e, const struct rule *r, const struct value *v, unsigned char *marks)
{
    return r->node != NULL ? each_from(e, r, v->first, marks) : check_prefix(e, r, v, marks);
}

/* The elements after those that prefixItems, or a list in "items", has schemas for. */
bool check_rest(struct eval *e, const struct rule *r, const struct value *v, unsigned char *marks)
{
    const bool is_items = r->key->name[0] == 'i';
    const struct rule *before = rule_beside(r, is_items ? "prefixItems" : "items");

    if (!is_items && (before == NULL || before->node != NULL))
        return true; /* additionalItems counts only beside a list */
    return each_from(e, r, value_at(v, before != NULL ? before->arg->count : 0), marks);
}

static double limit_of(const struct rule *r, const char *name, double otherwise)
{
    const struct rule *beside = rule_beside(r, name);

    return beside != NULL ? beside->arg->number : otherwise;
}

bool check_contains(struct eval *e, const struct rule *r, const struct value *v,
                    unsigned char *marks)
{
    const double least = limit_of(r, "minContains", 1);
    const double most = limit_of(r, "maxContains", (double)v->count);
    size_t n = 0;

    for (const struct value *c = v->first; c != NULL; c = c->next) {
        if (!node_fits(e, r->node, c, NULL))
            continue;
        n++;
        if (e->draft == DRAFT_2020) /* only there is such an element evaluated */
            mark(marks, c);
    }
    if ((double)n >= least && (double)n <= most)
        return true;
    (void)eval_fail(e, r, v);
    e->fail.n = n;
    return false;
}

bool check_unevaluated_items(struct eval *e, const struct rule *r, const struct value *v,
                             unsigned char *marks)
{
    for (const struct value *c = v->first; c != NULL; c = c->next) {
        if (marks == NULL || marks[c->place] != 0)
            continue;
        if (r->node->is_false)
            return eval_fail(e, r, c);
        if (!node_fits(e, r->node, c, NULL))
            return false;
        marks[c->place] = 1;
    }
    return true;
}
